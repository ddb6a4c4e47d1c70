package lock

import (
	"bytes"
	"regexp"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// date is one as ISO 8601 writes it, with a time or without.
var date = regexp.MustCompile(`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?`)

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// appendWords appends a string token with the same word for each date.
func appendWords(dst, token []byte) []byte {
	from := 0
	for i := 0; ; {
		at := date.FindIndex(token[i:])
		if at == nil {
			return append(dst, token[from:]...)
		}
		begin, end := i+at[0], i+at[1]
		if i = end; isDigit(token[begin-1]) || isDigit(token[end]) {
			i = begin + 1 // in what is no date another may begin
			continue
		}
		dst = append(append(dst, token[from:begin]...), "DATE"...)
		from = end
	}
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
