package wire

import "sync"

// Buffers are byte slices that are used again. The zero value is ready.
type Buffers struct{ free sync.Pool } // of *[]byte

// maxPooled is the largest buffer kept for reuse.
const maxPooled = 1 << 20

// Get gives an empty buffer.
func (bs *Buffers) Get() *[]byte {
	if b, ok := bs.free.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, 4096)
	return &b
}

// Put takes back a buffer that nobody uses any more.
func (bs *Buffers) Put(b *[]byte) {
	if cap(*b) <= maxPooled {
		*b = (*b)[:0]
		bs.free.Put(b)
	}
}
