package find

import (
	"crypto/sha256"
	"hash"
	"io"
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

// Of gives the index of servers. Who asks for one that is being made waits for it.
func (s *Shared) Of(servers []Server) *Index {
	key := digest(servers)
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.made[key].Value(); x != nil {
		return x
	}
	maps.DeleteFunc(s.made, func(_ [sha256.Size]byte, p weak.Pointer[Index]) bool { return p.Value() == nil })
	if s.made == nil {
		s.made = make(map[[sha256.Size]byte]weak.Pointer[Index])
	}
	x := New(servers)
	s.made[key] = weak.Make(x)
	return x
}

// digest stands for all that an index is made of.
func digest(servers []Server) (sum [sha256.Size]byte) {
	d := digester{h: sha256.New()}
	for i := range servers {
		v := &servers[i]
		d.write(v.Toolbox, v.Name, v.Title, v.Description)
		d.count(len(v.Entries))
		for k := range v.Entries {
			e := &v.Entries[k]
			d.write(e.Kind, e.Name, e.Title, e.Description, string(e.Schema), string(e.Output), e.URI)
			d.count(len(e.Said))
			d.write(e.Said...)
		}
	}
	d.h.Sum(sum[:0])
	return sum
}

// digester writes texts with their lengths, so that no two lists are written alike.
type digester struct {
	h       hash.Hash
	scratch []byte
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
