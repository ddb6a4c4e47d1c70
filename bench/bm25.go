package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-workbench/workbench/internal/find"
)

// bm25 ranks tools by the words of name and description alone, as search engines do with documents: what the finder is
// to beat.
type bm25 struct {
	names  []string // SERVER/TOOL
	counts []map[string]int
	length []int
	mean   float64
	docs   map[string]int // how many have a word
}

func newBM25(servers []find.Server) *bm25 {
	b := &bm25{docs: make(map[string]int)}
	total := 0
	for _, s := range servers {
		for _, e := range s.Entries {
			counts := make(map[string]int)
			words := plainWords(e.Name + " " + e.Description)
			for _, w := range words {
				counts[w]++
			}
			for w := range counts {
				b.docs[w]++
			}
			b.names = append(b.names, s.Name+"/"+e.Name)
			b.counts = append(b.counts, counts)
			b.length = append(b.length, len(words))
			total += len(words)
		}
	}
	b.mean = float64(total) / float64(max(1, len(b.names)))
	return b
}

// plainWords cuts a text where it has no letter or digit, and where a small letter is before a capital one.
func plainWords(text string) []string {
	var b strings.Builder
	small := false
	for _, r := range text {
		if small && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		small = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// best gives the first tools for a query.
func (b *bm25) best(query string, most int) (names []string) {
	const k1, long = 1.2, .75
	scores := make([]float64, len(b.names))
	for _, w := range plainWords(query) {
		n := float64(b.docs[w])
		rarity := math.Log(1 + (float64(len(b.names))-n+.5)/(n+.5))
		for i := range scores {
			if tf := float64(b.counts[i][w]); tf > 0 {
				scores[i] += rarity * tf * (k1 + 1) / (tf + k1*(1-long+long*float64(b.length[i])/b.mean))
			}
		}
	}
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	for _, i := range order[:min(most, len(order))] {
		names = append(names, b.names[i])
	}
	return names
}
