package command

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-workbench/workbench/internal/cut"
)

// wordsOf splits a text into words in lower case, cut to their stem.
func wordsOf(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	for i, word := range fields {
		fields[i] = stem(word)
	}
	return fields
}

// isValue reports whether a word looks like a path, a number, an address or the like, which says nothing of what is
// meant.
func isValue(word string) bool {
	word = strings.Trim(word, ",.;:!?()\"'")
	return strings.ContainsFunc(word, func(c rune) bool { return unicode.IsDigit(c) || strings.ContainsRune("/\\.@#*=<>{}", c) })
}

// gist is what a text says without values and words that say nothing.
func gist(text string) string {
	words := slices.DeleteFunc(strings.Fields(text), isValue)
	return strings.Join(slices.DeleteFunc(wordsOf(strings.Join(words, " ")), empty), " ")
}

// stem takes the commonest English endings off; what remains need not be a word.
func stem(word string) string {
	if rest, ok := strings.CutSuffix(word, "ies"); ok && len(rest) >= 3 {
		return rest + "y"
	}
	for _, ending := range []string{"ing", "ed", "es", "s"} {
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) >= 3 && !strings.HasSuffix(rest, "s") {
			return strings.TrimSuffix(rest, "e")
		}
	}
	if len(word) > 3 {
		return strings.TrimSuffix(word, "e")
	}
	return word
}

// empty reports whether a stem says nothing of what is meant.
func empty(stem string) bool {
	switch stem {
	case "a", "an", "the", "to", "of", "for", "with", "in", "on", "at", "by", "from", "about", "me", "my", "i", "we", "you", "it", "is", "are", "be",
		"this", "that", "ther", "pleas", "can", "could", "want", "would", "lik", "and", "or", "which", "what", "who", "do", "call", "nam":
		return true
	}
	return false
}

// Spaced writes a name as words, as people would say it.
func Spaced(name string) string { return normal(name) }

// spaced writes a name as words: cancelOrder and cancel_order are "cancel order".
func spaced(name string) string {
	var b strings.Builder
	lower := false
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			b.WriteByte(' ')
		case unicode.IsUpper(c) && lower:
			b.WriteByte(' ')
			b.WriteRune(c)
		default:
			b.WriteRune(c)
		}
		lower = unicode.IsLower(c)
	}
	return b.String()
}

// normal is a text as it is compared with others that should say the same.
func normal(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(spaced(text)), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }), " ")
}

// summary is the beginning of a description, for lists: its first line, and of a long one the first sentence.
func summary(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if sentence, _, more := strings.Cut(line, ". "); more && len(line) > maxSummary {
		line = sentence + "."
	}
	return cut.After(line, maxSummary)
}

const maxSummary = 120

// named is what contexts and commands of a folder may be called.
func named(name string) bool {
	for i, c := range name {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || c != '-' && c != '.' && !unicode.IsDigit(c)) {
			return false
		}
	}
	return name != ""
}

// shown writes what cannot be seen, and what changes how the rest is seen, by its number.
func shown(text string) string {
	if !strings.ContainsFunc(text, unseen) {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		if unseen(c) {
			fmt.Fprintf(&b, "\\u%04x", c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

func unseen(c rune) bool { return !unicode.IsPrint(c) && c != '\t' }

// maxInline is how long a value may be, in characters, to stand within a sentence, and foldAt how wide the lines of a
// longer one are.
const (
	maxInline = 60
	foldAt    = 100
)
