package reshape

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// isComposed reports whether a schema is made of others.
func isComposed(schema []byte) bool {
	for key := range wire.Members(schema, wire.Whole(schema)) {
		if slices.Contains(compositions(), string(nameOf(schema[key.Start:key.End]))) {
			return true
		}
	}
	return false
}

func isObject(raw []byte, in wire.Span) bool { return in.Present() && raw[in.Start] == '{' }

// compositions are the members of a schema that refer to other schemas for the same value.
func compositions() []string {
	return []string{"$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"}
}

// mostComposed is how long a schema that is made of others may be, in bytes, for the others to be looked at.
const mostComposed = 128 << 10

// merged makes one schema of an input schema that is made of others: it takes the arguments of each of them, and its
// description says which go together. A schema that is too long becomes that of any arguments.
func merged(schema []byte) []byte {
	if len(schema) > mostComposed {
		return []byte(`{"type":"object"}`)
	}
	whole := wire.Whole(schema)
	m := merger{raw: schema, work: mostWork, own: make(map[string][]byte), parts: make(map[string][][]byte), taken: make(map[int][]string), refs: make(map[string]wire.Span)}
	for key, val := range wire.Members(schema, at(schema, whole, "properties")) {
		m.own[string(nameOf(schema[key.Start:key.End]))] = schema[val.Start:val.End]
	}
	required := m.take(whole)
	out := wire.NewObject(nil)
	for key, val := range wire.Members(schema, whole) {
		name := string(nameOf(schema[key.Start:key.End]))
		if name != "properties" && name != "required" && name != "description" && !slices.Contains(compositions(), name) {
			out = wire.AppendMember(out, schema[key.Start:key.End], schema[val.Start:val.End])
		}
	}
	said, _ := wire.Unquote(member(schema, whole, "description"))
	if said = strings.TrimSpace(strings.Join(append([]string{said}, m.said...), " ")); said != "" {
		out = out.Text("description", said)
	}
	out = out.Raw("properties", m.properties())
	if len(required) > 0 {
		out = out.Raw("required", wire.MustEncode(required))
	}
	return resolved(out.End(), nil)
}

// mostWays is how many alternatives, and parameters of each, are told, mostSaid in how many bytes, and mostWork how many
// bytes are read to follow references.
const (
	mostWays = 16
	mostSaid = 500
	mostWork = 8 << 20
)

// merger collects what is said of the properties of one object.
type merger struct {
	raw   []byte
	own   map[string][]byte    // the properties of the schema itself, which says them best
	taken map[int][]string     // what the schemas require whose properties were collected, by where they begin
	refs  map[string]wire.Span // where references lead
	work  int                  // how many more bytes are read to follow references
	names []string             // of the properties, in the order in which they were found
	parts map[string][][]byte  // their schemas
	said  []string             // what goes together
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
	if known, ok := m.taken[in.Start]; ok || !isObject(m.raw, in) {
		return known
	}
	m.taken[in.Start] = nil // as far as it is of itself
	var required names
	var choices []wire.Span
	for key, val := range wire.Members(m.raw, in) {
		switch string(nameOf(m.raw[key.Start:key.End])) {
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
	m.taken[in.Start] = required.all
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
		name, schema := string(nameOf(m.raw[key.Start:key.End])), m.raw[val.Start:val.End]
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
	to, known := m.refs[ref]
	if known || !within {
		return to
	}
	to = wire.Whole(m.raw)
	for token := range strings.SplitSeq(way, "/") {
		if m.work -= to.End - to.Start; m.work < 0 {
			return wire.Span{}
		}
		to = child(m.raw, to, unescaped(token))
	}
	m.refs[ref] = to
	return to
}
