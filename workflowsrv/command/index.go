package command

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// An index finds the commands that an instruction has words in common with. It
// knows two measures, both from 0 to 1, and weighs them:
//
// How much of what the instruction says is in the name, the description, the
// parameters and the utterances of the command, each word by how rare it is
// (BM25 against the most that could be reached). A word that no command has
// counts as a rare one, so that an instruction about something else stays low.
//
// How like the nearest of its utterances and names the command is in letters:
// the cosine of sequences of three and four of them (TF-IDF), which survives
// slips and endings.
type index struct {
	docs map[*Command]*doc
	df   map[string]int // commands that have the word
	mean float64        // words a command

	seeds  int                     // how many there are
	grams  map[string]float64      // the weight of each sequence of letters
	rare   float64                 // the weight of one that no seed has
	within map[string][]occurrence // where it is
}

// A doc is a command as the index sees it.
type doc struct {
	words       map[string]float64
	size        float64
	first, last int // its seeds: those from first to before last
}

// An occurrence is a sequence of letters in a seed, with its part of it.
type occurrence struct {
	seed   int
	weight float64
}

func newIndex(w *Workflow) *index {
	ix := &index{docs: map[*Command]*doc{}, df: map[string]int{}, grams: map[string]float64{}, within: map[string][]occurrence{}}
	var seeds [][]string
	weights := partWeights()
	for _, c := range w.Commands {
		d := &doc{words: map[string]float64{}, first: len(seeds)}
		for i, part := range c.prose() {
			for _, word := range wordsOf(part) {
				d.words[word] += weights[i]
				d.size += weights[i]
			}
		}
		for word := range d.words {
			ix.df[word]++
		}
		for _, text := range c.seeds() {
			seeds = append(seeds, wordsOf(text))
		}
		d.last = len(seeds)
		ix.docs[c] = d
		ix.mean += d.size
	}
	ix.mean /= max(1, float64(len(w.Commands)))
	ix.sow(seeds)
	return ix
}

// sow takes the texts that an instruction may be like, as words.
func (ix *index) sow(seeds [][]string) {
	ix.seeds = len(seeds)
	for _, words := range seeds {
		for g := range gramsOf(words) {
			ix.grams[g]++
		}
	}
	for g, n := range ix.grams {
		ix.grams[g] = math.Log(1 + float64(len(seeds))/n)
	}
	ix.rare = math.Log(1 + float64(len(seeds)))
	for i, words := range seeds {
		for g, weight := range ix.vector(words) {
			ix.within[g] = append(ix.within[g], occurrence{i, weight})
		}
	}
}

// seeds are the texts that an instruction may be like as a whole.
func (c *Command) seeds() []string {
	return append([]string{spaced(c.Leaf), summary(c.Description)}, c.Utterances...)
}

// prose is everything that is said about the command: its name, description,
// utterances and parameters.
func (c *Command) prose() [4]string {
	var params []string
	for _, p := range c.Params {
		params = append(params, spaced(p.Name), p.Description, strings.Join(enumTexts(p.schema), " "))
	}
	return [4]string{spaced(c.Name), c.Description, strings.Join(c.Utterances, "\n"), strings.Join(params, "\n")}
}

// What a word counts in each part of the prose. A name and a description are
// chosen to tell commands apart; utterances repeat what all have in common.
func partWeights() [4]float64 { return [4]float64{3, 2, 0.75, 0.5} }

// A candidate is a command with how well it fits, from 0 to 1.
type candidate struct {
	visible
	score float64
}

// find gives the commands among those that are there which fit best, the best first.
func (ix *index) find(query string, among []visible) []candidate {
	words := ix.known(query)
	like := ix.alike(words)
	var list []candidate
	for _, a := range among {
		d := ix.docs[a.command]
		if d == nil {
			continue // core commands do not compete
		}
		score := byWords*ix.covered(words, d) + (1-byWords)*slices.Max(like[d.first:d.last])
		// Sums over a map differ in their last digits from one call to the next.
		if score = math.Round(score*1000) / 1000; score > 0 {
			list = append(list, candidate{a, score})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return list
}

// The usual parameters of BM25, and how much of the score is its.
const (
	k1      = 1.2
	kb      = 0.75
	byWords = 0.7
)

func (ix *index) covered(words []string, d *doc) float64 {
	var got, most float64
	n := float64(len(ix.docs))
	for _, word := range telling(words) {
		df := float64(ix.df[word])
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		most += idf * (k1 + 1)
		if tf := d.words[word]; tf > 0 {
			got += idf * tf * (k1 + 1) / (tf + k1*(1-kb+kb*d.size/ix.mean))
		}
	}
	if most == 0 {
		return 0
	}
	return got / most
}

// alike says how like each seed the words are in letters.
func (ix *index) alike(words []string) []float64 {
	like := make([]float64, ix.seeds)
	for g, weight := range ix.vector(words) {
		for _, o := range ix.within[g] {
			like[o.seed] += weight * o.weight
		}
	}
	return like
}

// vector gives the weights of the sequences of letters of words; its length is
// 1. Those that the index does not know weigh as much as those that occur once.
func (ix *index) vector(words []string) map[string]float64 {
	v := map[string]float64{}
	sum := 0.0
	for g, n := range gramsOf(words) {
		weight, known := ix.grams[g]
		if !known {
			weight = ix.rare
		}
		v[g] = float64(n) * weight
		sum += v[g] * v[g]
	}
	for g := range v {
		v[g] /= math.Sqrt(sum)
	}
	return v
}

// gramsOf counts the sequences of three and four letters of words with blanks
// around them.
func gramsOf(words []string) map[string]int {
	counts := map[string]int{}
	runes := []rune(" " + strings.Join(words, " ") + " ")
	for n := 3; n <= 4; n++ {
		for i := 0; i+n <= len(runes); i++ {
			counts[string(runes[i:i+n])]++
		}
	}
	return counts
}

// known gives the words of an instruction without those of values that no
// command has: that they are unknown says nothing.
func (ix *index) known(query string) []string {
	var list []string
	for _, field := range strings.Fields(query) {
		for _, word := range wordsOf(field) {
			if !isValue(field) || ix.df[word] > 0 {
				list = append(list, word)
			}
		}
	}
	return list
}
