package child

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean returns one line of a foreign program as text that is safe to show on a terminal and to a model: without
// escape sequences, without control, formatting (bidirectional, zero-width, tag) and private characters, valid
// UTF-8, at most lineMax bytes, no space at its end. A tab becomes a space.
func clean(raw []byte) string {
	var b strings.Builder
	for len(raw) > 0 {
		if n := plainLen(raw); n > 0 { // nearly all of most lines
			b.Write(raw[:min(n, lineMax-b.Len())])
			raw = raw[n:]
			continue
		}
		if n := escapeLen(raw); n > 0 {
			raw = raw[n:]
			continue
		}
		r, n := utf8.DecodeRune(raw)
		raw = raw[n:]
		switch {
		case r == '\t':
			r = ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Variation_Selector):
			continue
		}
		if b.Len()+utf8.RuneLen(r) > lineMax {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimRightFunc(b.String(), unicode.IsSpace)
}

// plainLen returns how many printable ASCII characters b begins with.
func plainLen(b []byte) int {
	for i, c := range b {
		if c < ' ' || c > '~' {
			return i
		}
	}
	return len(b)
}

// escapeLen returns the length of the escape sequence that b begins with, 0 if it begins with none (ECMA-48 §5.3
// to §5.6). One that does not end with the line takes the rest of it.
func escapeLen(b []byte) int {
	kind, n := byte(0), 0
	switch {
	case b[0] == 0x1b && len(b) == 1:
		return 1
	case b[0] == 0x1b:
		kind, n = b[1], 2
	case b[0] == 0xc2 && len(b) > 1 && b[1] >= 0x80 && b[1] <= 0x9f: // the same as one character, in UTF-8
		kind, n = b[1]-0x40, 2
	default:
		return 0
	}
	switch kind {
	case '[': // CSI: parameters, then one final byte
		for ; n < len(b); n++ {
			if b[n] >= 0x40 && b[n] <= 0x7e {
				return n + 1
			}
		}
		return n
	case ']', 'P', 'X', '^', '_': // OSC, DCS, SOS, PM, APC: a string, ended by BEL or ST
		return stringLen(b, n)
	}
	if b[0] != 0x1b {
		return n
	}
	// nF sequences: intermediate bytes, then a final one; all others are two bytes long
	n = 1
	for n < len(b) && b[n] >= 0x20 && b[n] <= 0x2f {
		n++
	}
	if n < len(b) && b[n] >= 0x30 && b[n] <= 0x7e {
		n++
	}
	return n
}

// stringLen returns where the control string that has its content at b[n:] ends.
func stringLen(b []byte, n int) int {
	end := len(b)
	for _, mark := range []string{"\x07", "\x1b\\", "\u009c"} {
		if i := bytes.Index(b[n:end], []byte(mark)); i >= 0 {
			end = n + i + len(mark)
		}
	}
	return end
}
