package rpc

import (
	"cmp"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/toolbox/link"
)

// Table knows which calls a connection has under way: a call is in it from its number to its end, and whoever takes it
// out ends it. It also knows when the connection takes no more calls, and since when it has nothing to do.
type Table struct {
	counts *Counts
	limits func() *Limits
	// excused reports that the silence of the server is not its doing.
	excused func() bool
	// late is called on a goroutine of its own when calls may be too late.
	late func()

	mu      sync.Mutex
	last    uint64 // the number of the last call
	pending map[uint64]*Call
	streams int           // how many of them are streams that stay open
	refuses error         // why no more calls are taken: the connection drains or has ended; nil while it is open
	over    bool          // the connection has ended
	drained chan struct{} // closed when a connection that drains has no call left; nil if nobody waits for that
	rested  time.Time     // since when no call is pending
	silent  int           // calls in a row that got no reply in time
	strayed *StrayError   // the last reply that was to no request
	clock   deadlineClock
}

// add gives a call its number and the time in which it is to be answered. The error says that it is not taken.
func (t *Table) add(call *Call) error {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.refuses != nil:
		return t.refuses
	case call.OfClient && !t.counts.HasRoom(t.limits()):
		return ErrNoRoom
	}
	t.last++
	call.number = t.last
	call.started, call.active = now, now
	t.pending[call.number] = call
	if call.Open {
		t.streams++
	}
	if call.OfClient {
		t.counts.InFlight.Add(1)
	}
	if !t.clock.armed {
		t.armLocked(now)
	}
	return nil
}

// take takes the call with a number out; nil if it is not there.
func (t *Table) take(number uint64) *Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.takeLocked(number)
}

func (t *Table) takeLocked(number uint64) *Call {
	call := t.pending[number]
	if call == nil {
		return nil
	}
	delete(t.pending, number)
	if call.Open {
		t.streams--
	}
	if t.drained != nil {
		t.drainedLocked()
	}
	if call.OfClient {
		t.counts.InFlight.Add(-1)
	}
	// A list, or a stream of what changes, is no use that is made of the server.
	if t.limits().Idle > 0 && !t.busyLocked() && !call.Open && !call.bounded {
		t.rested = time.Now()
	}
	return call
}

// end takes out the call with a number that ended by a reply or, if spoke is false, without one. made reports whether
// there was a call of that number at all.
func (t *Table) end(number uint64, spoke bool) (call *Call, made bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if spoke {
		t.silent = 0
	}
	return t.takeLocked(number), number <= t.last
}

// find returns the call with a number; nil if it has ended.
func (t *Table) find(number uint64) *Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pending[number]
}

// of returns the call of a handler, or with nil the only one; nil if there is none.
func (t *Table) of(h Handler) (found *Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, call := range t.pending {
		switch {
		case call.Open || h != nil && call.Handler != h:
		case found != nil:
			return nil
		default:
			found = call
		}
	}
	return found
}

// made reports whether there was a call of that number.
func (t *Table) made(number uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return 0 < number && number <= t.last
}

// progressed notes that the server works on the call with a number, and returns it; nil if it has ended.
func (t *Table) progressed(number uint64) *Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	call := t.pending[number]
	if call != nil {
		call.active, call.stray = time.Now(), nil
		t.silent = 0
	}
	return call
}

// heardAgain notes that the silence of the server was not its doing until now, for which no call is late.
func (t *Table) heardAgain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for _, call := range t.pending {
		call.active = now
	}
	t.silent = 0
}

// busyLocked reports whether somebody waits for a reply. A stream that stays open is no such call.
func (t *Table) busyLocked() bool { return len(t.pending) > t.streams }

// Rest has the time without calls begin now.
func (t *Table) Rest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rested = time.Now()
}

// DrainIdle drains the connection if there were no calls for a time; else it returns when that may be so.
func (t *Table) DrainIdle(idle time.Duration) (drains bool, again time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busyLocked() {
		return false, idle / 8
	}
	if quiet := time.Since(t.rested); quiet < idle {
		return false, idle - quiet
	}
	t.refuses = cmp.Or(t.refuses, link.ErrClosed)
	return true, 0
}

// Drain takes no more calls; what it returns is closed when the last of those under way is done. Streams that stay open
// do not count.
func (t *Table) Drain() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.drained == nil {
		t.refuses, t.drained = cmp.Or(t.refuses, ErrDraining), make(chan struct{})
		t.drainedLocked()
	}
	return t.drained
}

func (t *Table) drainedLocked() {
	if t.busyLocked() {
		return
	}
	select {
	case <-t.drained:
	default:
		close(t.drained)
	}
}

// close takes all calls out, and takes no more. Those that are being written are left to [Conn.Send], the others lost.
// first is false if that was done before.
func (t *Table) close(why error) (lost []*Call, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return nil, false
	}
	t.over, t.refuses = true, why
	t.clock.stop()
	for number := range t.pending {
		if call := t.takeLocked(number); !call.stage.CompareAndSwap(writing, left) {
			lost = append(lost, call)
		}
	}
	return lost, true
}

// why is what close was given.
func (t *Table) why() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refuses
}

// stray notes a reply that is to no request. If one call alone waits for its own, that was most likely meant to be it,
// and the call is not left waiting long.
func (t *Table) stray(e *StrayError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.strayed = e
	t.silent = 0
	var waiting *Call
	for _, call := range t.pending {
		switch {
		case call.Open:
		case waiting != nil:
			return
		default:
			waiting = call
		}
	}
	if waiting != nil && waiting.stray == nil {
		waiting.stray, waiting.due = e, e.at.Add(strayGrace)
		t.armLocked(e.at)
	}
}
