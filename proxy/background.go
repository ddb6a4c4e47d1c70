package proxy

import (
	"context"

	"github.com/mcp-workbench/workbench/internal/group"
	"github.com/mcp-workbench/workbench/proxy/shelf"
)

// ErrClosed is what a request is refused with that comes after the end of its session.
var ErrClosed = shelf.ErrClosed

// background is the work of a session that no request waits for.
type background struct {
	ctx    context.Context // ends with the session; kept because the work goes on after what began it has returned
	cancel context.CancelCauseFunc
	tasks  group.Group
}

func newBackground() *background {
	b := new(background)
	b.ctx, b.cancel = context.WithCancelCause(context.Background())
	return b
}

// begin has f done, unless the session has ended, which false reports; the end of the session ends its context and waits
// for it.
func (b *background) begin(f func(ctx context.Context)) bool {
	return b.tasks.Begin(func() { f(b.ctx) })
}

// ended reports whether nothing more is begun.
func (b *background) ended() bool { return b.ctx.Err() != nil }

// end has nothing more begun and ends the context of what is under way; the wait for that follows.
func (b *background) end() {
	b.tasks.End()
	b.cancel(ErrClosed)
}
