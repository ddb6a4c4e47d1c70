package proxy

import (
	"context"
	"sync"

	"github.com/mcp-workbench/workbench/proxy/shelf"
)

// ErrClosed is what a request is refused with that comes after the end of its session.
var ErrClosed = shelf.ErrClosed

// background is the work of a session that no request waits for.
type background struct {
	ctx    context.Context // ends with the session; kept because the work goes on after what began it has returned
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

func newBackground() *background {
	b := new(background)
	b.ctx, b.cancel = context.WithCancelCause(context.Background())
	return b
}

// begin has f done, unless the session has ended, which false reports; the end of the session ends its context and waits
// for it.
func (b *background) begin(f func(ctx context.Context)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.work.Go(func() { f(b.ctx) })
	}
	return !b.closed
}

// ended reports whether nothing more is begun.
func (b *background) ended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// end has nothing more begun and ends the context of what is under way; wait follows.
func (b *background) end() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.cancel(ErrClosed)
}

// wait returns when all is done that was begun.
func (b *background) wait() { b.work.Wait() }
