package proxy

import "sync"

// buffers are byte slices that are used again.
type buffers struct{ free sync.Pool } // of *[]byte

// maxPooled is the largest buffer kept for reuse.
const maxPooled = 1 << 20

func (bs *buffers) get() *[]byte {
	if b, ok := bs.free.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, 4096)
	return &b
}

func (bs *buffers) put(b *[]byte) {
	if cap(*b) <= maxPooled {
		*b = (*b)[:0]
		bs.free.Put(b)
	}
}
