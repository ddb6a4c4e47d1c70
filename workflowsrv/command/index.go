package command

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/find"
)

// An index finds the commands that an instruction may mean. What it knows counts together, each from 0 to 1:
//
// How much of what the instruction says is in the name, the description, the parameters and the utterances of the
// command, each word by how rare it is: the score of the finder of tools ([find.Index.Fit]), which is told what else
// words and phrases are said for. A word that no command has counts as a rare one, so that an instruction about
// something else stays low.
//
// How like the nearest of its utterances and names the command is in letters: the cosine of sequences of three and four
// of them (TF-IDF), which survives slips and endings.
//
// Whether what is wanted done is what the command does, and whether the values that stand in the instruction are such
// as it takes.
type index struct {
	docs    map[*Command]*doc
	said    *find.Index
	meaning *meaning

	seeds  int                     // how many there are
	grams  map[string]float64      // the weight of each sequence of letters
	rare   float64                 // the weight of one that no seed has
	within map[string][]occurrence // where it is
}

// A doc is a command as the index sees it.
type doc struct {
	at          int    // among what the finder was given
	does        action // what it does
	name        []string
	deprecated  bool
	first, last int // its seeds: those from first to before last
}

// An occurrence is a sequence of letters in a seed, with its part of it.
type occurrence struct {
	seed   int
	weight float64
}

func newIndex(w *Workflow) *index {
	ix := &index{docs: map[*Command]*doc{}, grams: map[string]float64{}, within: map[string][]occurrence{}, meaning: newMeaning()}
	var seeds [][]string
	var servers []find.Server
	n := 0
	add := func(context string, list []*Command) {
		s := find.Server{Name: spaced(context)}
		if at := w.contexts[context]; at != nil {
			s.Description = at.Description
		}
		for _, c := range list {
			s.Entries = append(s.Entries, find.Entry{Name: spaced(c.Leaf), Description: c.Description, Schema: c.Schema, Said: append(c.enums(), c.Utterances...)})
			d := &doc{at: n, first: len(seeds), does: ix.meaning.done(c),
				name: find.Words(spaced(c.Leaf)), deprecated: strings.Contains(strings.ToLower(summary(c.Description)), "deprecated")}
			n++
			for _, text := range c.seeds() {
				seeds = append(seeds, wordsOf(text))
			}
			d.last = len(seeds)
			ix.docs[c] = d
		}
		servers = append(servers, s)
	}
	for _, context := range sortedKeys(w.own) {
		if len(w.own[context]) > 0 {
			add(context, w.own[context])
		}
	}
	var core []*Command
	for _, name := range coreNames() {
		core = append(core, w.commands[name])
	}
	add("", core)
	ix.said = find.New(slices.Values(servers))
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

// enums are the values that parameters of the command are limited to.
func (c *Command) enums() []string {
	var list []string
	for i := range c.Params {
		list = append(list, enumTexts(c.Params[i].schema)...)
	}
	return list
}

// A candidate is a command with how well it fits, from 0 to 1.
type candidate struct {
	visible
	score float64
	named float64 // how much of its name the instruction says
}

// What each of the measures counts for; see TestQuality for where they come from.
const (
	bySaid   = 0.6
	byAlike  = 0.2
	byAction = 0.06
	byValues = 0.15
	byName   = 0.07
	byForm   = 0.06
	// of the score of a core command and of one that says it is not to be used any more
	ofCore       = 0.75
	ofDeprecated = 0.8
)

// find gives the commands among those that are there which fit best, the best first.
func (ix *index) find(query string, at Path, among []visible) []candidate {
	terms := ix.meaning.terms(query, ix.said.Knows)
	fit := ix.said.Fit(terms)
	like := ix.alike(ix.known(query))
	wanted, values := ix.meaning.wanted(query), readGiven(query)
	var list []candidate
	for _, a := range among {
		d := ix.docs[a.command]
		if d == nil || a.command.Name == Abort {
			continue // giving up is said by its name
		}
		named := nameSaid(d.name, terms)
		score := bySaid*fit[d.at] + byAlike*slices.Max(like[d.first:d.last])
		if score > 0 {
			score += byAction*agree(wanted, d.does) + byValues*values.evidence(a.command, at[:a.depth]) +
				byName*named + byForm*sameForm(query, a.command.Leaf, d.does)
		}
		if a.command.core {
			score *= ofCore
		}
		if d.deprecated {
			score *= ofDeprecated
		}
		// Sums over a map differ in their last digits from one call to the next.
		if score = math.Round(score*1000) / 1000; score > 0 {
			list = append(list, candidate{a, score, named})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return list
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

// vector gives the weights of the sequences of letters of words; its length is 1. A sequence that the index does not
// know weighs as much as one that occurs once.
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

// gramsOf counts the sequences of three and four letters of words with blanks around them.
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

// known gives the words of an instruction without those of values that no command has: that they are unknown says
// nothing.
func (ix *index) known(query string) []string {
	var list []string
	for _, field := range strings.Fields(query) {
		for _, word := range wordsOf(field) {
			if !isValue(field) || ix.said.Knows(word) {
				list = append(list, word)
			}
		}
	}
	return list
}

// vocabulary are the words of an instruction that say which command is meant, and are no values.
func (c *Command) vocabulary() map[string]bool {
	words := map[string]bool{}
	for _, seed := range c.seeds() {
		for _, word := range wordsOf(seed) {
			words[word] = true
		}
	}
	return words
}
