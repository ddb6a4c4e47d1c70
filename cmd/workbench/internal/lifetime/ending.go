// Package lifetime decides when the program ends: by which signals, within which time, and with which exit code.
package lifetime

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/child"
)

// The end of the program, from when it is asked for until nothing of it is left. It is one time for everything,
// whatever hangs: a server, a client, a disk, a pipe. What is done in it has bounds of its own, which are of no use
// when they add up.
const (
	endTerm = 1100 * time.Millisecond // what still runs gets SIGTERM; calls under way have had a second
	endKill = 1400 * time.Millisecond // and SIGKILL
	endAll  = 1750 * time.Millisecond // the program ends, whatever it waits for: many to kill take their time where others work too
)

// ErrLate says that the end had to be cut off.
var ErrLate = errors.New("something hung at the end and was abandoned")

// Ending is the end of the program.
type Ending struct {
	guard *child.Guard
	late  chan struct{} // closed when the time is over

	mu    sync.Mutex
	grace time.Duration // what comes before: calls that are answered
	due   time.Time     // when late is closed; zero until the end has begun
}

func NewEnding(guard *child.Guard) *Ending { return &Ending{guard: guard, late: make(chan struct{})} }

// Allow has the end take so much longer.
func (e *Ending) Allow(grace time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.grace = grace
}

// Begin begins the end. Only the first call does something.
func (e *Ending) Begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.due.IsZero() {
		return
	}
	e.due = time.Now().Add(e.grace + endAll)
	time.AfterFunc(e.grace+endAll, func() { close(e.late) })
	e.guard.Hasten(child.Grace{EOF: e.grace + endTerm, Term: endKill - endTerm})
}

// Left returns wait, or what the end leaves of it, once the end has begun.
func (e *Ending) Left(wait time.Duration) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.due.IsZero() {
		return wait
	}
	return max(0, min(wait, time.Until(e.due)))
}

// Within does what is to be done, unless the end comes before it is done. The end begins with that of ctx, or with
// begin.
func (e *Ending) Within(ctx context.Context, do func() error) error {
	defer context.AfterFunc(ctx, e.Begin)()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-e.late:
	}
	select {
	case err := <-done: // at the same moment
		return err
	default:
		return ErrLate
	}
}
