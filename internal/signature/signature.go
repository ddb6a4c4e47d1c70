// Package signature words a tool in a line that a model can call it by:
//
//	search_files(path: string, pattern: string, excludePatterns?: string[]) – Search for files
//
// Schemas and descriptions come from servers and are not trusted: whatever they are, what is made of them is bounded,
// in one line, and free of control, bidirectional and zero-width characters. All functions are pure.
package signature

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Bounds of what is written, in bytes.
const (
	maxLine    = 480 // the parameters of a tool
	maxType    = 120 // the type of one parameter
	maxName    = 128 // the name of a tool or a parameter
	maxValue   = 40  // one value of an enumeration
	maxDefault = 24  // a default value
	minType    = 8   // less room than that is not begun with
)

// more stands for what does not fit.
const more = "…"

// Of gives the parameters of a tool from its input schema, in parentheses: first those that a call must have, then the
// others with a question mark, each with its type and a short default value. The schema is JSON, as [wire.Scan] accepts
// it; of other bytes Of promises no more than of foreign schemas.
func Of(schema []byte) string {
	r := newReader(schema, dialect{others: more, rest: more, elements: more, key: "[key]"})
	if len(schema) > maxSchema {
		return "(" + more + ")"
	}
	n := r.node(wire.Whole(schema))
	if fields := r.fields(n); len(fields) > 0 {
		return "(" + r.list(fields, 0, maxLine) + ")"
	}
	if t, _ := r.typ(n, 0, maxLine); t != "object" && t != "any" {
		return "(" + t + ")"
	}
	return "()"
}

// list words the members of an object, or the parameters of a tool.
func (r *reader) list(fields []field, depth, room int) string {
	var b strings.Builder
	for _, f := range fields {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		text := r.named(f.name)
		if !f.required {
			text += "?"
		}
		rest := room - b.Len() - len(text) - len(": , ") - len(r.others)
		if rest < minType {
			b.WriteString(r.others)
			break
		}
		n := r.node(f.schema)
		t, _ := r.typ(n, depth, min(rest, maxType))
		b.WriteString(text + ": " + t)
		if d := r.value(n.fallback); !r.script && !f.required && d != "" && d != "null" && len(d) <= min(maxDefault, rest-len(t)-len(" = ")) {
			b.WriteString(" = " + d)
		}
	}
	return b.String()
}

// typ words the type that a schema describes within room bytes, or little more where room is hardly any; several says
// that it is a choice, which is put in parentheses before "[]".
func (r *reader) typ(n node, depth, room int) (text string, several bool) {
	switch {
	case depth > maxDepth || room < minType || !r.charge(n.typ):
		return r.bare(n), false
	case n.constant.Present():
		return r.choice(slices.Values([]wire.Span{n.constant}), room)
	case n.enum.Present():
		return r.choice(wire.Elements(r.raw, n.enum), room)
	case n.anyOf.Present():
		return r.union(n.anyOf, depth, room)
	case n.oneOf.Present():
		return r.union(n.oneOf, depth, room)
	case r.first(n.typ) == '[':
		var words []string
		for e := range wire.Elements(r.raw, n.typ) {
			n.typ = e
			t, _ := r.typ(n, depth+1, room)
			words = append(words, t)
		}
		return r.join(words, room)
	case n.ref.Present() && !n.properties.Present():
		to, ok := r.follow(n.ref)
		if !ok {
			return "any", false
		}
		defer r.leave()
		return r.typ(to, depth+1, room)
	}
	switch r.bare(n) {
	case "array", "any[]":
		return r.array(n, depth, room), false
	case "object", "any":
		if fields := r.fields(n); len(fields) > 0 {
			return "{" + r.list(fields, depth+1, room-2) + "}", false
		}
		if r.first(n.additional) == '{' {
			if t, _ := r.typ(r.node(n.additional), depth+1, room-len("{: }")-len(r.key)); t != "any" {
				return "{" + r.key + ": " + t + "}", false
			}
		}
		// A schema that is all of others, of which none is an object, is taken for the first of them.
		for e := range wire.Elements(r.raw, n.allOf) {
			return r.typ(r.node(e), depth+1, room)
		}
	}
	return r.bare(n), false
}

func (r *reader) array(n node, depth, room int) string {
	if r.first(n.prefix) == '[' {
		var words []string
		for e := range wire.Elements(r.raw, n.prefix) {
			rest := room - len(strings.Join(words, ", ")) - len("[, ]") - len(more)
			if rest < minType {
				words = append(words, r.elements)
				break
			}
			t, _ := r.typ(r.node(e), depth+1, rest)
			words = append(words, t)
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
	if !n.items.Present() {
		return "any[]"
	}
	t, several := r.typ(r.node(n.items), depth+1, room-len("()[]"))
	if several {
		t = "(" + t + ")"
	}
	return t + "[]"
}

// union words a choice between schemas.
func (r *reader) union(of wire.Span, depth, room int) (string, bool) {
	var words []string
	rest := room
	for e := range wire.Elements(r.raw, of) {
		if rest < minType {
			words = append(words, r.rest)
			break
		}
		t, _ := r.typ(r.node(e), depth+1, rest)
		rest -= len(t) + 1
		words = append(words, t)
	}
	return r.join(words, room)
}

// choice words a choice between values.
func (r *reader) choice(values func(func(wire.Span) bool), room int) (string, bool) {
	var words []string
	length := 0
	for v := range values {
		word := cmp.Or(r.value(v), "any")
		if length += len(word) + 1; length > room {
			words = append(words, r.rest)
			break
		}
		words = append(words, word)
	}
	return r.join(words, room)
}

// join makes a choice of words, each of which stands there once.
func (r *reader) join(words []string, room int) (string, bool) {
	var once []string
	length := 0
	for _, w := range words {
		if slices.Contains(once, w) {
			continue
		}
		if length += len(w) + 1; length > room+len(more) && len(once) > 0 {
			once = append(once, r.rest)
			break
		}
		once = append(once, w)
	}
	if once == nil {
		return "any", false
	}
	return strings.Join(once, "|"), len(once) > 1
}

// bare is the type of a schema without what is inside it.
func (r *reader) bare(n node) string {
	known := []string{"string", "integer", "number", "boolean", "object", "array", "null"}
	t, _ := wire.Unquote(r.raw[n.typ.Start:n.typ.End])
	switch {
	case slices.Contains(known, t):
		return r.plain(t)
	case n.properties.Present() || n.additional.Present():
		return "object"
	case n.items.Present() || n.prefix.Present():
		return r.plain("array")
	}
	return "any"
}
