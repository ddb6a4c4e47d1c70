package lock

import (
	"bytes"
	"slices"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// appendCanonical appends the canonical form of a valid JSON value. In a schema the members that are sets are sorted.
func appendCanonical(dst, raw []byte, at wire.Span, inSchema bool) []byte {
	switch raw[at.Start] {
	case '{':
		return appendMembers(dst, members(raw, at), inSchema)
	case '[':
		dst = append(dst, '[')
		for e := range wire.Elements(raw, at) {
			dst = appendCanonical(wire.Comma(dst), raw, e, inSchema)
		}
		return append(dst, ']')
	case '"':
		return append(dst, foreign.Spelling(raw[at.Start:at.End])...)
	}
	return append(dst, raw[at.Start:at.End]...)
}

// member is a member of an object, its key in canonical form.
type member struct {
	key []byte
	raw []byte
	val wire.Span
}

// is reports whether the key is a name of ASCII.
func (m *member) is(name string) bool {
	return len(m.key) == len(name)+2 && string(m.key[1:len(m.key)-1]) == name
}

func members(raw []byte, at wire.Span) []member {
	var all []member
	for key, val := range wire.Members(raw, at) {
		all = append(all, member{foreign.Spelling(raw[key.Start:key.End]), raw, val})
	}
	return all
}

// appendMembers appends an object. Of members with the same name, which clients read differently, all count, in their
// order.
func appendMembers(dst []byte, all []member, inSchema bool) []byte {
	slices.SortStableFunc(all, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for i := range all {
		m := &all[i]
		dst = append(append(wire.Comma(dst), m.key...), ':')
		if inSchema && m.isSet() {
			dst = appendSet(dst, m)
		} else {
			dst = appendCanonical(dst, m.raw, m.val, inSchema)
		}
	}
	return append(dst, '}')
}

// isSet reports whether a member of a schema is a list whose order means nothing. Servers in Go make such lists of
// maps.
func (m *member) isSet() bool {
	return m.raw[m.val.Start] == '[' && (m.is("required") || m.is("enum") || m.is("type"))
}

func appendSet(dst []byte, m *member) []byte {
	var all [][]byte
	for e := range wire.Elements(m.raw, m.val) {
		all = append(all, appendCanonical(nil, m.raw, e, true))
	}
	slices.SortFunc(all, bytes.Compare)
	return append(append(append(dst, '['), bytes.Join(all, []byte(","))...), ']')
}
