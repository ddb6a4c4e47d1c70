package httpfront

import (
	"context"
	"errors"
	"sync"
)

// errEnding is why what is under way at the end is given up.
var errEnding = errors.New("workbench is shutting down")

// errands are requests that belong to no MCP client. At the end they are answered like the calls of those.
type errands struct {
	mu      sync.Mutex // guards what follows
	closing bool
	under   map[*context.CancelCauseFunc]bool
	idle    chan struct{} // made by shut, closed when none is under way
}

// begin notes a request; ok is false when no more are taken. done must be called when it is answered.
func (e *errands) begin(ctx context.Context) (_ context.Context, done func(), ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if e.under == nil {
		e.under = map[*context.CancelCauseFunc]bool{}
	}
	e.under[&cancel] = true
	return ctx, func() {
		cancel(nil)
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.under, &cancel)
		if e.closing && len(e.under) == 0 {
			close(e.idle)
		}
	}, true
}

// shut takes no more, and waits until those under way are answered. When ctx ends before, they are told why.
func (e *errands) shut(ctx context.Context) {
	e.mu.Lock()
	e.closing, e.idle = true, make(chan struct{})
	if len(e.under) == 0 {
		close(e.idle)
	}
	e.mu.Unlock()
	select {
	case <-e.idle:
	case <-ctx.Done():
		e.mu.Lock()
		defer e.mu.Unlock()
		for cancel := range e.under {
			(*cancel)(errEnding)
		}
	}
}
