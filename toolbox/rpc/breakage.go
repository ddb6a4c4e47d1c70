package rpc

import "sync"

// breakage says whether a connection is to be ended.
type breakage struct {
	once   sync.Once
	broken chan struct{}
	cause  error // set before broken is closed
}

// Break has the owner end the connection, for a reason or because it turned out to take no more messages.
func (b *breakage) Break(cause error) {
	b.once.Do(func() {
		b.cause = cause
		close(b.broken)
	})
}

// Broken is closed when the connection is to be ended; BrokenBy then says why, if that is known.
func (b *breakage) Broken() <-chan struct{} { return b.broken }

// BrokenBy says why the connection is to be ended.
func (b *breakage) BrokenBy() error { return b.cause }
