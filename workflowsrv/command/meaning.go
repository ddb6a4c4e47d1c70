package command

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-workbench/workbench/internal/find"
)

// meaning is what words say, for one index.
type meaning struct {
	phrases map[string]string
	longest int // words of a phrase
	alike   map[string][]find.Like
	actions map[string]action
}

func newMeaning() *meaning {
	m := &meaning{phrases: map[string]string{}, alike: map[string][]find.Like{}, actions: actions()}
	for phrase, words := range phrases() {
		m.phrases[phrase] = words
		m.longest = max(m.longest, len(strings.Fields(phrase)))
	}
	verbs, nouns := alikes()
	m.relate(verbs, verbWeight)
	m.relate(nouns, nounWeight)
	return m
}

func (m *meaning) relate(groups []string, weight float64) {
	for _, group := range groups {
		words := find.Words(group)
		for _, a := range words {
			for _, b := range words {
				if a != b {
					m.alike[a] = append(m.alike[a], find.Like{Word: b, Weight: weight})
				}
			}
		}
	}
}

// What a word counts for another one of its group, or of a phrase, and one that only asks to be shown something.
const (
	verbWeight   = 0.5
	nounWeight   = 0.7
	phraseWeight = 1
	showWeight   = 0.4
	fillerWeight = 0.3
)

// words cuts an instruction at blanks, with contractions written in full.
func instructionWords(query string) []string {
	return strings.Fields(strings.NewReplacer("'s ", " is ", "’s ", " is ", "n't", " not", "n’t", " not", "'re ", " are ").Replace(query))
}

// terms reads an instruction: each word with those of its group, and what its phrases and the looks of its values say.
func (m *meaning) terms(query string, knows func(string) bool) []find.Term {
	var list []find.Term
	seen := map[string]bool{}
	add := func(t find.Term) {
		if !seen[t.Word] {
			seen[t.Word] = t.Word != ""
			list = append(list, t)
		}
	}
	fields := instructionWords(query)
	for i := 0; i < len(fields); i++ {
		if words, n := m.phrase(fields[i:]); n > 0 {
			var like []find.Like
			known := false
			for _, w := range find.Words(words) {
				like, known = append(like, find.Like{Word: w, Weight: phraseWeight}), known || knows(w)
			}
			add(find.Term{Like: like, Weight: 1, Aside: !known})
			i += n - 1
			continue
		}
		plainWord, value := normal(fields[i]), isValue(fields[i])
		for _, word := range find.Words(fields[i]) {
			if value && !knows(word) {
				continue
			}
			t := find.Term{Word: word, Like: m.alike[word], Weight: 1}
			t.Aside = value || i > 0 && (isName(fields[i]) || fields[i-1] == "called" || fields[i-1] == "named") && !knows(word) || filler(plainWord)
			switch {
			case filler(plainWord):
				t.Weight = fillerWeight
			case m.actions[stem(plainWord)] == look:
				t.Weight = showWeight
			}
			add(t)
		}
		for _, word := range looksLike(fields[i]) {
			for _, w := range find.Words(word) {
				add(find.Term{Word: w, Weight: 1, Aside: true})
			}
		}
	}
	return list
}

// phrase finds the longest phrase that words begin with.
func (m *meaning) phrase(fields []string) (words string, n int) {
	for n := min(m.longest, len(fields)); n > 0; n-- {
		if words, ok := m.phrases[normal(strings.Join(fields[:n], " "))]; ok {
			return words, n
		}
	}
	return "", 0
}

// isName reports whether a word is written as the name of somebody or something.
func isName(word string) bool {
	r := []rune(strings.Trim(word, ",.;:!?()\"'"))
	return len(r) > 1 && unicode.IsUpper(r[0]) && !unicode.IsUpper(r[1])
}

// filler reports whether a word shapes a sentence and is no part of what it is about.
func filler(word string) bool {
	switch word {
	case "do", "does", "did", "have", "has", "had", "was", "were", "been", "am", "will", "would", "could", "should", "shall", "may", "might", "must", "need",
		"want", "wants", "like", "some", "any", "so", "then", "now", "not", "no", "s", "t", "us", "our", "they", "them", "their", "he", "she", "him", "his", "her",
		"these", "those", "here", "just", "also", "too", "up", "out", "off", "down", "over", "into", "onto", "if", "but", "let", "lets", "please", "called", "named",
		"new", "who", "when", "where", "why", "which", "whose", "one", "thing", "things", "about", "got", "go", "going", "right", "after", "before", "again", "much", "many", "more", "very", "give", "tell", "every", "each", "own", "both", "there", "than", "only", "don", "doesn", "isn", "hey", "hello", "thanks", "today":
		return true
	}
	return false
}

// looksLike gives words for what a value looks like.
func looksLike(field string) []string {
	v := strings.Trim(field, ",;:!?()\"'")
	low := strings.ToLower(strings.TrimRight(v, "."))
	switch {
	case strings.Contains(low, "://"):
		return []string{"url", "link"}
	case strings.Count(low, "@") == 1 && low[0] != '@':
		return []string{"mail", "email", "address"}
	}
	if strings.Count(low, ".") == 3 && strings.Trim(low, "0123456789.") == "" {
		return []string{"ip", "address"}
	}
	end := low[strings.LastIndexByte(low, '.')+1:]
	if ok := end != "" && len(end) < len(low)-1; ok && !strings.ContainsAny(end, "/0123456789") || ok && (end == "mp3" || end == "mp4") {
		switch end {
		case "png", "jpg", "jpeg", "gif", "svg", "webp", "mp3", "mp4", "wav":
			return []string{"file", "image", "media"}
		case "com", "org", "net", "io", "dev", "info":
			return []string{"domain", "url"}
		case "xlsx", "xls", "ods":
			return []string{"file", "sheet", "excel"}
		}
		if slices.Contains([]string{"txt", "md", "json", "yaml", "yml", "csv", "log", "ini", "toml", "xml", "html", "go", "py", "js", "ts", "sh", "sql"}, end) {
			return []string{"file", "path", "text"}
		}
		if len(end) <= 5 {
			return []string{"file", "path"}
		}
	}
	if strings.Count(low, "/") == 1 && low[0] != '/' && low[len(low)-1] != '/' && !strings.ContainsAny(low, ".") {
		return []string{"repository", "path"}
	}
	if strings.Contains(low, "/") {
		return []string{"path", "directory"}
	}
	return nil
}

// wanted is what an instruction wants done, 0 if no word says. What begins with a name and says no verb states a fact,
// which is to be kept.
func (m *meaning) wanted(query string) action {
	fields := instructionWords(query)
	first := true
	for i := 0; i < len(fields); i++ {
		if words, n := m.phrase(fields[i:]); n > 0 {
			for _, word := range strings.Fields(words) {
				if a := m.actions[stem(word)]; a != 0 {
					return a
				}
			}
			first, i = false, i+n-1
			continue
		}
		word := normal(fields[i])
		if first && polite(word) {
			continue
		}
		if a := m.actions[stem(word)]; a != 0 && (first || !asking(word)) {
			return a
		}
		first = false
	}
	if len(fields) > 1 && isName(fields[0]) {
		return create | change
	}
	return 0
}

// polite reports whether a word may stand before what is wanted.
func polite(word string) bool {
	return slices.Contains([]string{"please", "can", "could", "you", "would", "i", "we", "want", "to", "need", "like", "let", "lets", "us", "me", "the", "a", "just", "now", "hey", "ok", "and", "d", "ll", "s", "also", "then"}, word)
}

// asking reports whether a word asks where it stands first, and says nothing of what is wanted elsewhere.
func asking(word string) bool {
	return slices.Contains([]string{"what", "which", "who", "when", "how", "where", "is", "are", "do", "does", "did", "has", "have", "any", "anything", "was", "were", "back", "up", "end", "order"}, word)
}

// done is what a command does, 0 if no word says.
func (m *meaning) done(c *Command) action {
	for _, word := range wordsOf(spaced(c.Leaf)) {
		if a := m.actions[word]; a != 0 {
			return a
		}
	}
	for i, word := range wordsOf(summary(c.Description)) {
		if a := m.actions[word]; a != 0 && i < 3 {
			return a
		}
	}
	switch c.Effect {
	case Read:
		return look | seek
	case Navigate:
		return travel
	case Write:
		return create | change | remove
	case External:
		return tell
	}
	return 0
}

// agree says how well what is wanted goes with what is done: from -1 to 1.
func agree(wanted, done action) float64 {
	const looking = look | seek
	switch {
	case wanted == 0 || done == 0:
		return 0
	case wanted&done&^looking != 0, wanted == done, wanted&done != 0 && wanted&^looking == 0:
		return 1
	case wanted&done != 0:
		return 0.5
	case wanted&looking != 0 && done&looking != 0:
		return 0.5
	case wanted&looking == wanted || done&looking == done:
		return -1
	}
	return -0.3
}

// sameForm says whether a name has the nouns of an instruction in the same number: which tickets there are is for
// list_tickets, what is in a ticket is for show_ticket. A command that looks for something has its nouns in any number.
func sameForm(query, name string, does action) float64 {
	words := strings.Fields(strings.ToLower(spaced(name)))
	for _, said := range strings.Fields(normal(query)) {
		if len(said) >= minNoun && slices.Contains(words, said) {
			return 1
		}
	}
	if does&seek == 0 && otherNumber(query, name) {
		return -1
	}
	return 0
}

// otherNumber reports whether a text has a word of an instruction in the other number.
func otherNumber(query, text string) bool {
	words := strings.Fields(strings.ToLower(spaced(text)))
	return slices.ContainsFunc(strings.Fields(normal(query)), func(said string) bool {
		return len(said) >= minNoun && !slices.Contains(words, said) && slices.ContainsFunc(words, func(word string) bool {
			return stem(said) == stem(word) && strings.HasSuffix(said, "s") != strings.HasSuffix(word, "s")
		})
	})
}

// minNoun is how long a word must be for its number to say something.
const minNoun = 4

// nameSaid says how much of the name of a command, as words, the terms of an instruction say.
func nameSaid(words []string, terms []find.Term) float64 {
	if len(words) == 0 {
		return 0
	}
	sum := 0.0
	for _, word := range words {
		most := 0.0
		for _, t := range terms {
			if t.Word == word {
				most = 1
			}
			for _, like := range t.Like {
				if like.Word == word {
					most = max(most, like.Weight)
				}
			}
		}
		sum += most
	}
	return sum / float64(len(words))
}
