package rpc

import (
	"time"

	"github.com/mcp-workbench/workbench/config"
)

// overslept is how late a timer rings in a program that was stopped meanwhile, and how long the replies that came while
// it was are then waited for.
const overslept = 500 * time.Millisecond

// armLocked sets the clock to the earliest moment at which a pending call can be too late. It is left to run when calls
// end: later calls are late later.
func (t *Table) armLocked(now time.Time) {
	var next time.Time
	limits, excused := &t.limits().Timeouts, t.excused()
	for _, call := range t.pending {
		if at, ok := call.deadline(limits, excused); ok && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if t.clock.armed = !next.IsZero(); t.clock.armed {
		t.clock.set(now, next, t.late)
	}
}

// Adjust has the pending calls follow time-outs that were changed.
func (t *Table) Adjust() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clock.armed {
		t.armLocked(time.Now())
	}
}

// tooLate returns the pending calls whose time is over, and how many in a row got no reply with them. They are counted
// before anybody is told: whoever is told may make the next call, whose reply says that the server lives.
func (t *Table) tooLate(now time.Time, limits *config.Timeouts) (late []*Call, silent int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.clock.due) > overslept {
		t.clock.due = now.Add(overslept)
		t.clock.timer.Reset(overslept)
		return nil, 0
	}
	excused := t.excused()
	for _, call := range t.pending {
		if at, ok := call.deadline(limits, excused); ok && !now.Before(at) {
			late = append(late, call)
		}
	}
	t.silent += len(late)
	return late, t.silent
}

// again has the clock run on after it has fired.
func (t *Table) again(fired time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over && !t.clock.due.After(fired) {
		t.armLocked(time.Now())
	}
}

// lateness says when a call was begun that is ended without a reply, and why.
func (t *Table) lateness(call *Call, now time.Time, limits *config.Timeouts) (began time.Time, why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if call.stray != nil && !now.Before(call.due) {
		return call.started, call.stray
	}
	e := &TimeoutError{What: "idle", After: limits.CallIdle}
	if t.strayed != nil && !t.strayed.at.Before(call.started) {
		e.Stray = t.strayed
	}
	if now.Sub(call.started) >= limits.CallTotal {
		e.What, e.After = "total", limits.CallTotal
	}
	return call.started, e
}

// silence is how many calls in a row got no reply in time.
func (t *Table) silence() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.silent
}
