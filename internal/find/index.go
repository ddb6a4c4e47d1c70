package find

import (
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"iter"
	"math/bits"
	"slices"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Server is a server as it is searched.
type Server struct {
	Toolbox, Name string
	Title         string // as it calls itself; may be empty
	Description   string // what is known of it: of its toolbox, and its own words
	// Entries are its tools, prompts and skills. A server without any, which was never seen, is found by what is said
	// of it.
	Entries []Entry
}

// Entry is one thing that a server offers.
type Entry struct {
	Kind                     string // such as prompt; empty for a tool
	Name, Title, Description string
	Schema                   json.RawMessage // of the arguments; empty if there is none
	Output                   json.RawMessage // schema of what it gives; empty if there is none
	URI                      string          // where it is read, which is told in place of the arguments; empty for what is called
	Said                     []string        // what people say when they want it
}

// Label is the entry's name as it is shown.
func (e *Entry) Label() string {
	label := foreign.NewName(e.Name).String()
	if e.Kind != "" {
		label += " (" + e.Kind + ")"
	}
	return label
}

// field is a part of an entry.
type field uint8

const (
	name field = iota
	description
	server
	about
	parameters
	said
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
	said:        {"what people say", .3, .5},
}

// doc is one entry; of a server without any, entry is -1.
type doc struct{ server, entry int32 }

// Index is what New made of servers. It has few and large pieces: postings are bytes, words stand in one text, and so
// do the entries of each server.
type Index struct {
	servers []Server // without their entries
	docs    []doc
	labels  []string   // of the docs
	told    []packed   // what else there is to tell of the entries of each server
	of      [][2]int32 // the docs of each server: from, to
	words   table
	// postings are those of each word after those of the word before it: what differs from the doc before it, in bits
	// above those of the fields that have the word, and what the word counts for there, as a byte.
	postings []byte
	synonyms map[string][]string
}

// New reads servers, one after the other, and makes an index of them. It keeps nothing of what they are made of but the
// names.
func New(servers iter.Seq[Server]) *Index {
	b := building{x: &Index{synonyms: synonyms(), words: table{seed: maphash.MakeSeed()}}}
	for s := range servers {
		b.add(&s)
	}
	b.finish()
	return b.x
}

// building is an index in the making. What the docs say is kept in bytes until all are read: what a word counts for
// hangs on how long the others are.
type building struct {
	x      *Index
	reader reader
	buffer []byte
	tokens []uint32 // of one doc: words and fields
	lengths,
	sums [fields]int
	stream []byte // of each doc how many words and how long its fields, and of each word what word, its fields and how often
}

// fieldBits are the bits of a token that say which field it is of.
const fieldBits = 3

func (b *building) read(f field, text string) {
	b.reader.words(text, maxText, func(w []byte) {
		b.tokens = append(b.tokens, b.x.words.number(w)<<fieldBits|uint32(f))
		b.lengths[f]++
	})
}

// add reads a server.
func (b *building) add(s *Server) {
	from, i := int32(len(b.x.docs)), int32(len(b.x.servers))
	for j := range s.Entries {
		b.doc(s, &s.Entries[j])
		b.x.docs = append(b.x.docs, doc{i, int32(j)})
		b.x.labels = append(b.x.labels, s.Entries[j].Label())
	}
	if len(s.Entries) == 0 {
		b.doc(s, &Entry{})
		b.x.docs = append(b.x.docs, doc{i, -1})
		b.x.labels = append(b.x.labels, "")
	}
	b.x.of = append(b.x.of, [2]int32{from, int32(len(b.x.docs))})
	var told packed
	told, b.buffer = pack(s.Entries, b.buffer)
	b.x.told = append(b.x.told, told)
	kept := *s
	kept.Entries = nil
	b.x.servers = append(b.x.servers, kept)
}

// doc reads an entry of a server.
func (b *building) doc(s *Server, e *Entry) {
	b.tokens, b.lengths = b.tokens[:0], [fields]int{}
	b.read(name, e.Name)
	b.read(description, e.Title)
	b.read(description, e.Description)
	b.read(server, s.Toolbox)
	b.read(server, s.Name)
	b.read(server, s.Title)
	b.read(about, s.Description)
	parameterTexts(e.Schema, func(text string) { b.read(parameters, text) })
	for _, text := range e.Said {
		b.read(said, text)
	}
	slices.Sort(b.tokens)
	b.stream = binary.AppendUvarint(b.stream, uint64(len(b.tokens)))
	for f, n := range b.lengths {
		b.stream = binary.AppendUvarint(b.stream, uint64(n))
		b.sums[f] += n
	}
	last := uint32(0)
	for _, t := range b.tokens {
		b.stream = binary.AppendUvarint(b.stream, uint64(t-last))
		last = t
	}
}

// finish makes the postings.
func (b *building) finish() {
	var mean [fields]float64
	for f, n := range b.sums {
		mean[f] = max(1, float64(n)/float64(max(1, len(b.x.docs))))
	}
	t := &b.x.words
	// How long the postings of each word are, and with it where they begin.
	last := make([]int32, len(t.all))
	b.each(mean, func(d int32, w uint32, set, _ uint8) {
		t.all[w].docs++
		t.all[w].end += uint32(sizeOf(posted(d-last[w], set)) + 1)
		last[w] = d
	})
	at := uint32(0)
	for w := range t.all {
		n := t.all[w].end
		t.all[w].end = at // for now, where the next one goes
		at += n
		last[w] = 0
	}
	b.x.postings = make([]byte, at)
	b.each(mean, func(d int32, w uint32, set, weight uint8) {
		e := &t.all[w].end
		*e += uint32(binary.PutUvarint(b.x.postings[*e:], posted(d-last[w], set)))
		b.x.postings[*e] = weight
		*e++
		last[w] = d
	})
	t.trim()
}

// posted is what is written of a doc, and sizeOf how many bytes that has.
func posted(step int32, set uint8) uint64 { return uint64(step)<<fields | uint64(set) }

func sizeOf(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// each gives each word of each doc, with the fields that have it and what it counts for.
func (b *building) each(mean [fields]float64, give func(doc int32, word uint32, set, weight uint8)) {
	rest := b.stream
	next := func() uint32 {
		v, n := binary.Uvarint(rest)
		rest = rest[n:]
		return uint32(v)
	}
	for d := range int32(len(b.x.docs)) {
		count := next()
		var share [fields]float64 // what a word in the field counts for, by how long it is
		for f := range fields {
			length := float64(next())
			share[f] = weights[f].weight / (1 - weights[f].long + weights[f].long*length/mean[f])
		}
		token, word := uint32(0), uint32(0)
		var set uint8
		var weight float64
		for i := range count {
			token += next()
			if w := token >> fieldBits; i > 0 && w != word {
				give(d, word, set, saturated(weight))
				set, weight = 0, 0
			}
			f := field(token & (1<<fieldBits - 1))
			word = token >> fieldBits
			set |= 1 << f
			weight += share[f]
		}
		if count > 0 {
			give(d, word, set, saturated(weight))
		}
	}
}

// saturation is BM25's k1: how soon a word that stands there again counts no more.
const saturation = 1.2

// saturated gives a weight as a byte: a word that stands nowhere counts 0, and one that stands everywhere nearly 255.
func saturated(weight float64) uint8 { return uint8(255*weight/(weight+saturation) + .5) }

// parameterTexts gives the names and descriptions of the parameters of a schema.
func parameterTexts(schema json.RawMessage, add func(text string)) {
	properties, err := wire.FindPath(schema, wire.Whole(schema), "properties")
	if err != nil || !properties.Present() {
		return
	}
	for key, value := range wire.Members(schema, properties) {
		if name, ok := wire.Unquote(schema[key.Start:key.End]); ok {
			add(name)
		}
		if text, ok := wire.Text(schema, value, "description"); ok {
			add(text)
		}
	}
}
