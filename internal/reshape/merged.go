package reshape

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// IsComposed reports whether the schema at in is made of others, see Merged.
func IsComposed(raw []byte, in wire.Span) bool {
	if isObject(raw, in) {
		for key := range wire.Members(raw, in) {
			if slices.Contains(compositions(), string(nameOf(raw, key))) {
				return true
			}
		}
	}
	return false
}

func isObject(raw []byte, in wire.Span) bool { return in.Present() && raw[in.Start] == '{' }

// compositions are the members of a schema that refer to other schemas for the same value.
func compositions() []string {
	return []string{"$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"}
}

// Merged gives the edits that make one schema of a tool's input schema that is made of others: it takes the arguments of
// each of them, and its description says which go together. The interfaces of models refuse all tools of a request for
// one schema that is made of others, and some clients leave the tool out; only revision 2026-07-28 takes any schema of
// an object (SEP-2106). What the server takes does not change. A schema of more than room bytes becomes that of any
// arguments.
func Merged(definition []byte, room int) []wire.Edit {
	in := at(definition, wire.Whole(definition), "inputSchema")
	switch {
	case !IsComposed(definition, in):
		return nil
	case in.End-in.Start > room:
		return []wire.Edit{{Span: in, New: []byte(`{"type":"object"}`)}}
	}
	return []wire.Edit{{Span: in, New: merged(definition, in)}}
}

// merged gives the schema at in as one.
func merged(definition []byte, in wire.Span) []byte {
	m := merger{raw: definition, root: in, left: mostSchemas, work: mostWork, own: make(map[string][]byte), parts: make(map[string][][]byte)}
	own := at(definition, in, "properties")
	for key, val := range wire.Members(definition, own) {
		m.own[string(nameOf(definition, key))] = definition[val.Start:val.End]
	}
	required := m.take(in)
	out := wire.NewObject(nil)
	for key, val := range wire.Members(definition, in) {
		name := string(nameOf(definition, key))
		if name != "properties" && name != "required" && name != "description" && !slices.Contains(compositions(), name) {
			out = wire.AppendMember(out, definition[key.Start:key.End], definition[val.Start:val.End])
		}
	}
	said, _ := wire.Unquote(member(definition, in, "description"))
	if said = strings.TrimSpace(strings.Join(append([]string{said}, m.said...), " ")); said != "" {
		out = out.Text("description", said)
	}
	out = out.Raw("properties", m.properties())
	if len(required) > 0 {
		out = out.Raw("required", wire.MustEncode(required))
	}
	return resolved(out.End(), nil)
}

// mostSchemas is how many schemas are looked at for one tool, mostWays how many alternatives and parameters of each are
// told, mostSaid in how many bytes, and mostWork how many bytes of a schema are read for the references in it.
const (
	mostSchemas = 1000
	mostWays    = 16
	mostSaid    = 500
	mostWork    = 32 << 20
)

// merger collects what is said of the properties of one object.
type merger struct {
	raw   []byte
	root  wire.Span
	own   map[string][]byte   // the properties of the schema itself, which says them best
	left  int                 // how many more schemas are looked at
	work  int                 // how many more bytes are read for references
	names []string            // of the properties, in the order in which they were found
	parts map[string][][]byte // their schemas
	said  []string            // what goes together
}

// names is a set of names that keeps their order.
type names struct {
	all []string
	has map[string]bool
}

func (n *names) add(more []string) {
	for _, name := range more {
		if !n.has[name] {
			if n.has == nil {
				n.has = make(map[string]bool)
			}
			n.has[name] = true
			n.all = append(n.all, name)
		}
	}
}

// take collects the properties of a schema and gives the names of those that it requires.
func (m *merger) take(in wire.Span) []string {
	if m.left--; m.left < 0 || !isObject(m.raw, in) {
		return nil
	}
	var required names
	var choices []wire.Span
	for key, val := range wire.Members(m.raw, in) {
		switch string(nameOf(m.raw, key)) {
		case "properties":
			m.note(val)
		case "required":
			required.add(m.texts(val))
		case "$ref":
			required.add(m.take(m.target(val)))
		case "allOf":
			for e := range wire.Elements(m.raw, val) {
				required.add(m.take(e))
			}
		case "anyOf", "oneOf":
			choices = append(choices, val)
		case "then", "else":
			m.take(val)
		}
	}
	for _, val := range choices {
		required.add(m.choose(val, required.has))
	}
	return required.all
}

// choose collects the properties of alternatives, says what each requires beyond what is required anyway, and gives
// what all require.
func (m *merger) choose(of wire.Span, anyway map[string]bool) (common []string) {
	var ways []string
	first := true
	for e := range wire.Elements(m.raw, of) {
		var needs names
		needs.add(m.take(e))
		if first {
			common, first = needs.all, false
		} else {
			common = slices.DeleteFunc(slices.Clone(common), func(name string) bool { return !needs.has[name] })
		}
		if len(ways) > mostWays || len(needs.all) > mostWays {
			ways = append(ways, "")
			continue
		}
		var way []string
		for _, name := range needs.all {
			if value := member(m.raw, at(m.raw, at(m.raw, e, "properties"), name), "const"); value != nil {
				way = append(way, name+" "+string(value))
			} else if !anyway[name] {
				way = append(way, name)
			}
		}
		ways = append(ways, strings.Join(way, " and "))
	}
	said := "Give " + strings.Join(ways, ", or ") + "."
	if len(ways) > 1 && !slices.Contains(ways, "") && len(said) <= mostSaid && len(m.said) < mostWays && !slices.Contains(m.said, said) {
		m.said = append(m.said, said)
	}
	return common
}

// note notes the properties at in.
func (m *merger) note(in wire.Span) {
	if !isObject(m.raw, in) {
		return
	}
	for key, val := range wire.Members(m.raw, in) {
		name, schema := string(nameOf(m.raw, key)), m.raw[val.Start:val.End]
		parts := m.parts[name]
		switch {
		case parts == nil:
			m.names = append(m.names, name)
		case m.own[name] != nil || len(parts) == mostWays,
			slices.ContainsFunc(parts, func(other []byte) bool { return bytes.Equal(other, schema) }):
			continue
		}
		m.parts[name] = append(parts, schema)
	}
}

// properties gives what was noted.
func (m *merger) properties() []byte {
	out := wire.NewObject(nil)
	for _, name := range m.names {
		schema := m.parts[name][0]
		if own := m.own[name]; own != nil {
			schema = own
		} else if all := m.parts[name]; len(all) > 1 {
			schema = wire.NewObject(nil).Raw("anyOf", append(append([]byte{'['}, bytes.Join(all, []byte{','})...), ']')).End()
		}
		out = wire.AppendMember(out, wire.AppendQuote(nil, name), schema)
	}
	return out.End()
}

// texts gives the texts of an array.
func (m *merger) texts(in wire.Span) (all []string) {
	for e := range wire.Elements(m.raw, in) {
		if text, ok := wire.Unquote(m.raw[e.Start:e.End]); ok {
			all = append(all, text)
		}
	}
	return all
}

// target gives the schema that the reference at in leads to, as far as that is within the same one.
func (m *merger) target(in wire.Span) wire.Span {
	ref, _ := wire.Unquote(m.raw[in.Start:in.End])
	way, within := strings.CutPrefix(ref, "#/")
	if !within {
		return wire.Span{}
	}
	to := m.root
	for token := range strings.SplitSeq(way, "/") {
		if m.work -= to.End - to.Start; m.work < 0 {
			return wire.Span{}
		}
		to = child(m.raw, to, unescaped(token))
	}
	return to
}
