package foreign

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// isPlain reports whether a string token is its own canonical form, as nearly all are.
func isPlain(token []byte) bool {
	for _, c := range token[1 : len(token)-1] {
		if c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

// Spelling gives a token of JSON that is a string in its one spelling: characters stand for themselves, but for those that
// JSON has escaped and those that nobody sees or that steer what shows them, which are \uXXXX. It is the token itself
// where that is spelt so.
func Spelling(token []byte) []byte {
	if isPlain(token) {
		return token
	}
	dst := append(make([]byte, 0, len(token)), '"')
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
	case !Hidden(r):
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
