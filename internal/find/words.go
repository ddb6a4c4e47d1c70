package find

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxText  = 8 << 10 // bytes of one field that are read
	maxQuery = 1 << 10 // bytes of a query that are read
	maxWord  = 32      // characters of one word
)

// class is what a character is to the cutting of a text.
type class uint8

const (
	apart    class = iota // between words
	letter                // of a word
	unspaced              // of writing that puts no spaces between words
	silent                // an accent or an apostrophe, which does not end a word
)

func classOf(r rune) class {
	switch {
	case r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
		return unspaced
	case unicode.IsLetter(r), unicode.IsDigit(r):
		return letter
	case r == '\'', r == '’', unicode.Is(unicode.Mn, r):
		return silent
	}
	return apart
}

// words calls add for each word of a text as words are compared.
func words(text string, limit int, add func(word string)) {
	if len(text) > limit {
		text = text[:limit]
	}
	var run []rune // of one class
	var of class
	var small bool // the last character was a small letter
	end := func() {
		switch {
		case len(run) == 0:
		case of == letter:
			if w := string(run); !isCommon(w) {
				add(stem(w))
			}
		case len(run) == 1:
			add(string(run))
		default:
			for i := range len(run) - 1 {
				add(string(run[i : i+2]))
			}
		}
		run = run[:0]
	}
	for _, r := range text {
		c := classOf(r)
		if c == silent {
			continue
		}
		if c != of || small && unicode.IsUpper(r) || len(run) == maxWord {
			end()
		}
		of, small = c, unicode.IsLower(r)
		if c != apart {
			run = append(run, unicode.ToLower(r))
		}
	}
	end()
}

// isCommon reports whether a word says nothing of what a tool does.
func isCommon(w string) bool {
	switch w {
	case "a", "an", "the", "of", "to", "for", "in", "on", "with", "and", "or", "by", "from", "at", "as", "is", "are", "be", "this", "that",
		"it", "its", "into", "via", "any", "all", "can", "will", "which", "you", "your", "i", "me", "my", "we", "please", "what", "how", "there", "using", "use", "used":
		return true
	}
	return false
}

// stem takes common endings of English off a word, so that "files", "filing" and "file" meet. Two words that meet by
// mistake cost a little precision; two that do not meet may still be near by their letters.
func stem(w string) string {
	for _, e := range []struct{ end, to string }{
		{"ations", "ate"}, {"ation", "ate"}, {"ings", ""}, {"ing", ""}, {"ies", "y"}, {"ed", ""}, {"ers", "er"}, {"es", "e"}, {"s", ""},
	} {
		if strings.HasSuffix(w, e.end) && len(w)-len(e.end) >= 3 && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-len(e.end)] + e.to
			break
		}
	}
	if len(w) > 4 && w[len(w)-1] == 'e' {
		w = w[:len(w)-1]
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && w[n-1] < utf8.RuneSelf && w[n-1] != 's' && w[n-1] != 'l' {
		w = w[:n-1]
	}
	return w
}
