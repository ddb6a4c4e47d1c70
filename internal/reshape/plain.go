package reshape

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// longestName is how many characters the interfaces of models take in the name of a parameter.
const longestName = 64

// Plain gives a tool's definition as the interfaces of models take it, which refuse all tools of a request for one of
// them. The input schema is one of JSON Schema 2020-12, see latest. The names of parameters have at most 64 characters of
// [A-Za-z0-9_.-]: one such as "filter[id]" or "StartTime<" is replaced. The description of a renamed parameter says what
// its server calls it, and calls may use either name. was is what becomes of the tool's arguments already. What needs no
// change comes back as it is. In a schema of more than room bytes that is made of others, see Merged, only the names of its
// own parameters are looked at.
func Plain(raw []byte, was *Arguments, room int) ([]byte, *Arguments) {
	schema := at(raw, wire.Whole(raw), "inputSchema")
	if !schema.Present() || raw[schema.Start] != '{' {
		return raw, was
	}
	now := latest(raw, schema)
	if whole := wire.Whole(now); len(now) <= room && IsComposed(now, whole) {
		// A parameter has one name in all that holds for it.
		if one := merged(now, whole); slices.ContainsFunc(parameters(one, wire.Whole(one)), func(name string) bool { return !isPlain(name) }) {
			now = one
		}
	}
	names := parameters(now, wire.Whole(now))
	used, shown := make(map[string]bool, len(names)), make(map[string]string)
	for _, name := range names {
		used[name] = true
	}
	for _, name := range names {
		if shown[name] != "" || isPlain(name) {
			continue
		}
		as := plain(name)
		for n := 2; used[as]; n++ {
			as = fmt.Sprintf("%s_%d", plain(name), n)
		}
		used[as], shown[name] = true, as
	}
	if len(shown) == 0 {
		if now = resolved(now, nil); bytes.Equal(now, raw[schema.Start:schema.End]) {
			return raw, was
		}
		return wire.Splice(nil, raw, wire.Edit{Span: schema, New: now}), was
	}
	a := &Arguments{own: make(map[string]string, len(shown))}
	if was != nil {
		a.defaults, a.hidden, a.shown = was.defaults, was.hidden, was.shown
	}
	for own, as := range shown {
		a.own[as] = own
	}
	now = resolved(renaming(shown).schema(now, wire.Whole(now), true), shown)
	return wire.Splice(nil, raw, wire.Edit{Span: schema, New: now}), a
}

// Shown gives arguments, a JSON object, by the names that a schema has after Plain: those that are given by the server's
// own names and would get these in their place.
func Shown(schema, arguments []byte) []byte {
	names := parameters(schema, wire.Whole(schema))
	var edits []wire.Edit
	for key := range wire.Members(arguments, wire.Whole(arguments)) {
		name, _ := wire.Unquote(arguments[key.Start:key.End])
		if as := plain(name); !isPlain(name) && !slices.Contains(names, name) && slices.Contains(names, as) {
			edits = append(edits, wire.Edit{Span: key, New: wire.AppendQuote(nil, as)})
		}
	}
	if edits == nil {
		return arguments
	}
	return wire.Splice(nil, arguments, edits...)
}

func isPlain(name string) bool {
	return name != "" && len(name) <= longestName && plainRunes(name) == name
}

// plain is a name for a parameter whose own is not plain, with room for a number behind it.
func plain(name string) string {
	name = plainRunes(name)
	if name == "" {
		return "argument"
	}
	return name[:min(len(name), longestName-4)]
}

// plainRunes gives a name without the characters that are not taken, which leave one "_" between those that are.
func plainRunes(name string) string {
	var out strings.Builder
	gap := false
	put := func(s string) {
		if gap && out.Len() > 0 {
			out.WriteByte('_')
		}
		gap = false
		out.WriteString(s)
	}
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == '-':
			put(string(r))
		case r == '<' || r == '>': // the only thing by which some names differ
			gap = true
			put(map[rune]string{'<': "lt", '>': "gt"}[r])
			gap = true
		default:
			gap = true
		}
	}
	return out.String()
}

// renaming gives parameters, by the name that their server has for them, other names.
type renaming map[string]string

// token gives the name of a parameter that stands at in as it is shown.
func (r renaming) token(raw []byte, in wire.Span) []byte {
	name, _ := wire.Unquote(raw[in.Start:in.End])
	if as := r[name]; as != "" {
		return wire.AppendQuote(nil, as)
	}
	return raw[in.Start:in.End]
}

// schema gives the schema of the arguments, or of a part of what holds for them, with the names that are shown.
func (r renaming) schema(raw []byte, in wire.Span, explained bool) []byte {
	if raw[in.Start] != '{' {
		return raw[in.Start:in.End]
	}
	part := func(raw []byte, in wire.Span) []byte { return r.schema(raw, in, false) }
	out := []byte{'{'}
	for key, val := range wire.Members(raw, in) {
		value := raw[val.Start:val.End]
		switch name, _ := wire.Unquote(raw[key.Start:key.End]); name {
		case "properties":
			value = r.object(raw, val, func(raw []byte, in wire.Span) []byte { return raw[in.Start:in.End] }, explained)
		case "required":
			value = elements(raw, val, r.token)
		case "dependentRequired", "dependentSchemas", "dependencies":
			value = r.object(raw, val, func(raw []byte, in wire.Span) []byte {
				if raw[in.Start] == '[' {
					return elements(raw, in, r.token)
				}
				return part(raw, in)
			}, false)
		}
		out = wire.AppendMember(out, raw[key.Start:key.End], value)
	}
	return append(out, '}')
}

// object gives an object whose members are called like parameters.
func (r renaming) object(raw []byte, in wire.Span, value func([]byte, wire.Span) []byte, explained bool) []byte {
	if raw[in.Start] != '{' {
		return raw[in.Start:in.End]
	}
	out := []byte{'{'}
	for key, val := range wire.Members(raw, in) {
		member := value(raw, val)
		own, _ := wire.Unquote(raw[key.Start:key.End])
		if explained && r[own] != "" {
			member = explain(member, own)
		}
		out = wire.AppendMember(out, r.token(raw, key), member)
	}
	return append(out, '}')
}

// explain says in the schema of a parameter what its server calls it.
func explain(schema []byte, own string) []byte {
	if schema[0] != '{' {
		return schema
	}
	whole := wire.Whole(schema)
	described := at(schema, whole, "description")
	said, _ := wire.Unquote(member(schema, whole, "description"))
	note := fmt.Sprintf("(the server's name for it: %s)", foreign.NewName(own))
	said = strings.TrimLeft(said+" "+note, " ")
	if described.Present() {
		return wire.Splice(nil, schema, wire.Edit{Span: described, New: wire.AppendQuote(nil, said)})
	}
	head := wire.AppendMember([]byte{'{'}, []byte(`"description"`), wire.AppendQuote(nil, said))
	for key, val := range wire.Members(schema, whole) {
		head = wire.AppendMember(head, schema[key.Start:key.End], schema[val.Start:val.End])
	}
	return append(head, '}')
}

// elements gives an array of what becomes of its elements.
func elements(raw []byte, in wire.Span, of func([]byte, wire.Span) []byte) []byte {
	if raw[in.Start] != '[' {
		return raw[in.Start:in.End]
	}
	out := []byte{'['}
	for e := range wire.Elements(raw, in) {
		out = append(wire.Comma(out), of(raw, e)...)
	}
	return append(out, ']')
}
