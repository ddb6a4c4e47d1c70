package commandsrv

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

// latest are the last turns of the sessions, one of each.
type latest struct {
	mu     sync.Mutex // guards what follows
	closed bool
	turns  map[place]*turn
	swept  time.Time
}

// join gives the turn that the same request has begun, or begins one; the caller waits for it until leave. What comes
// while a turn ends that was stopped comes after that, for as long as ctx lasts.
func (l *latest) join(ctx context.Context, at session, r request, begin func(digest string) *turn) (*turn, *Fault) {
	for {
		t, ending, f := l.tryJoin(at, r, begin)
		if ending == nil {
			return t, f
		}
		select {
		case <-ending.done:
		case <-ctx.Done():
			return nil, faultOf(&store.BusyError{Key: ending.name()}).about(at)
		}
	}
}

// tryJoin is join that gives a turn to wait for before, if there is one.
func (l *latest) tryJoin(at session, r request, begin func(digest string) *turn) (t, ending *turn, f *Fault) {
	digest := r.digest(at)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweepLocked()
	last := l.turns[at.place]
	switch {
	case last != nil && last.owes(digest):
		t = last
	case last != nil && !last.over() && r.aborts():
		last.stop(errStopped)
		t = last
	case last != nil && !last.over() && last.stopped():
		return nil, last, nil
	case last != nil && !last.over():
		return nil, nil, faultOf(&store.BusyError{Key: last.name()}).about(at)
	case l.closed:
		return nil, nil, faultOf(errClosed).about(at)
	default:
		t = begin(digest)
		l.turns[at.place] = t
	}
	t.waits++
	return t, nil, nil
}

// leave counts a caller out that waited for a turn. The turn is stopped if the caller has cancelled it and nobody else
// waits.
func (l *latest) leave(t *turn, cancelled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.waits--; cancelled && t.waits == 0 {
		t.stop(errStopped)
	}
}

// busy is the fault of what cannot be done while a turn is under way.
func (l *latest) busy(at session) *Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.turns[at.place]; t != nil && !t.over() {
		return faultOf(&store.BusyError{Key: t.name()}).about(at)
	}
	return nil
}

// running finds a turn that this process works on, nil if it works on none of that name for the owner.
func (l *latest) running(owner, key string) *turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at, t := range l.turns {
		if at.owner == owner && t.name() == key && !t.over() {
			return t
		}
	}
	return nil
}

// sweepLocked forgets results that nobody came back for.
func (l *latest) sweepLocked() {
	now := time.Now()
	if now.Sub(l.swept) < time.Minute {
		return
	}
	l.swept = now
	for at, t := range l.turns {
		if t.over() && now.Sub(t.ended) > resultTTL {
			delete(l.turns, at)
		}
	}
}

// forget drops a turn whose result was heard.
func (l *latest) forget(t *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turns[t.at.place] == t {
		delete(l.turns, t.at.place)
	}
}

// close lets no more turns begin.
func (l *latest) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}
