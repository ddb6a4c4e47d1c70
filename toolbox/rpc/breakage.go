package rpc

import "context"

// breakage says whether a connection is to be ended.
type breakage struct {
	broken context.Context // kept because the connection outlasts every request
	end    context.CancelCauseFunc
}

func newBreakage() (b breakage) {
	b.broken, b.end = context.WithCancelCause(context.Background())
	return b
}

// Break has the owner end the connection, for a reason.
func (b *breakage) Break(cause error) { b.end(cause) }

// Broken ends when the connection is to be ended; its cause says why.
func (b *breakage) Broken() context.Context { return b.broken }
