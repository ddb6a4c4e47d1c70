package rpc

import (
	"bytes"
	"context"
	"fmt"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// Request makes a request of our own and waits for its result, which it copies. It may take as long as a client's.
func (c *Conn) Request(ctx context.Context, method string, params []byte) (result []byte, err error) {
	return consult(ctx, c, method, params, func(result []byte) ([]byte, error) { return bytes.Clone(result), nil }, false)
}

// Consult makes a request of our own and waits for what take makes of its result. The result is valid only while take
// is called, so that no more of it is kept than is wanted; take may still be at it when ctx has ended. ctx alone bounds
// the time: a start may be silent for longer than a call.
func Consult[T any](ctx context.Context, c *Conn, method string, params []byte, take func(result []byte) (T, error)) (taken T, err error) {
	return consult(ctx, c, method, params, take, true)
}

func consult[T any](ctx context.Context, c *Conn, method string, params []byte, take func(result []byte) (T, error), bounded bool) (taken T, err error) {
	raw := wire.AppendRequest(nil, "0", method, params)
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		return taken, fmt.Errorf("%s: %w", method, err)
	}
	w := &waiter[T]{method: method, take: take, done: make(chan struct{})}
	call := &Call{Raw: raw, ID: m.ID, Params: m.Params, Tasks: eras.IsOfTasks(method), Handler: w, bounded: bounded, works: method == "tools/call"}
	if call.Meta, err = wire.FindPath(raw, m.Params, "_meta"); err != nil {
		return taken, fmt.Errorf("%s: %w", method, err)
	}
	if err := c.Send(call); err != nil {
		return taken, fmt.Errorf("%s: %w", method, UnsentError{err})
	}
	select {
	case <-w.done:
		return w.taken, w.err
	case <-ctx.Done():
		call.Cancel(nil, wire.Span{})
		return taken, context.Cause(ctx)
	}
}

// waiter turns a call's end into a channel.
type waiter[T any] struct {
	method string
	take   func(result []byte) (T, error)
	done   chan struct{}
	taken  T
	err    error
}

func (w *waiter[T]) Progress(*wire.Message, wire.Span) {}

func (w *waiter[T]) Done(m *wire.Message, err error) {
	switch {
	case err != nil:
		w.err = err
	case m.Kind == wire.Result:
		if w.taken, w.err = w.take(m.Bytes(m.Result)); w.err != nil {
			w.err = fmt.Errorf("%s: %w", w.method, w.err)
		}
	default:
		w.err = link.ReplyError(w.method, m)
	}
	close(w.done)
}
