package foreign

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ellipsis stands where a text was cut.
const ellipsis = "…"

// clean returns raw as text that is safe to show on a terminal and to a model: without escape sequences, without
// control, formatting (bidirectional, zero-width, tag), invisible and private characters, valid UTF-8, no space at its
// end, at most most bytes. The ends of lines and tabs are kept in a block, and are spaces in a line.
func clean(raw string, most int, block bool) string {
	if len(raw) <= most && plainLen(raw) == len(raw) {
		return strings.TrimRightFunc(raw, unicode.IsSpace)
	}
	var b strings.Builder
	for len(raw) > 0 && b.Len() <= most {
		if n := plainLen(raw); n > 0 { // nearly all of most texts
			b.WriteString(raw[:min(n, most+1)])
			raw = raw[n:]
			continue
		}
		if n := escapeLen(raw); n > 0 {
			raw = raw[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(raw)
		raw = raw[n:]
		switch {
		case r == '\n' || r == '\t':
			if !block {
				r = ' '
			}
		case r == '\r' && !strings.HasPrefix(raw, "\n"):
			r = ' '
		case Hidden(r):
			continue
		}
		b.WriteRune(r)
	}
	if b.Len() > most {
		return cut(b.String(), most)
	}
	return strings.TrimRightFunc(b.String(), unicode.IsSpace)
}

// Hidden reports whether a character steers what shows it, or is not to be seen.
func Hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return unicode.IsControl(r)
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}

// cut keeps text within a number of bytes, and shows where it was cut.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most - len(ellipsis)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.TrimRightFunc(text[:end], unicode.IsSpace) + ellipsis
}

// plainLen returns how many printable ASCII characters s begins with.
func plainLen(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return i
		}
	}
	return len(s)
}

// escapeLen returns the length of the escape sequence that s begins with, 0 if it begins with none (ECMA-48 §5.3 to
// §5.6). One that does not end with the line takes the rest of it.
func escapeLen(s string) int {
	kind, n := byte(0), 0
	switch {
	case s[0] == 0x1b && len(s) == 1:
		return 1
	case s[0] == 0x1b:
		kind, n = s[1], 2
	case s[0] == 0xc2 && len(s) > 1 && s[1] >= 0x80 && s[1] <= 0x9f: // the same as one character, in UTF-8
		kind, n = s[1]-0x40, 2
	default:
		return 0
	}
	switch kind {
	case '[': // CSI: parameters, then one final byte
		for ; n < len(s) && s[n] != '\n'; n++ {
			if s[n] >= 0x40 && s[n] <= 0x7e {
				return n + 1
			}
		}
		return n
	case ']', 'P', 'X', '^', '_': // OSC, DCS, SOS, PM, APC: a string, ended by BEL or ST
		for ; n < len(s) && s[n] != '\n'; n++ {
			for _, end := range []string{"\x07", "\x1b\\", "\u009c"} {
				if strings.HasPrefix(s[n:], end) {
					return n + len(end)
				}
			}
		}
		return n
	}
	if s[0] != 0x1b {
		return n
	}
	// nF sequences: intermediate bytes, then a final one; all others are two bytes long
	n = 1
	for n < len(s) && s[n] >= 0x20 && s[n] <= 0x2f {
		n++
	}
	if n < len(s) && s[n] >= 0x30 && s[n] <= 0x7e {
		n++
	}
	return n
}

// Visible gives text of one line in which each character that is not to be seen stands as its number, such as <U+200B>,
// and which has at most most bytes.
func Visible(raw string, most int) string {
	var b strings.Builder
	for _, r := range raw {
		if b.Len() > most {
			break
		}
		switch {
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case Hidden(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return cut(b.String(), most)
}
