package find

import (
	"crypto/sha256"
	"hash"
	"io"
	"iter"
	"maps"
	"strconv"
	"sync"
	"weak"
)

// Shared makes one index of what is the same for several who search: many sessions see the same tools. The zero value is ready
// for use, also by several at once. An index that nobody uses any more is forgotten.
type Shared struct {
	mu   sync.Mutex
	made map[[sha256.Size]byte]weak.Pointer[Index]
}

// Of gives the index of servers, which are read one after the other and not kept.
func (s *Shared) Of(servers iter.Seq[Server]) *Index {
	x, key := build(servers)
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.made[key].Value(); known != nil {
		return known
	}
	maps.DeleteFunc(s.made, func(_ [sha256.Size]byte, p weak.Pointer[Index]) bool { return p.Value() == nil })
	if s.made == nil {
		s.made = make(map[[sha256.Size]byte]weak.Pointer[Index])
	}
	s.made[key] = weak.Make(x)
	return x
}

// digester makes what stands for all that an index is made of. It writes texts with their lengths, so that no two lists are
// written alike.
type digester struct {
	h       hash.Hash
	scratch []byte
}

func (d *digester) server(s *Server) {
	d.write(s.Toolbox, s.Name, s.Title, s.Description)
	d.count(len(s.Entries))
	for i := range s.Entries {
		parts := s.Entries[i].parts()
		d.write(parts[:]...)
		d.count(len(s.Entries[i].Said))
		d.write(s.Entries[i].Said...)
	}
}

func (d *digester) sum() (sum [sha256.Size]byte) {
	d.h.Sum(sum[:0])
	return sum
}

func (d *digester) count(n int) {
	d.scratch = append(strconv.AppendInt(d.scratch[:0], int64(n), 10), ':')
	_, _ = d.h.Write(d.scratch) // a hash takes all
}

func (d *digester) write(texts ...string) {
	for _, t := range texts {
		d.count(len(t))
		_, _ = io.WriteString(d.h, t)
	}
}
