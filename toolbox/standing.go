package toolbox

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// standing is where a server stands: its state, and the connection that it has while it is ready. The methods here are
// the only place where that changes: each stamps the change and wakes who waits for one.
type standing struct {
	// note is told of each change that is an event before anybody can ask for it.
	note func(*Status)
	poke chan struct{} // somebody wants the server that rests: try now

	mu      sync.Mutex
	at      moment
	told    time.Time // since when it is in the state that was noted last
	levels  int       // how many levels of the log were set
	leveled int       // which of them is that of this moment
}

func newStanding(first Status, level string, note func(*Status)) *standing {
	first.Since = time.Now()
	at := moment{Status: first, changed: make(chan struct{}), level: level}
	return &standing{note: note, poke: make(chan struct{}, 1), at: at, told: first.Since}
}

// moment is a standing as it is at one time.
type moment struct {
	Status
	changed chan struct{} // closed at the next change
	conn    *rpc.Conn     // not nil while ready
	level   string        // of the log, "" for the server's own; told again after each start
	tried   time.Time     // when the last start began that failed
	late    bool          // an open waited for it in vain, here or in another run; until it is ready, none does again
	retired bool          // it takes no more requests
}

func (p *standing) now() moment {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

// live returns the connection; nil unless the server is ready.
func (p *standing) live() *rpc.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at.conn
}

// moveLocked is the one place where the state of a server changes: the change is stamped, and who waits for one is
// woken.
func (p *standing) moveLocked(to State) {
	p.at.State, p.at.Since = to, time.Now()
	p.wakeLocked()
}

func (p *standing) wakeLocked() {
	close(p.at.changed)
	p.at.changed = make(chan struct{})
}

// notedLocked makes the event of the state that the server has come into.
func (p *standing) notedLocked() Event {
	event := Event{Status: p.at.Status, Took: p.at.Since.Sub(p.told)}
	p.told = p.at.Since
	p.note(&event.Status)
	return event
}

// become is the owner's word on where the server stands.
func (p *standing) become(state State, cause error, next time.Time, c *rpc.Conn) Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moveLocked(state)
	p.at.Cause, p.at.Next, p.at.PID = cause, next, 0
	if c != nil {
		p.at.PID, p.at.late = c.Link().Process().PID(), false
	}
	if state == Starting {
		p.at.Starts++
	}
	if !p.at.retired {
		p.at.conn = c
	}
	return p.notedLocked()
}

// enter exchanges one state for another while the server starts; moved is false if it is in another.
func (p *standing) enter(from, to State) (event Event, moved bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.State != from {
		return Event{}, false
	}
	p.moveLocked(to)
	return p.notedLocked(), true
}

// expect has calls wait for the server from now on, whose owner will say the same at once, or, with the states
// exchanged, no longer.
func (p *standing) expect(from, to State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.State == from {
		p.moveLocked(to)
	}
}

// withdraw has what is asked of the server from now on wait for the connection after c, whose end its owner will tell.
func (p *standing) withdraw(c *rpc.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.conn == c {
		p.at.conn = nil
		p.moveLocked(Starting)
	}
}

// retry has a server started at once that rests after a failure or was idle. From now on a caller waits for the
// outcome.
func (p *standing) retry() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.State != Backoff && p.at.State != Open && p.at.State != NeedsLogin && !p.at.asleep() {
		return
	}
	p.moveLocked(Starting)
	select {
	case p.poke <- struct{}{}:
	default:
	}
}

// retire has the server take no more requests, and returns the connection that it had.
func (p *standing) retire() *rpc.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.at.conn
	p.at.retired, p.at.conn = true, nil
	p.wakeLocked()
	return c
}

// failsFor words anew why a server cannot be started as configured.
func (p *standing) failsFor(problem error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if problem != nil && p.at.State == Failed {
		p.at.Cause = problem
	}
}

// noteTried notes when a start began that has failed: calls from before it have waited long enough.
func (p *standing) noteTried(began time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at.tried = began
}

// noteSeen notes when the lists of the server were read, if that was in another run.
func (p *standing) noteSeen(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at.Seen = at
}

// recallLate takes over whether the server was waited for in vain in another run.
func (p *standing) recallLate(late bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at.late = late
}

// noteLate notes that a server which is starting was waited for in vain; first is false if that was known.
func (p *standing) noteLate() (first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first = p.at.State.IsStarting() && !p.at.late
	p.at.late = p.at.late || first
	return first
}

// took notes a level that the server was told, the nth that was set, unless one is noted that was set after it.
func (p *standing) took(level string, nth int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if nth > p.leveled {
		p.at.level, p.leveled = level, nth
	}
}

// setLevel takes the level of a server that is not there and not about to be: it is told when it starts. Else the level,
// the nth that is set, is to be sent, which told reports, to the connection if there is one.
func (p *standing) setLevel(level string) (c *rpc.Conn, nth int, told bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.levels++
	if p.at.conn == nil && !p.at.passing() {
		p.at.level, p.leveled = level, p.levels
		return nil, p.levels, false
	}
	return p.at.conn, p.levels, true
}

// settle waits until the server has started or failed to, or is retired, after which it does neither. One that is
// started again before that is seen here has failed, too.
func (p *standing) settle(ctx context.Context) {
	for tried := p.now().tried; ; {
		at := p.now()
		if at.settled() || at.retired || !at.tried.Equal(tried) {
			return
		}
		select {
		case <-at.changed:
		case <-ctx.Done():
			return
		}
	}
}
