package signature

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Bounds of what is read.
const (
	maxSchema   = 256 << 10 // bytes; of a longer schema nothing is said
	maxDepth    = 5         // types in types
	maxPointer  = 8         // steps of a reference
	leastWork   = 64 << 10  // bytes that may be looked at for one signature, those looked at again included, and
	workPerByte = 32        // how many more for each byte of the schema
	workPerType = 64        // bytes that a type counts for besides those it is read from
)

// reader reads one schema.
type reader struct {
	raw  []byte
	work int      // what may still be done
	path []string // the references that are being followed
	dialect
}

// dialect is how types are written.
type dialect struct {
	script   bool   // as TypeScript, with nothing that is none
	others   string // stands for members that do not fit,
	rest     string // for types of a choice that do not,
	elements string // for elements of a tuple that do not,
	key      string // and for the keys of an object that may have any
}

func newReader(schema []byte, d dialect) *reader {
	return &reader{raw: schema, work: leastWork + workPerByte*len(schema), dialect: d}
}

// charge counts the reading of a value; it reports whether the schema has work left.
func (r *reader) charge(s wire.Span) bool {
	r.work -= workPerType + s.End - s.Start
	return r.work > 0
}

// first is the first byte of a value, 0 if it is not there.
func (r *reader) first(s wire.Span) byte {
	if !s.Present() {
		return 0
	}
	return r.raw[s.Start]
}

// node is a schema within the schema: where the values of its keywords are.
type node struct {
	typ, enum, constant, fallback    wire.Span
	properties, required, additional wire.Span
	items, prefix                    wire.Span
	anyOf, oneOf, allOf, ref         wire.Span
}

// keyword says where a keyword belongs; nil for one that does not matter here.
func (n *node) keyword(name string) *wire.Span {
	switch name {
	case "type":
		return &n.typ
	case "enum":
		return &n.enum
	case "const":
		return &n.constant
	case "default":
		return &n.fallback
	case "properties":
		return &n.properties
	case "required":
		return &n.required
	case "additionalProperties":
		return &n.additional
	case "items":
		return &n.items
	case "prefixItems":
		return &n.prefix
	case "anyOf":
		return &n.anyOf
	case "oneOf":
		return &n.oneOf
	case "allOf":
		return &n.allOf
	case "$ref":
		return &n.ref
	}
	return nil
}

// node finds the keywords of a schema. Of those that stand there twice the first counts.
func (r *reader) node(at wire.Span) (n node) {
	if !r.charge(at) {
		return n
	}
	for name, val := range wire.Members(r.raw, at) {
		if to := n.keyword(string(r.raw[name.Start+1 : name.End-1])); to != nil && !to.Present() {
			*to = val
		}
	}
	return n
}

// field is a member of an object.
type field struct {
	name     string
	schema   wire.Span
	required bool
}

// members are those of an object, as they are gathered.
type members struct {
	all      []field
	has      map[string]bool // by name
	required map[string]bool // by name
}

// fields gives the members of the objects that a schema describes, those that must be there first.
func (r *reader) fields(n node) []field {
	m := members{has: make(map[string]bool), required: make(map[string]bool)}
	r.gather(n, 0, &m)
	var first, others []field
	for _, f := range m.all {
		if f.required = m.required[f.name]; f.required {
			first = append(first, f)
		} else {
			others = append(others, f)
		}
	}
	return append(first, others...)
}

// gather adds the members that a schema names, and those of the schemas that it is made up of.
func (r *reader) gather(n node, depth int, m *members) {
	if depth > maxDepth || !r.charge(n.required) || !r.charge(n.allOf) {
		return
	}
	for e := range wire.Elements(r.raw, n.required) {
		if name, ok := wire.Unquote(r.raw[e.Start:e.End]); ok {
			m.required[name] = true
		}
	}
	for token, schema := range wire.Members(r.raw, n.properties) {
		if !r.charge(schema) {
			return
		}
		if name, ok := wire.Unquote(r.raw[token.Start:token.End]); ok && !m.has[name] {
			m.has[name] = true
			m.all = append(m.all, field{name: name, schema: schema})
		}
	}
	if n.ref.Present() {
		if to, ok := r.follow(n.ref); ok {
			r.gather(to, depth+1, m)
			r.leave()
		}
	}
	for e := range wire.Elements(r.raw, n.allOf) {
		r.gather(r.node(e), depth+1, m)
	}
}

// follow finds what a reference leads to within the schema, if it is not within that already. The caller calls leave
// when it is done with the node.
func (r *reader) follow(ref wire.Span) (n node, ok bool) {
	text, _ := wire.Unquote(r.raw[ref.Start:ref.End])
	steps := strings.Split(text, "/")
	if !r.charge(wire.Whole(r.raw)) || steps[0] != "#" || len(steps) > maxPointer || slices.Contains(r.path, text) {
		return n, false
	}
	for i, s := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
	}
	at, err := wire.FindPath(r.raw, wire.Whole(r.raw), steps[1:]...)
	if err != nil || !at.Present() {
		return n, false
	}
	r.path = append(r.path, text)
	return r.node(at), true
}

func (r *reader) leave() { r.path = r.path[:len(r.path)-1] }
