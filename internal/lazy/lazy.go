// Package lazy makes things when they are wanted first.
package lazy

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/singleflight"
)

// A Thing is made when it is wanted first: once for all who wait for it, who may leave. One that could not be made is
// tried again when it is wanted the next time.
type Thing[T any] struct {
	make   func(context.Context) (*T, error)
	life   context.Context // until Close
	end    context.CancelFunc
	ended  error // for whoever wants the thing after that
	making singleflight.Group
	made   atomic.Pointer[T]
}

// New returns a thing that make makes, within a context that ends with Close.
func New[T any](make func(context.Context) (*T, error), ended error) *Thing[T] {
	life, end := context.WithCancel(context.Background())
	return &Thing[T]{make: make, life: life, end: end, ended: ended}
}

// Get returns the thing, which all share.
func (t *Thing[T]) Get(ctx context.Context) (*T, error) {
	if made := t.Made(); made != nil && t.life.Err() == nil {
		return made, nil
	}
	select {
	case tried := <-t.making.DoChan("", t.try):
		made, _ := tried.Val.(*T)
		return made, tried.Err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// try makes the thing unless there is one. One goroutine at a time does.
func (t *Thing[T]) try() (any, error) {
	if t.life.Err() != nil {
		return nil, t.ended
	}
	if made := t.Made(); made != nil {
		return made, nil
	}
	made, err := t.make(t.life)
	if err == nil {
		t.made.Store(made)
	}
	return made, err
}

// Made returns the thing, nil if there is none, or none any more.
func (t *Thing[T]) Made() *T { return t.made.Load() }

// Close has nothing be made any more, and returns what was, which is the caller's to close; nil if nothing was, or if
// Close has returned it before.
func (t *Thing[T]) Close() *T {
	t.end()
	<-t.making.DoChan("", t.try)
	return t.made.Swap(nil)
}
