package audit

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// class is what a character that is not seen does.
type class string

const (
	bidi      class = "characters that turn the direction of text"
	tags      class = "Unicode tags, which nobody sees and a model may read"
	ansi      class = "escape sequences, which a terminal obeys"
	control   class = "control characters"
	invisible class = "characters that nobody sees"
)

func classOf(r rune) class {
	switch {
	case unicode.Is(unicode.Bidi_Control, r):
		return bidi
	case r >= 0xE0000 && r <= 0xE007F:
		return tags
	case r == 0x1b || r == 0x9b:
		return ansi
	case unicode.Is(unicode.Cc, r):
		return control
	}
	return invisible
}

// hidden looks for characters that are not seen.
func (l *look) hidden(place []string, text string) {
	if isPlain(text) {
		return
	}
	type found struct {
		from, to int
		count    int
		runes    []rune
	}
	seen := make(map[class]*found)
	var order []class
	before := rune(0)
	for i, r := range text {
		if foreign.Hidden(r) && r != '\n' && r != '\t' && r != '\r' && !joins(r, before) {
			c := classOf(r)
			f := seen[c]
			if f == nil {
				f = &found{from: i}
				seen[c], order = f, append(order, c)
			}
			f.count++
			f.to = i + utf8.RuneLen(r)
			if len(f.runes) < 8 && !slices.Contains(f.runes, r) {
				f.runes = append(f.runes, r)
			}
		}
		before = r
	}
	for _, c := range order {
		f := seen[c]
		var which []string
		for _, r := range f.runes {
			which = append(which, fmt.Sprintf("U+%04X", r))
		}
		shown := near(text, f.from, min(f.to, f.from+4*around))
		if c == tags {
			shown = "in plain letters: " + untagged(text)
		}
		l.add(place, fmt.Sprintf("%s (%d, such as %s)", c, f.count, strings.Join(which, " ")), shown)
	}
}

func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' && c != '\r' || c > '~' {
			return false
		}
	}
	return true
}

// joins reports whether a character is one that scripts and pictures are written with, after what it belongs to.
func joins(r, before rune) bool {
	switch r {
	case 0x200c, 0x200d: // joiners: in Arabic, Indic scripts and in pictures
		return before > 0x0590 && (unicode.IsLetter(before) || unicode.IsMark(before) || unicode.Is(unicode.So, before) || unicode.Is(unicode.Sk, before) || before == 0xfe0f)
	case 0xfe0e, 0xfe0f: // text or picture
		return unicode.Is(unicode.S, before) || before >= '0' && before <= '9' || before == '#' || before == '*' || before > 0x2000 && unicode.Is(unicode.P, before)
	}
	return false
}

// untagged gives what tags say.
func untagged(text string) string {
	var b strings.Builder
	for _, r := range text {
		if classOf(r) == tags && r > 0xE0020 && r < 0xE007F || r == 0xE0020 {
			b.WriteRune(r - 0xE0000)
		}
	}
	return foreign.Visible(b.String(), 4*around)
}
