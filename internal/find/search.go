package find

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// Hit is an entry that answers a query, or a server without entries (Entry is -1).
type Hit struct {
	Server, Entry int // indexes into what New was given
	Score         float64
	Voted         float64 // what a vote has added to it
}

// Word says what one word of a query adds to the score of an entry.
type Word struct {
	Query  string   // the word as it is compared
	Found  string   // the word that stands there: the same, one that means the same, or one with nearly its letters
	Fields []string // where it stands
	Score  float64
	Best   bool // it is of the clause of the query that the entry answers best, and counts more for that
}

const (
	otherWord  = .3 // what a word of the same meaning counts for
	nearWord   = .3 // what a word of nearly the same letters counts for
	fromServer = .4 // what the score of a server adds to each of its entries
	bestClause = .6 // what the best clause of a query adds once more
	fromVote   = .5 // what a whole vote adds, as a share of the best score
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

// Search gives every entry of each server that has to do with the query, best first. The same query and the same
// servers give the same hits.
func (x *Index) Search(query string) []Hit { return x.SearchVoted(query, nil) }

// SearchVoted is Search where others have a vote too, for each of the Texts one from 0 to 1; nil is none.
func (x *Index) SearchVoted(query string, votes []float32) []Hit {
	r := x.rank(query, votes)
	hits := make([]Hit, len(r.keys))
	for i := range hits {
		hits[i] = r.hit(i)
	}
	return hits
}

// ranking is what a search found. It is small, since nearly all of it is never looked at.
type ranking struct {
	x     *Index
	keys  []uint64 // scores, and docs the other way round, so that the first of equals comes first
	votes []float32
	added float32 // what a whole vote has added
}

func (r *ranking) hit(i int) Hit {
	key := r.keys[len(r.keys)-1-i]
	at := ^uint32(key)
	d := r.x.docs[at]
	h := Hit{Server: int(d.server), Entry: int(d.entry), Score: float64(math.Float32frombits(uint32(key >> 32)))}
	if r.votes != nil {
		h.Voted = float64(r.added * r.votes[at])
	}
	return h
}

func (x *Index) rank(query string, votes []float32) ranking {
	scores := x.scores(query)
	r := ranking{x: x, keys: make([]uint64, 0, len(x.docs)), votes: votes, added: vote(scores, votes)}
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
			r.keys = append(r.keys, uint64(math.Float32bits(scores[d]+fromServer*whole))<<32|uint64(^uint32(d)))
		}
	}
	slices.Sort(r.keys)
	return r
}

// vote adds votes to scores, and gives what a whole one counts for. Where no word was found, the votes alone rank.
func vote(scores, votes []float32) (whole float32) {
	if votes == nil {
		return 0
	}
	if whole = fromVote * slices.Max(append([]float32{0}, scores...)); whole == 0 {
		whole = 1
	}
	for d, v := range votes {
		scores[d] += whole * v
	}
	return whole
}

// Unseen gives the numbers of the servers of which no entry is known, in their order.
func (x *Index) Unseen() (servers []int) {
	for _, d := range x.docs {
		if d.entry < 0 {
			servers = append(servers, int(d.server))
		}
	}
	return servers
}

// Texts says of each entry, server after server, what there is to know of it, for who gives it a vote.
func (x *Index) Texts() []string {
	texts := make([]string, len(x.docs))
	for i, d := range x.docs {
		s := &x.servers[d.server]
		var e Entry
		if d.entry >= 0 {
			e = x.told[d.server].entry(d.entry)
		}
		parts := []string{e.Name, e.Title, e.Description, s.Name, s.Title, s.Description}
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		text := strings.ToValidUTF8(strings.Join(parts, ". "), "")
		texts[i] = strings.ToValidUTF8(text[:min(len(text), maxVotedOn)], "")
	}
	return texts
}

// maxVotedOn is how long such a text is at most, in bytes.
const maxVotedOn = 1 << 10

// scores gives what a query adds to each doc: what its words add, and where it has several clauses, a share of what the
// best of them adds once more. What answers one clause whole is better than what has a word of each.
func (x *Index) scores(query string) []float32 {
	clauses := queryClauses(query)
	several := len(clauses) > 1
	scores := make([]float32, len(x.docs))
	best := make([]float32, len(x.docs)) // of one word of the query
	var part, top []float32              // of one clause, and of the best one
	if several {
		part, top = make([]float32, len(x.docs)), make([]float32, len(x.docs))
	}
	meant := make(map[string][]reading)
	touched := make([]int32, 0, len(x.docs))
	for _, words := range clauses {
		for _, w := range words {
			readings, again := meant[w]
			if !again {
				readings = x.readings(w)
				meant[w] = readings
			}
			touched = touched[:0]
			for _, r := range readings {
				rarity := x.rarity(r.number)
				x.each(r.number, func(p posting) {
					if best[p.doc] == 0 {
						touched = append(touched, p.doc)
					}
					best[p.doc] = max(best[p.doc], float32(r.score(rarity, p)))
				})
			}
			for _, d := range touched {
				if !again {
					scores[d] += best[d]
				}
				if several {
					part[d] += best[d]
				}
				best[d] = 0
			}
		}
		for d, s := range part {
			top[d] = max(top[d], s)
		}
		clear(part)
	}
	for d, s := range top {
		scores[d] += bestClause * s
	}
	return scores
}

// Why says which words of a query an entry was found by, the one that counts most first.
func (x *Index) Why(query string, h Hit) []Word {
	at := x.of[h.Server][0] + int32(max(0, h.Entry))
	clauses := queryClauses(query)
	var why []Word
	in := make(map[string]int) // where in why a word is
	top, bestOf := 0.0, -1
	for i, words := range clauses {
		sum := 0.0
		for _, w := range words {
			found := x.adds(w, at)
			if sum += found.Score; found.Score > 0 && !slices.ContainsFunc(why, func(v Word) bool { return v.Query == w }) {
				in[w] = len(why)
				why = append(why, found)
			}
		}
		if sum > top {
			top, bestOf = sum, i
		}
	}
	if len(clauses) > 1 && bestOf >= 0 {
		for _, w := range clauses[bestOf] {
			if i, ok := in[w]; ok {
				why[i].Best = true
				why[i].Score *= 1 + bestClause
			}
		}
	}
	slices.SortStableFunc(why, func(a, b Word) int { return cmp.Compare(b.Score, a.Score) })
	return why
}

// adds says what a word of a query adds to a doc.
func (x *Index) adds(w string, doc int32) (best Word) {
	for _, r := range x.readings(w) {
		rarity := x.rarity(r.number)
		x.each(r.number, func(p posting) {
			if s := r.score(rarity, p); p.doc == doc && s > best.Score {
				best = Word{Query: w, Found: string(x.words.at(r.number)), Fields: labels(p.fields), Score: s}
			}
		})
	}
	return best
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
