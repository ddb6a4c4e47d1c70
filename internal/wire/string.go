package wire

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// special marks, with the high bit of its byte, each byte of w that is not plain text: a quote, a backslash, a control
// character, or one that is not ASCII.
//
// Flipping bit 1 moves the quote (0x22) to 0x20 and leaves the control characters below that, so that one addition
// finds both: it carries into the high bit from 0x21 on. The other carries from 1 on.
func special(w uint64) uint64 {
	low := (w^0x02*ones)&^highs + 0x5F*ones
	slash := (w^'\\'*ones)&^highs + 0x7F*ones
	return (w | ^(low & slash)) & highs
}

// text checks a string from behind its opening quote, and returns where it ends, behind the closing quote.
//
// It goes by words whose places do not depend on what is in them, so that the processor can work on the next while the
// branches of this one are undecided.
func text(b []byte, i int) (int, fault) {
next:
	for len(b)-i >= 8 {
		m := special(binary.LittleEndian.Uint64(b[i:]))
		if m == 0 {
			if i += 8; len(b)-i >= 8 && special(binary.LittleEndian.Uint64(b[i:])) == 0 {
				i = plain(b, i+8)
			}
			continue
		}
		for m != 0 {
			at := i + bits.TrailingZeros64(m)/8
			c := b[at]
			if c == '"' {
				return at + 1, faultNone
			}
			if c != '\\' || at+1 >= len(b) || !simpleEscape(b[at+1]) {
				n, f := unusual(b, at)
				if f != faultNone {
					return at, f
				}
				i = at + n
				continue next
			}
			if at == i+7 {
				i++
				break
			}
			m &= ^uint64(0) << (8 * (at - i + 2)) // shifts out whole at 64
		}
		i += 8
	}
	for i < len(b) {
		if b[i] == '"' {
			return i + 1, faultNone
		}
		n, f := unusual(b, i)
		if f != faultNone {
			return i, f
		}
		i += n
	}
	return i, faultEnd
}

// plain passes over long plain text from i on, and stops within 32 bytes of its end.
func plain(b []byte, i int) int {
	for len(b)-i >= 32 {
		p := b[i : i+32]
		m := special(binary.LittleEndian.Uint64(p)) |
			special(binary.LittleEndian.Uint64(p[8:])) |
			special(binary.LittleEndian.Uint64(p[16:])) |
			special(binary.LittleEndian.Uint64(p[24:]))
		if m != 0 {
			break
		}
		i += 32
	}
	return i
}

// unusual checks the character at i, which is no quote, and returns its length and that of others of its sort behind
// it.
func unusual(b []byte, i int) (int, fault) {
	switch c := b[i]; {
	case c == '\\':
		if n := escape(b, i); n > 0 {
			return n, faultNone
		}
		return 0, faultEscape
	case c < ' ':
		return 0, faultControl
	case c < utf8.RuneSelf:
		return 1, faultNone
	}
	if n := multibyte(b, i); n > 0 {
		return n, faultNone
	}
	return 0, faultUTF8
}

// simpleEscape reports whether c behind a backslash is a whole escape.
func simpleEscape(c byte) bool {
	const low uint64 = 1<<'"' | 1<<'/'
	const high uint64 = 1<<('\\'-64) | 1<<('b'-64) | 1<<('f'-64) | 1<<('n'-64) | 1<<('r'-64) | 1<<('t'-64)
	return low>>c&1|high>>(c-64)&1 != 0
}

// multibyte returns the length of the run of characters at i that are not ASCII, or 0 if the first is not valid UTF-8
// (The Unicode Standard, table 3-7).
func multibyte(b []byte, i int) int {
	start := i
	for i < len(b) && b[i] >= utf8.RuneSelf {
		c := b[i]
		switch {
		case c >= 0xC2 && c <= 0xDF && len(b)-i >= 2 && b[i+1]&0xC0 == 0x80:
			i += 2
		case c&0xF0 == 0xE0 && len(b)-i >= 3 && b[i+1]&0xC0 == 0x80 && b[i+2]&0xC0 == 0x80 &&
			(c != 0xE0 || b[i+1] >= 0xA0) && (c != 0xED || b[i+1] < 0xA0):
			i += 3
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return i - start
			}
			i += n
		}
	}
	return i - start
}

// escape returns the length of the escape at i, or 0 if it is malformed.
func escape(b []byte, i int) int {
	if i+1 >= len(b) {
		return 0
	}
	if simpleEscape(b[i+1]) {
		return 2
	}
	if b[i+1] == 'u' {
		if _, ok := hex4(b, i+2); ok {
			return 6
		}
	}
	return 0
}

// hex4 decodes four hexadecimal digits.
func hex4(b []byte, i int) (rune, bool) {
	if len(b)-i < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = (c | 0x20) - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
