package find

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"iter"
	"maps"
	"sync"
	"weak"
)

// Shared makes one index of what is the same for several who search: many sessions see the same tools. The zero value
// is ready for use, also by several at once. An index that nobody uses any more is forgotten.
type Shared struct {
	mu   sync.Mutex
	made map[[sha256.Size]byte]weak.Pointer[Index]
}

// Of gives the index of servers, which are read one after the other and not kept: once where there is an index of them
// or none at all, else twice.
func (s *Shared) Of(servers iter.Seq[Server]) *Index {
	d := digester{h: sha256.New()}
	if s.hasSome() {
		for server := range servers {
			d.add(&server)
		}
		if known := s.known(d.sum()); known != nil {
			return known
		}
		d.h.Reset() // they may have changed meanwhile
	}
	x := New(func(yield func(Server) bool) {
		for server := range servers {
			d.add(&server)
			if !yield(server) {
				return
			}
		}
	})
	key := d.sum()
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.made[key].Value(); known != nil {
		return known // it was made meanwhile
	}
	maps.DeleteFunc(s.made, func(_ [sha256.Size]byte, p weak.Pointer[Index]) bool { return p.Value() == nil })
	if s.made == nil {
		s.made = make(map[[sha256.Size]byte]weak.Pointer[Index])
	}
	s.made[key] = weak.Make(x)
	return x
}

// hasSome reports whether there is any index.
func (s *Shared) hasSome() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.made {
		if x.Value() != nil {
			return true
		}
	}
	return false
}

// known gives the index of that digest, nil if there is none.
func (s *Shared) known(key [sha256.Size]byte) *Index {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made[key].Value()
}

// digester makes what stands for all that an index is made of.
type digester struct {
	h      hash.Hash
	buffer []byte
}

func (d *digester) add(s *Server) {
	d.write(binary.AppendUvarint(appendParts(d.buffer[:0], s.Toolbox, s.Name, s.Title, s.Description), uint64(len(s.Entries))))
	for i := range s.Entries {
		e := &s.Entries[i]
		d.write(appendParts(binary.AppendUvarint(e.appendTo(d.buffer[:0]), uint64(len(e.Said))), e.Said...))
	}
}

func (d *digester) write(text []byte) {
	d.buffer = text
	_, _ = d.h.Write(text) // a hash takes all
}

func (d *digester) sum() [sha256.Size]byte { return [sha256.Size]byte(d.h.Sum(nil)) }
