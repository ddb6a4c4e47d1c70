// Package alike keeps texts once that several have alike, such as the list of tools that each of many sessions is given.
package alike

import (
	"bytes"
	"hash/maphash"
	"maps"
	"sync"
	"unsafe"
	"weak"
)

// least is the length of a text from which on it is kept once; the note of a shorter one would be as long as itself.
const least = 128

// A Pool knows texts as long as somebody has them. The zero value is ready for use, also by several at once; a nil Pool
// leaves everybody their own.
type Pool struct {
	once sync.Once
	seed maphash.Seed

	mu    sync.Mutex
	texts map[uint64]text
	most  int // how many notes there may be before those of texts that nobody has any more are dropped
}

// text is where a text is, which stays in memory only as long as somebody has it.
type text struct {
	first weak.Pointer[byte]
	len   int
}

// fewest is the number of notes from which on some may be dropped.
const fewest = 256

// Of gives a text that is equal to b, for whoever has the same: that which somebody has already, or else b, or a copy
// where b has much room behind it. Neither is to be changed afterwards.
func (p *Pool) Of(b []byte) []byte {
	if p == nil || len(b) < least {
		return b
	}
	p.once.Do(func() { p.seed, p.most = maphash.MakeSeed(), fewest })
	key := maphash.Bytes(p.seed, b)
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.texts[key].bytes(); bytes.Equal(known, b) {
		return known
	}
	if cap(b)-len(b) > len(b)/8 {
		b = bytes.Clone(b)
	}
	if len(p.texts) >= p.most {
		maps.DeleteFunc(p.texts, func(_ uint64, t text) bool { return t.first.Value() == nil })
		p.most = max(fewest, 2*len(p.texts))
	}
	if p.texts == nil {
		p.texts = make(map[uint64]text)
	}
	p.texts[key] = text{weak.Make(&b[0]), len(b)}
	return b
}

// bytes gives the text; nil if nobody has it.
func (t text) bytes() []byte {
	first := t.first.Value()
	if first == nil {
		return nil
	}
	// The array that first is in has at least len bytes, and is kept whole by any pointer into it.
	return unsafe.Slice(first, t.len)
}
