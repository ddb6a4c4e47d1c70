package signature

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Sentence gives the first sentence of a description, without its full stop and in at most so many bytes.
func Sentence(description string, most int) string {
	var b strings.Builder
	gap, lines := false, 0 // what stands before c
	for _, c := range description {
		switch {
		case unicode.IsSpace(c):
			gap = true
			if c == '\n' {
				lines++
			}
			continue
		case !unicode.IsGraphic(c) || c == utf8.RuneError, b.Len() == 0 && strings.ContainsRune("#*-_>•", c):
			continue // what nobody sees, and how headings and lists begin
		}
		if b.Len() > most || b.Len() > 0 && gap && (lines > 1 || ends(b.String(), c)) || strings.HasSuffix(b.String(), "。") {
			break
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
		gap, lines = false, 0
	}
	return strings.TrimRight(cut.Bytes(b.String(), most), ".:。 ")
}

// ends reports whether a sentence ends where text does, if a space and c come next: not so after "e.g.", nor before
// what goes on in lower case.
func ends(text string, c rune) bool {
	last := text[strings.LastIndexByte(text, ' ')+1:]
	switch text[len(text)-1] {
	case '.':
		return !unicode.IsLower(c) && strings.Count(last, ".") == 1
	case '!', '?':
		return true
	}
	return false
}

// Name words the name of a tool or a parameter: as it is if it is a word, else in quotes and with escapes for what
// cannot be seen.
func Name(s string) string {
	for _, c := range s {
		if c == utf8.RuneError || !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-.$/", c) {
			return quote(s, maxName)
		}
	}
	if s == "" {
		return quote(s, maxName)
	}
	return cut.Bytes(s, maxName)
}

// quote puts text in quotes, with escapes for what cannot be seen.
func quote(s string, most int) string { return strconv.QuoteToGraphic(cut.Bytes(s, most)) }

// value words a JSON value that is not made of others; "" if it is none.
func (r *reader) value(at wire.Span) string {
	if s, ok := wire.Unquote(r.raw[at.Start:at.End]); ok {
		if r.script && len(s) > maxValue {
			return "string"
		}
		return quote(s, maxValue)
	}
	token := string(r.raw[at.Start:at.End])
	if len(token) > maxValue || strings.ContainsFunc(token, func(c rune) bool { return !strings.ContainsRune("+-.0123456789Eaeflnrstu", c) }) {
		return ""
	}
	return token
}
