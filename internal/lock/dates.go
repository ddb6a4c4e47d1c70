package lock

import (
	"bytes"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// dateLen returns the length of the date that b begins with, as ISO 8601 writes it, with a time or without; 0 if it
// begins with none.
func dateLen(b []byte) int {
	n := matchLen(b, "9999-99-99")
	if n == 0 {
		return 0
	}
	for _, more := range []string{"T99:99", " 99:99"} {
		if t := matchLen(b[n:], more); t > 0 {
			n += t
			n += matchLen(b[n:], ":99")
			break
		}
	}
	if fraction := matchLen(b[n:], ".9"); fraction > 0 {
		for n += fraction; n < len(b) && isDigit(b[n]); n++ {
		}
	}
	for _, zone := range []string{"Z", "+99:99", "-99:99", "+9999", "-9999"} {
		if z := matchLen(b[n:], zone); z > 0 {
			return n + z
		}
	}
	return n
}

// matchLen returns the length of a form, in which 9 is any digit, if b begins with it, else 0.
func matchLen(b []byte, form string) int {
	if len(b) < len(form) {
		return 0
	}
	for i := range len(form) {
		if form[i] == '9' && !isDigit(b[i]) || form[i] != '9' && form[i] != b[i] {
			return 0
		}
	}
	return len(form)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// appendWords appends a string token with the same word for each date.
func appendWords(dst, token []byte) []byte {
	for i := 0; i < len(token); {
		if n := dateLen(token[i:]); n > 0 && !isDigit(token[i-1]) && !isDigit(token[i+n]) {
			dst = append(dst, "DATE"...)
			i += n
			continue
		}
		dst = append(dst, token[i])
		i++
	}
	return dst
}

// undated gives the text of an item without the dates in its words: in the instructions, and in what stands under title
// and description.
func undated(it *Item) []byte {
	if !bytes.Contains(it.Text, []byte("-")) {
		return it.Text
	}
	return appendUndated(nil, it.Text, wire.Whole(it.Text), it.Kind == Instructions)
}

func appendUndated(dst, raw []byte, at wire.Span, inWords bool) []byte {
	switch raw[at.Start] {
	case '{':
		dst = append(dst, '{')
		for key, val := range wire.Members(raw, at) {
			name := string(raw[key.Start:key.End])
			dst = append(append(wire.Comma(dst), name...), ':')
			dst = appendUndated(dst, raw, val, name == `"description"` || name == `"title"`)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for e := range wire.Elements(raw, at) {
			dst = appendUndated(wire.Comma(dst), raw, e, false)
		}
		return append(dst, ']')
	case '"':
		if inWords {
			return appendWords(dst, raw[at.Start:at.End])
		}
	}
	return append(dst, raw[at.Start:at.End]...)
}
