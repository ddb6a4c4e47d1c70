package commandsrv

import (
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

// join gives the turn that the same request has begun, or begins one.
func (l *latest) join(at session, r request, begin func(digest string) *turn) (*turn, *Fault) {
	digest := r.digest(at)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweepLocked()
	if last := l.turns[at.place]; last != nil {
		if last.owes(digest) {
			return last, nil
		}
		if !last.over() && r.aborts() {
			last.stop(errStopped)
			return last, nil
		}
		if !last.over() {
			f := faultOf(&store.BusyError{Key: last.name()})
			return nil, f.about(at)
		}
	}
	if l.closed {
		return nil, faultOf(errClosed).about(at)
	}
	t := begin(digest)
	l.turns[at.place] = t
	return t, nil
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
