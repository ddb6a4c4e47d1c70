// Package storehost has the store of a process: of conversations with command workflows, and of runs of workflows. It
// is opened when it is wanted first, what is too old in it is deleted, and it is closed at the end.
package storehost

import (
	"context"
	"errors"
	"sync"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/lazy"
	"github.com/mcp-workbench/workbench/internal/store"
)

// A Store is opened when it is wanted first: once for all who wait for it, who may leave.
type Store struct {
	*lazy.Thing[store.Store]
	expiring sync.WaitGroup // what deletes what is too old
}

// New returns a Store that open opens. It is to be closed.
func New(open func(context.Context) (*store.Store, error), log zerolog.Logger) *Store {
	s := &Store{}
	s.Thing = lazy.New(func(ctx context.Context) (*store.Store, error) {
		opened, err := open(ctx)
		if err == nil {
			s.expiring.Go(func() { expire(ctx, opened, log, system()) })
		}
		return opened, err
	}, errEnding)
	return s
}

var errEnding = errors.New("workbench is shutting down")

// Works reports whether the store answers. One that nobody has wanted is not opened for that.
func (s *Store) Works(ctx context.Context) bool {
	opened := s.Made()
	return opened == nil || opened.Try(ctx) == nil
}

// Close closes the store. Nobody is to use it any more.
func (s *Store) Close() {
	opened := s.Thing.Close()
	s.expiring.Wait()
	if opened != nil {
		_ = opened.Close()
	}
}
