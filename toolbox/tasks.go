package toolbox

import (
	"sync"

	"golang.org/x/sync/errgroup"
)

// tasks are goroutines with one owner, who ends them together. After the end
// no more can be begun.
type tasks struct {
	mu    sync.Mutex
	ended bool
	group errgroup.Group
}

// begin runs f, unless the tasks have ended.
func (t *tasks) begin(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.group.Go(func() error { f(); return nil })
	return true
}

// end lets no more begin; it reports whether it was the first call.
func (t *tasks) end() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !t.ended
	t.ended = true
	return first
}

// wait waits for all that was begun.
func (t *tasks) wait() { _ = t.group.Wait() }
