package find

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Server is a server as it is searched.
type Server struct {
	Toolbox, Name string
	Title         string // as it calls itself; may be empty
	Description   string // what is known of it: of its toolbox, and its own words
	// Entries are its tools, prompts and skills. A server without any, which was never seen, is found by what is said of it.
	Entries []Entry
}

// Entry is one thing that a server offers.
type Entry struct {
	Kind                     string // such as prompt; empty for a tool
	Name, Title, Description string
	Schema                   json.RawMessage // of the arguments; empty if there is none
}

// Label is the entry's name as it is shown.
func (e *Entry) Label() string {
	label := foreign.NewName(e.Name).String()
	if e.Kind != "" {
		label += " (" + e.Kind + ")"
	}
	return label
}

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

// field is a part of an entry.
type field uint8

const (
	name field = iota
	description
	server
	about
	parameters
	fields
)

// weights says what a word counts for in each field, and how much less it counts in a long one.
var weights = [fields]struct {
	label        string
	weight, long float64
}{
	name:        {"name", 3, .5},
	description: {"description", 1, .75},
	server:      {"server", 1, .3},
	about:       {"server's description", .5, .75},
	parameters:  {"parameters", .3, .75},
}

const (
	saturation = 1.2 // BM25's k1: how soon a word that stands there again counts no more
	otherWord  = .3  // what a word of the same meaning counts for
	nearWord   = .3  // what a word of nearly the same letters counts for
	nearEnough = .5  // the share of letters that makes it so
	fromServer = .4  // what the score of a server adds to each of its entries
	bestOf     = 2   // how many entries make the score of their server
)

// posting says how much an entry has of a word.
type posting struct {
	doc    int32
	fields uint8 // a bit for each field that has it
	weight float32
}

// doc is one entry.
type doc struct{ server, entry int32 }

// Index is what New made of servers.
type Index struct {
	servers  []Server
	docs     []doc
	of       [][2]int32 // the docs of each server: from, to
	postings map[string][]posting
	grams    map[string][]string // words by three letters in a row
	synonyms map[string][]string
}

// New reads servers and makes an index of them.
func New(servers []Server) *Index {
	x := &Index{servers: servers, postings: make(map[string][]posting), grams: make(map[string][]string), synonyms: synonyms()}
	type counts map[string]*[fields]float64
	var all []counts
	var lengths [][fields]float64
	var mean [fields]float64
	for i, s := range servers {
		from := int32(len(x.docs))
		entries := s.Entries
		if len(entries) == 0 {
			entries = []Entry{{}}
		}
		for j, e := range entries {
			if len(s.Entries) == 0 {
				j = -1
			}
			c, length := make(counts), [fields]float64{}
			read := func(f field, text string) {
				words(text, maxText, func(w string) {
					if c[w] == nil {
						c[w] = new([fields]float64)
					}
					c[w][f]++
					length[f]++
				})
			}
			read(name, e.Name)
			read(description, e.Title)
			read(description, e.Description)
			read(server, s.Toolbox)
			read(server, s.Name)
			read(server, s.Title)
			read(about, s.Description)
			parameterTexts(e.Schema, func(text string) { read(parameters, text) })
			x.docs = append(x.docs, doc{int32(i), int32(j)})
			all, lengths = append(all, c), append(lengths, length)
			for f := range fields {
				mean[f] += length[f]
			}
		}
		x.of = append(x.of, [2]int32{from, int32(len(x.docs))})
	}
	for f := range fields {
		mean[f] = max(1, mean[f]/float64(max(1, len(all))))
	}
	for d, c := range all {
		for w, n := range c {
			p := posting{doc: int32(d)}
			for f := range fields {
				if n[f] > 0 {
					p.fields |= 1 << f
					p.weight += float32(weights[f].weight * n[f] / (1 - weights[f].long + weights[f].long*lengths[d][f]/mean[f]))
				}
			}
			x.postings[w] = append(x.postings[w], p)
		}
	}
	for w := range x.postings {
		for _, g := range grams(w) {
			x.grams[g] = append(x.grams[g], w)
		}
	}
	for _, near := range x.grams {
		slices.Sort(near)
	}
	return x
}

// parameterTexts gives the names and descriptions of the parameters of a schema.
func parameterTexts(schema json.RawMessage, add func(text string)) {
	properties, err := wire.FindPath(schema, wire.Span{Start: 0, End: len(schema)}, "properties")
	if err != nil || !properties.Present() {
		return
	}
	for key, value := range wire.Members(schema, properties) {
		if name, ok := wire.Unquote(schema[key.Start:key.End]); ok {
			add(name)
		}
		if at, err := wire.FindPath(schema, value, "description"); err == nil && at.Present() {
			if text, ok := wire.Unquote(schema[at.Start:at.End]); ok {
				add(text)
			}
		}
	}
}

// grams are all three letters in a row of a word.
func grams(w string) []string {
	runes := []rune(w)
	var out []string
	for i := 0; i+3 <= len(runes); i++ {
		out = append(out, string(runes[i:i+3]))
	}
	return out
}

// reading is a word of the index that a word of the query is taken for.
type reading struct {
	word   string
	weight float64
}

// score is what a word of the query adds to an entry that has the word it is taken for.
func (r reading) score(rarity float64, p posting) float64 {
	return r.weight * rarity * float64(p.weight) / (float64(p.weight) + saturation)
}

// readings gives the words of the index that a word of the query may mean.
func (x *Index) readings(w string) []reading {
	var out []reading
	if len(x.postings[w]) > 0 {
		out = append(out, reading{w, 1})
	}
	for _, other := range x.synonyms[w] {
		if len(x.postings[other]) > 0 {
			out = append(out, reading{other, otherWord})
		}
	}
	if len(x.postings[w]) > 0 || len([]rune(w)) < 4 {
		return out
	}
	parts := grams(w)
	shared := make(map[string]int)
	for _, g := range parts {
		for _, other := range x.grams[g] {
			shared[other]++
		}
	}
	for other, n := range shared {
		if share := 2 * float64(n) / float64(len(parts)+len(grams(other))); share > nearEnough {
			out = append(out, reading{other, nearWord * share})
		}
	}
	slices.SortFunc(out, func(a, b reading) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.word, b.word))
	})
	return out
}

// rarity is how much a word says, by how few entries have it.
func (x *Index) rarity(w string) float64 {
	n := float64(len(x.postings[w]))
	return math.Log(1 + (float64(len(x.docs))-n+.5)/(n+.5))
}

// Search gives every entry of each server that has to do with the query, best first. The same query and the same servers
// give the same hits.
func (x *Index) Search(query string) []Hit {
	scores := make([]float64, len(x.docs))
	best := make([]float64, len(x.docs)) // of one word of the query
	for _, w := range queryWords(query) {
		var touched []int32
		for _, r := range x.readings(w) {
			rarity := x.rarity(r.word)
			for _, p := range x.postings[r.word] {
				s := r.score(rarity, p)
				if best[p.doc] == 0 {
					touched = append(touched, p.doc)
				}
				best[p.doc] = max(best[p.doc], s)
			}
		}
		for _, d := range touched {
			scores[d] += best[d]
			best[d] = 0
		}
	}
	var hits []Hit
	for i, of := range x.of {
		own := slices.Clone(scores[of[0]:of[1]])
		slices.Sort(own)
		var whole float64
		for _, s := range own[max(0, len(own)-bestOf):] {
			whole += s
		}
		if whole == 0 {
			continue
		}
		for d := of[0]; d < of[1]; d++ {
			hits = append(hits, Hit{Server: i, Entry: int(x.docs[d].entry), Score: scores[d] + fromServer*whole})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}

// Why says which words of a query an entry was found by, the one that counts most first.
func (x *Index) Why(query string, h Hit) []Word {
	at := x.of[h.Server][0] + int32(max(0, h.Entry))
	var why []Word
	for _, w := range queryWords(query) {
		var best Word
		for _, r := range x.readings(w) {
			for _, p := range x.postings[r.word] {
				if s := r.score(x.rarity(r.word), p); p.doc == at && s > best.Score {
					best = Word{Query: w, Found: r.word, Fields: labels(p.fields), Score: s}
				}
			}
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
	words(query, maxQuery, func(w string) {
		if !slices.Contains(out, w) {
			out = append(out, w)
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

// synonyms are words that authors of tools use for the same thing, as they are compared.
func synonyms() map[string][]string {
	table := make(map[string][]string)
	for _, group := range [][]string{
		{"issue", "ticket", "bug"}, {"repository", "repo"}, {"fetch", "get", "retrieve", "download", "read"},
		{"search", "find", "query", "lookup"}, {"create", "make", "add", "new"}, {"delete", "remove"},
		{"update", "edit", "modify", "change"}, {"folder", "directory"}, {"picture", "image", "photo"},
		{"chart", "graph", "plot", "diagram"}, {"execute", "run"}, {"website", "webpage", "url"}, {"movie", "film"},
		{"mail", "email"}, {"message", "chat"}, {"db", "database"}, {"shell", "terminal", "command"}, {"spreadsheet", "excel"},
		{"slide", "powerpoint", "presentation"}, {"save", "write", "store"}, {"convert", "transform"}, {"pr", "pull"},
	} {
		for _, a := range group {
			for _, b := range group {
				if a != b {
					table[stem(a)] = append(table[stem(a)], stem(b))
				}
			}
		}
	}
	return table
}
