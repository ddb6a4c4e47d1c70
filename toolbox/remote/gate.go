package remote

import (
	"fmt"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/backoff"
)

// The longest rest that a remote server is granted at its word.
const maxRetryAfter = 60 * time.Second

// gate keeps requests from a remote server that said it has too many. It may be used by several goroutines.
type gate struct {
	mu     sync.Mutex
	why    *StatusError // what it said last
	since  time.Time    // when it did
	streak int          // how often in a row
}

// closed returns the server's own words while it wants to be left alone.
func (g *gate) closed() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.why != nil && time.Now().Before(g.why.Next) {
		return g.why
	}
	return nil
}

// close has the server left alone: for as long as it says, if that is not too long, else for a time that doubles.
func (g *gate) close(why *StatusError, said time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	rest := said
	if said <= 0 || said > maxRetryAfter {
		rest = backoff.Jitter(min(time.Second<<min(g.streak, 10), backoff.Max))
	}
	if said > maxRetryAfter {
		why.Advice = fmt.Sprintf("it asked to get no requests for %s", said)
	}
	g.streak++
	g.why, g.since = why, time.Now()
	why.Next = g.since.Add(rest)
	return why
}

// open notes that the server answered a request of a moment. If it has said since that it has too many, that holds.
func (g *gate) open(asked time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !asked.Before(g.since) {
		g.why, g.streak = nil, 0
	}
}
