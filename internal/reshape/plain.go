package reshape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// longestName is how many characters the interfaces of models take in the name of a parameter.
const longestName = 64

// Form is how a tool is offered.
type Form struct {
	Raw []byte // its definition
	// ToLegacy makes the input schema one of the revisions before 2026-07-28; nil where it is one.
	ToLegacy  []wire.Edit
	Arguments *Arguments // what becomes of its arguments
}

// Plain gives a tool's definition as the interfaces of models take it, which refuse all tools of a request for one of
// them. The input schema is one of JSON Schema 2020-12, see latest. The names of parameters have at most 64 characters of
// [A-Za-z0-9_.-]: one such as "filter[id]" or "StartTime<" is replaced. The description of a renamed parameter says what
// its server calls it, and calls may use either name. A schema that is made of others becomes one schema, see merged, but
// only for the revisions before 2026-07-28: that one takes any schema of an object (SEP-2106). was is what becomes of the
// tool's arguments already. What needs no change comes back as it is.
func Plain(raw []byte, was *Arguments) Form {
	in := at(raw, wire.Whole(raw), "inputSchema")
	if !isObject(raw, in) {
		return Form{Raw: raw, Arguments: was}
	}
	schema := latest(raw, in)
	var one []byte
	if isComposed(schema) {
		one = merged(schema)
		if slices.ContainsFunc(parameters(one), func(name string) bool { return !isPlain(name) }) {
			schema, one = one, nil // a parameter has one name in all that holds for it
		}
	}
	shown := renames(schema)
	form := Form{Raw: raw, Arguments: shown.arguments(was)}
	if shown != nil {
		schema = shown.schema(schema, wire.Whole(schema), true)
	}
	if schema = resolved(schema, shown); !wire.IsSame(schema, raw, in) {
		form.Raw = wire.Splice(nil, raw, wire.Edit{Span: in, New: schema})
	}
	if one != nil {
		form.ToLegacy = []wire.Edit{{Span: at(form.Raw, wire.Whole(form.Raw), "inputSchema"), New: one}}
	}
	return form
}

// renames gives other names to the parameters of a schema that need them.
func renames(schema []byte) renaming {
	names := parameters(schema)
	used, last := make(map[string]bool, len(names)), make(map[string]int)
	for _, name := range names {
		used[name] = true
	}
	var shown renaming
	for _, name := range names {
		if isPlain(name) || shown[name] != "" {
			continue
		}
		base := plain(name)
		as := base
		for used[as] {
			last[base] = max(last[base], 1) + 1
			as = fmt.Sprintf("%s_%d", base, last[base])
		}
		if shown == nil {
			shown = make(renaming)
		}
		used[as], shown[name] = true, as
	}
	return shown
}

// arguments gives what becomes of the arguments that are given by the names that are shown.
func (r renaming) arguments(was *Arguments) *Arguments {
	if r == nil {
		return was
	}
	a := &Arguments{own: make(map[string]string, len(r))}
	if was != nil {
		a.defaults, a.hidden, a.shown = was.defaults, was.hidden, was.shown
	}
	for own, as := range r {
		a.own[as] = own
	}
	return a
}

// Shown gives arguments, a JSON object, by the names that a schema has after Plain: those that are given by the server's
// own names and would get these in their place.
func Shown(schema, arguments []byte) []byte {
	names := parameters(schema)
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

// token gives the token of a parameter's name as it is shown.
func (r renaming) token(own []byte) []byte {
	if as := r[string(nameOf(own))]; as != "" {
		return wire.AppendQuote(nil, as)
	}
	return own
}

// schema gives the schema of the arguments, or of a part of what holds for them, with the names that are shown.
func (r renaming) schema(raw []byte, in wire.Span, explained bool) []byte {
	if raw[in.Start] != '{' {
		return raw[in.Start:in.End]
	}
	words := func(in wire.Span) []byte {
		return wire.MapElements(raw, in, func(e wire.Span) []byte { return r.token(raw[e.Start:e.End]) })
	}
	return wire.MapMembers(raw, in, func(key []byte, val wire.Span) []byte {
		switch string(nameOf(key)) {
		case "properties":
			return r.object(raw, val, func(val wire.Span) []byte { return raw[val.Start:val.End] }, explained)
		case "required":
			return words(val)
		case "dependentRequired", "dependentSchemas", "dependencies":
			return r.object(raw, val, func(val wire.Span) []byte {
				if raw[val.Start] == '[' {
					return words(val)
				}
				return r.schema(raw, val, false)
			}, false)
		}
		return raw[val.Start:val.End]
	})
}

// object gives an object whose members are called like parameters.
func (r renaming) object(raw []byte, in wire.Span, value func(wire.Span) []byte, explained bool) []byte {
	out := []byte{'{'}
	for key, val := range wire.Members(raw, in) {
		token, member := raw[key.Start:key.End], value(val)
		if own := string(nameOf(token)); explained && r[own] != "" {
			member = explain(member, own)
		}
		out = wire.AppendMember(out, r.token(token), member)
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
