package find

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxText    = 8 << 10 // bytes of one field that are read
	maxQuery   = 1 << 10 // bytes of a query that are read
	maxWord    = 32      // characters of one word
	maxClauses = 16      // of a query; what is behind them belongs to the last one
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
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return letter
	case r == '\'', r == '’':
		return silent
	case r < utf8.RuneSelf:
		return apart
	case r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
		return unspaced
	case unicode.IsLetter(r), unicode.IsDigit(r):
		return letter
	case unicode.Is(unicode.Mn, r):
		return silent
	}
	return apart
}

// reader cuts texts into words. Its zero value is ready; it is for one goroutine.
type reader struct {
	run   []byte // the small letters of the word that is being read
	count int    // its characters
	last  int    // where the last of them begins
}

// words calls add for each word of a text as words are compared. A word is overwritten after the call.
func (r *reader) words(text string, limit int, add func(word []byte)) {
	if len(text) > limit {
		text = text[:limit]
	}
	var of class
	var small bool // the last character was a small letter
	r.reset()
	for _, c := range text {
		k := classOf(c)
		if k == silent {
			continue
		}
		if k != of || small && unicode.IsUpper(c) || r.count == maxWord {
			r.end(of, add)
		}
		of, small = k, unicode.IsLower(c)
		switch {
		case k == apart:
		case k == unspaced && r.count == 2: // pairs, of which each begins with the end of the one before
			add(r.run)
			r.run = append(r.run[:0], r.run[r.last:]...)
			r.count = 1
			fallthrough
		default:
			r.last = len(r.run)
			r.run = utf8.AppendRune(r.run, unicode.ToLower(c))
			r.count++
		}
	}
	r.end(of, add)
}

// queryWords are the words of a query, each once.
func queryWords(query string) []string {
	var out []string
	new(reader).words(query, maxQuery, func(w []byte) {
		if !slices.Contains(out, string(w)) {
			out = append(out, string(w))
		}
	})
	return out
}

// queryClauses are the words of each clause of a query that has any, each once in it.
func queryClauses(query string) (clauses [][]string) {
	query = query[:min(len(query), maxQuery)]
	for query != "" {
		clause := query
		if len(clauses) < maxClauses-1 {
			clause = query[:clauseEnd(query)]
		}
		query = query[len(clause):]
		if words := queryWords(clause); words != nil {
			clauses = append(clauses, words)
		}
	}
	return clauses
}

// clauseEnd is where the first clause of a text ends: behind a mark with a space after it, such as no file name has, or
// one of writing that puts no spaces there.
func clauseEnd(text string) int {
	marked := false
	for i, c := range text {
		switch {
		case c == '\n', marked && unicode.IsSpace(c):
			return i + utf8.RuneLen(c)
		case strings.ContainsRune("。，、；：！？", c):
			return i + utf8.RuneLen(c)
		}
		marked = strings.ContainsRune(".,;:!?", c)
	}
	return len(text)
}

func (r *reader) reset() { r.run, r.count, r.last = r.run[:0], 0, 0 }

// end ends a word.
func (r *reader) end(of class, add func(word []byte)) {
	switch {
	case r.count == 0:
	case of != letter:
		add(r.run)
	case !isCommon(r.run):
		add(stem(r.run))
	}
	r.reset()
}

// isCommon reports whether a word says nothing of what a tool does.
func isCommon(w []byte) bool {
	if len(w) > len("please") {
		return false
	}
	switch string(w) {
	case "a", "an", "the", "of", "to", "for", "in", "on", "with", "and", "or", "by", "from", "at", "as", "is", "are", "be", "this", "that",
		"it", "its", "into", "via", "any", "all", "can", "will", "which", "you", "your", "i", "me", "my", "we", "please", "what", "how", "there", "using", "use", "used":
		return true
	}
	return false
}

// ending is an ending of English words and what stands in its place.
type ending struct{ end, to string }

func endings() [9]ending {
	return [...]ending{
		{"ations", "ate"}, {"ation", "ate"}, {"ings", ""}, {"ing", ""}, {"ies", "y"}, {"ed", ""}, {"ers", "er"}, {"es", "e"}, {"s", ""},
	}
}

// stem takes common endings of English off a word, so that "files", "filing" and "file" meet. Two words that meet by
// mistake cost a little precision; two that do not meet may still be near by their letters. The word is changed.
func stem(w []byte) []byte {
	for _, e := range endings() {
		if n := len(w) - len(e.end); n >= 3 && string(w[n:]) == e.end && !bytes.HasSuffix(w, []byte("ss")) {
			w = append(w[:n], e.to...)
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
