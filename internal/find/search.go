package find

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// Hit is an entry that answers a query, or a server without entries (Entry is -1).
type Hit struct {
	Server, Entry int // indexes into what New was given
	Score         float64
}

// Word says what one word of a query adds to the score of an entry.
type Word struct {
	Query  string   // the word as it is compared
	Found  string   // the word that stands there: the same, one that means the same, or one with nearly its letters
	Fields []string // where it stands
	Score  float64
}

const (
	otherWord  = .3 // what a word of the same meaning counts for
	nearWord   = .3 // what a word of nearly the same letters counts for
	fromServer = .4 // what the score of a server adds to each of its entries
)

// reading is a word of the index that a word of the query is taken for.
type reading struct {
	number uint32
	weight float64
}

// posting says how much an entry has of a word.
type posting struct {
	doc    int32
	fields uint8 // a bit for each field that has it
	weight uint8
}

// each gives the postings of a word.
func (x *Index) each(number uint32, give func(posting)) {
	from := uint32(0)
	if number > 0 {
		from = x.words.all[number-1].end
	}
	rest := x.postings[from:x.words.all[number].end]
	doc := int32(0)
	for len(rest) > 0 {
		v, n := binary.Uvarint(rest)
		doc += int32(v >> fields)
		give(posting{doc, uint8(v & (1<<fields - 1)), rest[n]})
		rest = rest[n+1:]
	}
}

// score is what a word of the query adds to an entry that has the word it is taken for.
func (r reading) score(rarity float64, p posting) float64 {
	return r.weight * rarity * float64(p.weight) / 255
}

// readings gives the words of the index that a word of the query may mean.
func (x *Index) readings(w string) []reading {
	var out []reading
	number, ok := x.words.find([]byte(w))
	if ok {
		out = append(out, reading{number, 1})
	}
	for _, other := range x.synonyms[w] {
		if n, ok := x.words.find([]byte(other)); ok {
			out = append(out, reading{n, otherWord})
		}
	}
	if ok || len([]rune(w)) < 4 {
		return out
	}
	x.words.near([]byte(w), func(n uint32, share float64) { out = append(out, reading{n, nearWord * share}) })
	slices.SortFunc(out, func(a, b reading) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.number, b.number))
	})
	return out
}

// rarity is how much a word says, by how few entries have it.
func (x *Index) rarity(number uint32) float64 {
	n := float64(x.words.all[number].docs)
	return math.Log(1 + (float64(len(x.docs))-n+.5)/(n+.5))
}

// Search gives every entry of each server that has to do with the query, best first. The same query and the same servers
// give the same hits.
func (x *Index) Search(query string) []Hit {
	scores := x.scores(query)
	keys := make([]uint64, 0, len(x.docs)) // scores, and docs the other way round, so that the first of equals comes first
	for _, of := range x.of {
		var first, second float32 // which make the score of their server
		for _, s := range scores[of[0]:of[1]] {
			first, second = max(first, s), max(second, min(first, s))
		}
		if first == 0 {
			continue
		}
		whole := first + second
		for d := of[0]; d < of[1]; d++ {
			keys = append(keys, uint64(math.Float32bits(scores[d]+fromServer*whole))<<32|uint64(^uint32(d)))
		}
	}
	slices.Sort(keys)
	slices.Reverse(keys)
	hits := make([]Hit, len(keys))
	for i, key := range keys {
		d := x.docs[^uint32(key)]
		hits[i] = Hit{Server: int(d.server), Entry: int(d.entry), Score: float64(math.Float32frombits(uint32(key >> 32)))}
	}
	return hits
}

// scores gives what the words of a query add to each doc.
func (x *Index) scores(query string) []float32 {
	scores := make([]float32, len(x.docs))
	best := make([]float32, len(x.docs)) // of one word of the query
	var touched []int32
	for _, w := range queryWords(query) {
		touched = touched[:0]
		for _, r := range x.readings(w) {
			rarity := x.rarity(r.number)
			x.each(r.number, func(p posting) {
				if best[p.doc] == 0 {
					touched = append(touched, p.doc)
				}
				best[p.doc] = max(best[p.doc], float32(r.score(rarity, p)))
			})
		}
		for _, d := range touched {
			scores[d] += best[d]
			best[d] = 0
		}
	}
	return scores
}

// Why says which words of a query an entry was found by, the one that counts most first.
func (x *Index) Why(query string, h Hit) []Word {
	at := x.of[h.Server][0] + int32(max(0, h.Entry))
	var why []Word
	for _, w := range queryWords(query) {
		var best Word
		for _, r := range x.readings(w) {
			rarity := x.rarity(r.number)
			x.each(r.number, func(p posting) {
				if s := r.score(rarity, p); p.doc == at && s > best.Score {
					best = Word{Query: w, Found: string(x.words.at(r.number)), Fields: labels(p.fields), Score: s}
				}
			})
		}
		if best.Score > 0 {
			why = append(why, best)
		}
	}
	slices.SortStableFunc(why, func(a, b Word) int { return cmp.Compare(b.Score, a.Score) })
	return why
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

func labels(set uint8) (out []string) {
	for f := range fields {
		if set&(1<<f) != 0 {
			out = append(out, weights[f].label)
		}
	}
	return out
}

// unknown is the rarity of a word that no entry has.
func (x *Index) unknown() float64 { return math.Log(1 + (float64(len(x.docs))+.5)/.5) }
