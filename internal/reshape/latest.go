package reshape

import (
	"bytes"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// latest gives the schema at in as one that JSON Schema 2020-12 knows, and that says what the elements of its arrays are:
// interfaces of models refuse all tools of a request for one schema that is otherwise. What older drafts wrote in another
// way is written in the new one, and a member that no draft has so is left out. A schema that is well keeps its bytes.
func latest(raw []byte, in wire.Span) []byte {
	var w rewriter
	out := w.schema(raw, in)
	if w.older && !strings.Contains(string(member(out, wire.Whole(out), "$schema")), "2020-12") {
		out = without(out, "$schema") // which it is no longer of
	}
	return out
}

// take gives what becomes of a value, nil for one that is left out.
type take func(w *rewriter, raw []byte, in wire.Span) []byte

// rewriter writes schemas anew and notes what it met.
type rewriter struct {
	older bool // there was something that an older draft writes in another way
	// root, if it is not nil, is the schema that references lead into, where parameters have the names in place of their
	// own.
	root  []byte
	names renaming
	refs  map[string][]byte // what became of references
	work  int               // how many more bytes are read to follow them
}

// draft has what becomes of the members of a schema. One that is not in it may be anything.
var draft map[string]take

func init() { // schemas have schemas in them
	one, some, named := (*rewriter).schema, (*rewriter).some, (*rewriter).named
	text, flag, digits := first(`"`), first("tf"), first(number)
	draft = map[string]take{
		"properties": named, "patternProperties": named, "$defs": named, "definitions": named, "dependentSchemas": named,
		"dependencies": (*rewriter).dependencies, "dependentRequired": dependent,
		"items": one, "additionalProperties": one, "unevaluatedItems": one, "unevaluatedProperties": one, "contains": one,
		"propertyNames": one, "contentSchema": one, "not": one, "if": one, "then": one, "else": one,
		"allOf": some, "anyOf": some, "oneOf": some, "prefixItems": some,
		"type": kinds, "required": words, "enum": first("["), "examples": first("["),
		"minimum": digits, "maximum": digits, "exclusiveMinimum": digits, "exclusiveMaximum": digits, "multipleOf": positive,
		"minLength": count, "maxLength": count, "minItems": count, "maxItems": count, "minProperties": count, "maxProperties": count,
		"minContains": count, "maxContains": count,
		"title": text, "description": text, "$comment": text, "$ref": reference, "$schema": text, "$dynamicRef": text, "pattern": text,
		"format": text, "contentEncoding": text, "contentMediaType": text, "$id": fits(id), "$anchor": fits(anchor),
		"$dynamicAnchor": fits(anchor),
		"uniqueItems":    flag, "readOnly": flag, "writeOnly": flag, "deprecated": flag,
	}
}

const number = "-0123456789"

// first takes a value that begins with one of these characters.
func first(of string) take {
	return func(_ *rewriter, raw []byte, in wire.Span) []byte {
		if strings.IndexByte(of, raw[in.Start]) < 0 {
			return nil
		}
		return raw[in.Start:in.End]
	}
}

// id and anchor are the forms of the names of schemas.
var (
	id     = regexp.MustCompile(`^[^#]*#?$`)
	anchor = regexp.MustCompile(`^[A-Za-z_][-A-Za-z0-9._]*$`)
)

// fits takes a text of this form.
func fits(form *regexp.Regexp) take {
	return func(_ *rewriter, raw []byte, in wire.Span) []byte {
		if text, ok := wire.Unquote(raw[in.Start:in.End]); !ok || !form.MatchString(text) {
			return nil
		}
		return raw[in.Start:in.End]
	}
}

// count takes a whole number that is not negative, positive any that is more than 0.
func count(_ *rewriter, raw []byte, in wire.Span) []byte {
	n, err := strconv.ParseFloat(string(raw[in.Start:in.End]), 64)
	if err != nil || n < 0 || n != math.Trunc(n) {
		return nil
	}
	return raw[in.Start:in.End]
}

func positive(_ *rewriter, raw []byte, in wire.Span) []byte {
	if n, err := strconv.ParseFloat(string(raw[in.Start:in.End]), 64); err != nil || n <= 0 {
		return nil
	}
	return raw[in.Start:in.End]
}

// words takes an array of different texts, if only an empty one.
func words(w *rewriter, raw []byte, in wire.Span) []byte {
	text := different(first(`"`))
	return wire.MapElements(raw, in, func(e wire.Span) []byte { return text(w, raw, e) })
}

// different takes each text once.
func different(of take) take {
	seen := make(map[string]bool)
	return func(w *rewriter, raw []byte, in wire.Span) []byte {
		value := of(w, raw, in)
		text, _ := wire.Unquote(value)
		if value == nil || seen[text] {
			return nil
		}
		seen[text] = true
		return value
	}
}

// dependent takes an object of such arrays.
func dependent(w *rewriter, raw []byte, in wire.Span) []byte { return w.members(raw, in, words) }

// dependencies takes what has been divided into dependentRequired and dependentSchemas.
func (w *rewriter) dependencies(raw []byte, in wire.Span) []byte {
	return w.members(raw, in, func(w *rewriter, raw []byte, in wire.Span) []byte {
		if raw[in.Start] == '[' {
			return words(w, raw, in)
		}
		return w.schema(raw, in)
	})
}

// kinds takes a type, or an array of several.
func kinds(w *rewriter, raw []byte, in wire.Span) []byte {
	kind := func(_ *rewriter, raw []byte, in wire.Span) []byte {
		if name, _ := wire.Unquote(raw[in.Start:in.End]); !slices.Contains([]string{"array", "boolean", "integer", "null", "number", "object", "string"}, name) {
			return nil
		}
		return raw[in.Start:in.End]
	}
	if raw[in.Start] == '[' {
		return w.list(raw, in, different(kind))
	}
	return kind(w, raw, in)
}

// some takes an array of schemas, at least one.
func (w *rewriter) some(raw []byte, in wire.Span) []byte { return w.list(raw, in, (*rewriter).schema) }

// list takes an array of what is well in it, at least one.
func (w *rewriter) list(raw []byte, in wire.Span, of take) []byte {
	out := wire.MapElements(raw, in, func(e wire.Span) []byte { return of(w, raw, e) })
	for range wire.Elements(out, wire.Whole(out)) {
		return out
	}
	return nil
}

// named takes an object of schemas.
func (w *rewriter) named(raw []byte, in wire.Span) []byte {
	return w.members(raw, in, func(w *rewriter, raw []byte, in wire.Span) []byte {
		if value := w.schema(raw, in); value != nil {
			return value
		}
		return []byte("{}")
	})
}

// members takes an object of what is well in it.
func (w *rewriter) members(raw []byte, in wire.Span, of take) []byte {
	return wire.MapMembers(raw, in, func(_ []byte, val wire.Span) []byte { return of(w, raw, val) })
}

// schema takes a schema; nil for what is none.
func (w *rewriter) schema(raw []byte, in wire.Span) []byte {
	if raw[in.Start] == 't' || raw[in.Start] == 'f' {
		return raw[in.Start:in.End]
	}
	older, tuple := false, false
	now := wire.MapMembers(raw, in, func(key []byte, val wire.Span) []byte {
		name, value := nameOf(key), raw[val.Start:val.End]
		switch of := draft[string(name)]; {
		case (string(name) == "exclusiveMinimum" || string(name) == "exclusiveMaximum") && (value[0] == 't' || value[0] == 'f'):
			older = true
			return nil
		case string(name) == "items" && value[0] == '[':
			older, tuple = true, true
			return nil
		case of != nil:
			return of(w, raw, val)
		}
		return value
	})
	if now == nil {
		return nil
	}
	if older {
		w.older = true
		old := raw[in.Start:in.End]
		if now = exclusive(old, now); tuple {
			now = w.positions(old, now)
		}
	}
	return itemized(now)
}

// resolved gives a schema whose references lead somewhere, and where they did before.
func resolved(schema []byte, names renaming) []byte {
	if !bytes.Contains(schema, []byte(`"$ref"`)) {
		return schema
	}
	w := rewriter{root: schema, names: names, refs: make(map[string][]byte), work: mostWork}
	return w.schema(schema, wire.Whole(schema))
}

// reference takes a reference that leads out of the schema, or to somewhere in it.
func reference(w *rewriter, raw []byte, in wire.Span) []byte {
	value := raw[in.Start:in.End]
	ref, ok := wire.Unquote(value)
	if !ok || w.root == nil || !strings.HasPrefix(ref, "#/") {
		return first(`"`)(w, raw, in)
	}
	now, known := w.refs[ref]
	if !known {
		if now = w.follow(ref); w.work >= 0 {
			w.refs[ref] = now
		}
	}
	if string(now) == string(value) {
		return value
	}
	return now
}

// follow gives what a reference into the schema is now; nil if it leads nowhere.
func (w *rewriter) follow(ref string) []byte {
	path := strings.Split(ref, "/")
	before, to := wire.Span{}, wire.Whole(w.root)
	for i := 1; i < len(path); i++ {
		if w.work -= to.End - to.Start; w.work < 0 {
			return wire.AppendQuote(nil, ref)
		}
		name := unescaped(path[i])
		next := child(w.root, to, name)
		if !next.Present() && path[i-1] == "items" { // which were elements by their positions
			if next = child(w.root, at(w.root, before, "prefixItems"), name); next.Present() {
				path[i-1] = "prefixItems"
			}
		}
		if as := w.names[name]; !next.Present() && i == 2 && path[1] == "properties" && as != "" {
			next = child(w.root, to, as)
			path[i] = as
		}
		if before, to = to, next; !to.Present() {
			return nil
		}
	}
	return wire.AppendQuote(nil, strings.Join(path, "/"))
}

// unescaped gives a name in a JSON pointer that is a fragment of a URI.
func unescaped(token string) string {
	if plain, err := url.PathUnescape(token); err == nil {
		token = plain
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}

// child is where a member or an element stands.
func child(raw []byte, in wire.Span, name string) wire.Span {
	if !in.Present() || raw[in.Start] != '[' {
		return at(raw, in, name)
	}
	n, err := strconv.Atoi(name)
	for e := range wire.Elements(raw, in) {
		if n == 0 && err == nil {
			return e
		}
		n--
	}
	return wire.Span{}
}

// exclusive writes the bounds of a schema of draft 4, where one says of another that it is excluded, in its new form.
func exclusive(old, now []byte) []byte {
	for _, name := range [][2]string{{"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"}} {
		bound, excluded := name[0], name[1]
		value := member(old, wire.Whole(old), bound)
		if string(member(old, wire.Whole(old), excluded)) == "true" && value != nil && strings.IndexByte(number, value[0]) >= 0 {
			now = with(without(now, bound), excluded, value)
		}
	}
	return now
}

// positions writes the schemas of elements by their positions, which items were before draft 2020-12, in the new form.
func (w *rewriter) positions(old, now []byte) []byte {
	all := w.some(old, at(old, wire.Whole(old), "items"))
	now = without(now, "additionalItems")
	if all == nil {
		return now
	}
	rest := []byte("{}")
	switch more := at(old, wire.Whole(old), "additionalItems"); {
	case !more.Present():
	case old[more.Start] == '{':
		rest = w.schema(old, more)
	case old[more.Start] == 'f' && member(now, wire.Whole(now), "maxItems") == nil:
		n := 0
		for range wire.Elements(all, wire.Whole(all)) {
			n++
		}
		now = with(now, "maxItems", strconv.AppendInt(nil, int64(n), 10))
	}
	return with(with(now, "prefixItems", all), "items", rest)
}

// itemized gives a schema of arrays that says what their elements are, if only that they are anything.
func itemized(schema []byte) []byte {
	whole := wire.Whole(schema)
	kind := at(schema, whole, "type")
	if !kind.Present() || member(schema, whole, "items") != nil {
		return schema
	}
	isArray := func(in wire.Span) bool { return string(schema[in.Start:in.End]) == `"array"` }
	if isArray(kind) || schema[kind.Start] == '[' && slices.ContainsFunc(slices.Collect(wire.Elements(schema, kind)), isArray) {
		return with(schema, "items", []byte("{}"))
	}
	return schema
}

// with gives an object with a further member, without an object without those of a name.
func with(object []byte, name string, value []byte) []byte {
	return append(wire.AppendMember(slices.Clone(object[:len(object)-1]), wire.AppendQuote(nil, name), value), '}')
}

func without(object []byte, name string) []byte {
	return wire.MapMembers(object, wire.Whole(object), func(key []byte, val wire.Span) []byte {
		if string(nameOf(key)) == name {
			return nil
		}
		return object[val.Start:val.End]
	})
}

// at is where the value of a member stands in the object at in, whatever else is there that is called almost like it.
func at(raw []byte, in wire.Span, name string) (value wire.Span) {
	if in.Present() && raw[in.Start] == '{' {
		for key, val := range wire.Members(raw, in) {
			if string(nameOf(raw[key.Start:key.End])) == name {
				value = val
			}
		}
	}
	return value
}

func member(raw []byte, in wire.Span, name string) []byte {
	if val := at(raw, in, name); val.Present() {
		return raw[val.Start:val.End:val.End]
	}
	return nil
}

// nameOf gives the name of a member by its token.
func nameOf(token []byte) []byte {
	if name := token[1 : len(token)-1]; bytes.IndexByte(name, '\\') < 0 {
		return name
	}
	name, _ := wire.Unquote(token)
	return []byte(name)
}
