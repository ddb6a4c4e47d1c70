// Package storehost has the store of a process: of conversations with command workflows, and of runs of workflows. It
// is opened when it is wanted first, what is too old in it is deleted, and it is closed at the end.
package storehost

import (
	"context"
	"errors"
	"sync"

	"github.com/rs/zerolog"
	"golang.org/x/sync/singleflight"

	"github.com/mcp-workbench/workbench/internal/store"
)

// A Store is opened when it is wanted first: once for all who wait for it, who may leave.
type Store struct {
	open    func(context.Context) (*store.Store, error)
	log     zerolog.Logger
	life    context.Context // until Close
	end     context.CancelFunc
	opening singleflight.Group
	owed    sync.WaitGroup // what opens the store, and deletes what is too old

	mu     sync.Mutex // guards what follows
	opened *store.Store
	closed bool
}

// New returns a Store that open opens. It is to be closed.
func New(open func(context.Context) (*store.Store, error), log zerolog.Logger) *Store {
	s := &Store{open: open, log: log}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

var errEnding = errors.New("workbench is shutting down")

// Get returns the store, which all share.
func (s *Store) Get(ctx context.Context) (*store.Store, error) {
	s.mu.Lock()
	opened := s.opened
	s.mu.Unlock()
	if opened != nil {
		return opened, nil
	}
	done := s.opening.DoChan("", func() (any, error) { return s.make() })
	select {
	case made := <-done:
		opened, _ = made.Val.(*store.Store)
		return opened, made.Err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// make opens the store. One goroutine at a time does.
func (s *Store) make() (*store.Store, error) {
	s.mu.Lock()
	opened, closed := s.opened, s.closed
	if !closed {
		s.owed.Add(1)
		defer s.owed.Done()
	}
	s.mu.Unlock()
	switch {
	case closed:
		return nil, errEnding
	case opened != nil:
		return opened, nil
	}
	opened, err := s.open(s.life)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = opened
	s.owed.Go(func() { expire(s.life, opened, s.log, system()) })
	return opened, nil
}

// Works reports whether the store answers. One that nobody has wanted is not opened for that.
func (s *Store) Works(ctx context.Context) bool {
	s.mu.Lock()
	opened := s.opened
	s.mu.Unlock()
	return opened == nil || opened.Try(ctx) == nil
}

// Close closes the store. Nobody is to use it any more.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.owed.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened != nil {
		_ = s.opened.Close()
		s.opened = nil
	}
}
