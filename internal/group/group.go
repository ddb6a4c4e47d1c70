// Package group holds goroutines with one owner, who ends them together.
package group

import (
	"sync"

	"golang.org/x/sync/errgroup"
)

// Group is goroutines that are ended together. After the end no more can be begun. The zero value is an empty group.
type Group struct {
	mu    sync.Mutex
	ended bool
	group errgroup.Group
}

// Begin runs f, unless the group has ended.
func (g *Group) Begin(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return false
	}
	g.group.Go(func() error { f(); return nil })
	return true
}

// End lets no more begin; it reports whether it was the first call.
func (g *Group) End() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := !g.ended
	g.ended = true
	return first
}

// Wait waits for all that was begun.
func (g *Group) Wait() { _ = g.group.Wait() }
