// Package storehost has the store of a process: of conversations with command workflows, and of runs of workflows. It
// is opened when it is wanted first, what is too old in it is deleted, and it is closed at the end.
package storehost

import (
	"context"
	"errors"
	"sync"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/store"
)

// A Store is opened when it is wanted first.
type Store struct {
	open func(context.Context) (*store.Store, error)
	log  zerolog.Logger

	mu     sync.Mutex // held while the store is opened, and guards what follows
	opened *store.Store
	end    context.CancelFunc // of what deletes what is too old
	closed bool
	owed   sync.WaitGroup
}

// New returns a Store that open opens. It is to be closed.
func New(open func(context.Context) (*store.Store, error), log zerolog.Logger) *Store {
	return &Store{open: open, log: log}
}

// Get returns the store, which all share.
func (s *Store) Get(ctx context.Context) (*store.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errors.New("workbench is shutting down")
	case s.opened != nil:
		return s.opened, nil
	}
	opened, err := s.open(ctx)
	if err == nil {
		life, end := context.WithCancel(context.Background()) // until Close
		s.opened, s.end = opened, end
		s.owed.Go(func() { expire(life, opened, s.log, system()) })
	}
	return opened, err
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
	defer s.mu.Unlock()
	s.closed = true
	if s.opened == nil {
		return
	}
	s.end()
	s.owed.Wait()
	_ = s.opened.Close()
	s.opened = nil
}
