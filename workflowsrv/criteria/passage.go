package criteria

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/nearest"
)

// What is searched for a passage like the one that is missing: enough for a helpful word, little enough to cost
// nothing.
const (
	foldSearch = 256 << 10 // bytes of output searched without regard to case
	nearSearch = 16 << 10  // bytes of output searched with regard to spelling
	nearShort  = 4         // bytes; shorter texts are like too much
	nearLong   = 100
)

// nearestPassage finds what in output comes nearest to want, where it is and how it differs. It gives "" where nothing
// is near.
func nearestPassage(output, want string) (passage string, at int, how string) {
	output = head(output, foldSearch)
	if start, end := indexFold(output, want); start >= 0 {
		return output[start:end], start, "only in case"
	}
	if len(want) < nearShort || len(want) > nearLong {
		return "", 0, ""
	}
	// A passage of as many words is compared; white space, which often is what differs, counts as one blank.
	spans := words(head(output, nearSearch))
	count := len(strings.Fields(want))
	places := map[string]span{}
	var known []string
	for i := 0; count > 0 && i+count <= len(spans); i++ {
		s := span{spans[i].start, spans[i+count-1].end}
		text := strings.Join(strings.Fields(output[s.start:s.end]), " ")
		if _, ok := places[text]; !ok && near(len(text), len(want)) {
			places[text] = s
			known = append(known, text)
		}
	}
	found := nearest.Names(strings.Join(strings.Fields(want), " "), known, 1)
	if len(found) == 0 {
		return "", 0, ""
	}
	s := places[found[0]]
	how = "in spelling"
	if strings.EqualFold(found[0], strings.Join(strings.Fields(want), " ")) {
		how = "only in spacing or case"
	}
	return output[s.start:s.end], s.start, how
}

// near reports whether texts of these lengths can be like each other at all.
func near(a, b int) bool { return 3*a <= 4*b+6 && 3*b <= 4*a+6 }

// head gives at most n bytes of s, whole characters only.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// indexFold finds want in s without regard to case, and gives -1, -1 where it is not.
func indexFold(s, want string) (start, end int) {
	folded, target := strings.Map(unicode.ToLower, s), strings.Map(unicode.ToLower, want)
	at := strings.Index(folded, target)
	if at < 0 {
		return -1, -1
	}
	// The lower case of a letter may take another number of bytes, so that places are counted in characters.
	from := utf8.RuneCountInString(folded[:at])
	start = skip(s, from)
	return start, start + skip(s[start:], utf8.RuneCountInString(target))
}

// skip gives how many bytes the first n characters of s take.
func skip(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

type span struct{ start, end int }

// words gives the words of s as byte ranges, without the punctuation around them.
func words(s string) []span {
	var list []span
	start := -1
	flush := func(end int) {
		if start >= 0 {
			list = append(list, span{start, start + len(strings.TrimRight(s[start:end], ".,;:!?"))})
		}
		start = -1
	}
	for i, r := range s {
		switch {
		case unicode.IsSpace(r):
			flush(i)
		case start < 0:
			start = i
		}
	}
	flush(len(s))
	return list
}
