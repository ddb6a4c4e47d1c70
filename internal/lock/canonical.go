package lock

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

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
		return appendString(dst, raw[at.Start:at.End])
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
		token := raw[key.Start:key.End]
		if !isPlain(token) {
			token = appendString(nil, token)
		}
		all = append(all, member{token, raw, val})
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

// isPlain reports whether a string token is its own canonical form, as nearly all are.
func isPlain(token []byte) bool {
	for _, c := range token[1 : len(token)-1] {
		if c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

// appendString appends a string token in its one spelling: characters stand for themselves, but for those that JSON has
// escaped and those that nobody sees or that steer what shows them, which are \uXXXX.
func appendString(dst, token []byte) []byte {
	if isPlain(token) {
		return append(dst, token...)
	}
	dst = append(dst, '"')
	for b := token[1 : len(token)-1]; len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		if r == '\\' {
			if r, n = escaped(b); r < 0 {
				dst = append(dst, bytes.ToLower(b[:n])...) // half a pair: it has no other spelling
				b = b[n:]
				continue
			}
		}
		b = b[n:]
		switch r {
		case '"', '\\':
			dst = append(dst, '\\', byte(r))
		case '\n':
			dst = append(dst, `\n`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = appendRune(dst, r)
		}
	}
	return append(dst, '"')
}

func appendRune(dst []byte, r rune) []byte {
	switch {
	case !foreign.Hidden(r):
		return utf8.AppendRune(dst, r)
	case r <= 0xffff:
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	high, low := utf16.EncodeRune(r)
	return fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
}

// escaped reads the escape that b begins with; it is -1 for half a surrogate pair.
func escaped(b []byte) (r rune, n int) {
	if b[1] != 'u' {
		if i := strings.IndexByte(`bfnrt`, b[1]); i >= 0 {
			return rune("\b\f\n\r\t"[i]), 2
		}
		return rune(b[1]), 2
	}
	r = hex4(b[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(b[8:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return -1, 6
}

func hex4(b []byte) (r rune) {
	for _, c := range bytes.ToLower(b[:4]) {
		r = r<<4 | rune(strings.IndexByte("0123456789abcdef", c))
	}
	return r
}
