package find

import (
	"bytes"
	"hash/maphash"
	"iter"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// table numbers words. They stand behind one another in one text, and are found by a hash, which nobody can foresee who
// would choose words for it.
type table struct {
	text  []byte
	all   []word
	seed  maphash.Seed
	slots []uint32 // numbers of words, plus one, each at its hash or the next free place; their count is a power of two
}

// word is what is known of one.
type word struct {
	from, to uint32 // in the text
	docs     uint32 // how many have it
	end      uint32 // of its postings; they begin where those of the word before it end
	grams    uint64 // a bit for each three letters in a row
}

// at gives a word.
func (t *table) at(number uint32) []byte { return t.text[t.all[number].from:t.all[number].to] }

// find looks for a word.
func (t *table) find(w []byte) (number uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	for i := maphash.Bytes(t.seed, w); ; i++ {
		n := t.slots[i&uint64(len(t.slots)-1)]
		if n == 0 {
			return 0, false
		}
		if string(t.at(n-1)) == string(w) {
			return n - 1, true
		}
	}
}

// number gives the number of a word, which is a new one if it was not there.
func (t *table) number(w []byte) uint32 {
	if n, ok := t.find(w); ok {
		return n
	}
	if len(t.slots) < 2*(len(t.all)+1) {
		t.slots = make([]uint32, max(64, 2*len(t.slots)))
		for n := range t.all {
			t.place(uint32(n))
		}
	}
	from := len(t.text)
	t.text = append(t.text, w...)
	t.all = append(t.all, word{from: uint32(from), to: uint32(len(t.text)), grams: gramSet(w)})
	n := uint32(len(t.all) - 1)
	t.place(n)
	return n
}

func (t *table) place(n uint32) {
	i := maphash.Bytes(t.seed, t.at(n))
	for t.slots[i&uint64(len(t.slots)-1)] != 0 {
		i++
	}
	t.slots[i&uint64(len(t.slots)-1)] = n + 1
}

// trim gives back what was kept for more words.
func (t *table) trim() {
	t.text, t.all = slices.Clip(slices.Clone(t.text)), slices.Clip(slices.Clone(t.all))
}

// grams gives all three letters in a row of a word.
func grams(w []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for from := range w {
			to := from
			for n := 0; n < 3 && utf8.RuneStart(w[from]); n++ {
				if to == len(w) {
					return
				}
				_, size := utf8.DecodeRune(w[to:])
				to += size
			}
			if to > from && !yield(w[from:to]) {
				return
			}
		}
	}
}

// gramSet gives a bit for each gram of a word; a few grams share one.
func gramSet(w []byte) (set uint64) {
	for g := range grams(w) {
		var sum uint32
		for _, c := range g {
			sum = (sum ^ uint32(c)) * 0x9e3779b1
		}
		set |= 1 << (sum >> 26)
	}
	return set
}

// near gives the words that share more than half of their grams with w, and how large the part is.
func (t *table) near(w []byte, give func(number uint32, share float64)) {
	own, set := slices.Collect(grams(w)), gramSet(w)
	doubles := len(own) - bits.OnesCount64(set) // grams that share a bit
	for n := range t.all {
		most, least := bits.OnesCount64(set&t.all[n].grams)+doubles, bits.OnesCount64(t.all[n].grams)
		if 4*most <= len(own)+least {
			continue
		}
		other, shared := t.at(uint32(n)), 0
		for _, g := range own {
			if bytes.Contains(other, g) {
				shared++
			}
		}
		if both := len(own) + max(0, utf8.RuneCount(other)-2); 4*shared > both {
			give(uint32(n), 2*float64(shared)/float64(both))
		}
	}
}
