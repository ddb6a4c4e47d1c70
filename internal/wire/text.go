package wire

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// decode returns the character at b[i], which lies in a valid JSON string, and how many bytes it takes. A lone
// surrogate is U+FFFD, as in encoding/json.
func decode(b []byte, i int) (rune, int) {
	if b[i] != '\\' {
		return utf8.DecodeRune(b[i:])
	}
	if i+1 >= len(b) {
		return utf8.RuneError, 1
	}
	switch c := b[i+1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
	default:
		return rune(c), 2
	}
	r, ok := hex4(b, i+2)
	if !ok {
		return utf8.RuneError, 2
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if i+7 < len(b) && b[i+6] == '\\' && b[i+7] == 'u' {
		if low, ok := hex4(b, i+8); ok {
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				return r, 12
			}
		}
	}
	return utf8.RuneError, 6
}

// Unquote decodes a JSON string token, quotes included. It reports false if token is not exactly one valid JSON string.
// A lone surrogate escape becomes U+FFFD.
func Unquote(token []byte) (string, bool) {
	if len(token) < 2 || bytes.IndexByte(token, '\\') >= 0 {
		out, ok := AppendUnquote(nil, token)
		return string(out), ok
	}
	if !isText(token) {
		return "", false
	}
	return string(token[1 : len(token)-1]), true
}

// AppendUnquote appends what Unquote gives to dst, or nothing.
func AppendUnquote(dst, token []byte) ([]byte, bool) {
	if !isText(token) {
		return dst, false
	}
	body := token[1 : len(token)-1]
	dst = slices.Grow(dst, len(body))
	for i := 0; i < len(body); {
		n := bytes.IndexByte(body[i:], '\\')
		if n < 0 {
			return append(dst, body[i:]...), true
		}
		dst = append(dst, body[i:i+n]...)
		r, k := decode(body, i+n)
		dst = utf8.AppendRune(dst, r)
		i += n + k
	}
	return dst, true
}

// isText reports whether token is exactly one valid JSON string.
func isText(token []byte) bool {
	if len(token) < 2 || token[0] != '"' {
		return false
	}
	end, f := text(token, 1)
	return f == faultNone && end == len(token)
}

// Valid reports whether raw is one JSON value in valid UTF-8, with nothing behind it but white space, nested no deeper
// than [MaxDepth].
func Valid(raw []byte) bool {
	i, f := value(raw, space(raw, 0), 0)
	return f == faultNone && space(raw, i) == len(raw)
}

// AppendQuote appends s as a JSON string. Invalid UTF-8 becomes U+FFFD, U+2028 and U+2029 are escaped for readers that
// take JSON for JavaScript; <, > and & are left as they are.
func AppendQuote(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, `\n`...)
			case '\r':
				dst = append(dst, `\r`...)
			case '\t':
				dst = append(dst, `\t`...)
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\uFFFD"...)
			start = i + n
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hex[r&15])
			start = i + n
		}
		i += n
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// Compact appends raw without its insignificant white space; if raw is valid JSON, what it appends holds no newline.
// White space that keeps two tokens apart which JSON has nowhere side by side leaves a space, so that nothing becomes
// valid by it. dst may be raw[:0].
func Compact(dst, raw []byte) []byte {
	start := len(dst)
	for i := 0; i < len(raw); {
		switch raw[i] {
		case ' ', '\n', '\t', '\r':
			i = space(raw, i)
			if i < len(raw) && len(dst) > start && isWord(dst[len(dst)-1]) && isWord(raw[i]) {
				dst = append(dst, ' ')
			}
		case '"':
			end := skipText(raw, i+1)
			dst = append(dst, raw[i:end]...)
			i = end
		default:
			dst = append(dst, raw[i])
			i++
		}
	}
	return dst
}

// isWord reports whether c may be part of a number or a literal, or of what is neither.
func isWord(c byte) bool {
	switch c {
	case '{', '}', '[', ']', ',', ':', '"':
		return false
	}
	return true
}
