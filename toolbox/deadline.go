package toolbox

import (
	"context"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// deadlineClock fires when the first of the pending calls may be too late. Its owner's lock guards it.
type deadlineClock struct {
	timer *time.Timer
	armed bool      // the timer runs; no pending call is late before it fires
	due   time.Time // when the timer is to fire
}

// set has the clock fire at a moment.
func (d *deadlineClock) set(now, next time.Time, fire func()) {
	if next.Before(now) {
		next = now // a time-out was made shorter; nobody overslept
	}
	d.armed, d.due = true, next
	if d.timer == nil {
		d.timer = time.AfterFunc(next.Sub(now), fire)
	} else {
		d.timer.Reset(next.Sub(now))
	}
}

func (d *deadlineClock) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

// armLocked sets the clock to the earliest moment at which a pending call can be too late. It is left to run when calls end:
// later calls are late later.
func (t *callTable) armLocked(now time.Time) {
	var next time.Time
	limits, held := &t.server.bounds.Load().Timeouts, t.held()
	for _, call := range t.pending {
		if at := call.deadline(limits, held); !call.open && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if t.clock.armed = !next.IsZero(); t.clock.armed {
		t.clock.set(now, next, t.late)
	}
}

// rearm has the pending calls follow time-outs that were changed.
func (t *callTable) rearm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clock.armed {
		t.armLocked(time.Now())
	}
}

// deadline is when a call is late. While its connection is held up, that it hears
// nothing is not the server's doing: it is looked at again by and by.
func (c *Call) deadline(l *config.Timeouts, held bool) time.Time {
	idle, total := c.active.Add(l.CallIdle), c.started.Add(l.CallTotal)
	if held {
		idle = time.Now().Add(l.CallIdle)
	}
	if total.Before(idle) {
		idle = total
	}
	if c.stray != nil && c.due.Before(idle) {
		return c.due
	}
	return idle
}

// overslept is how late a timer rings in a program that was stopped meanwhile,
// and how long the replies that came while it was are then waited for.
const overslept = 500 * time.Millisecond

// tooLate returns the pending calls whose time is over, and how many in a row got no reply with them. They are counted before
// anybody is told: whoever is told may make the next call, whose reply says that the server lives.
func (t *callTable) tooLate(now time.Time, limits *config.Timeouts) (late []*Call, silent int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.clock.due) > overslept {
		t.clock.due = now.Add(overslept)
		t.clock.timer.Reset(overslept)
		return nil, 0
	}
	held := t.held()
	for _, call := range t.pending {
		if !call.open && !now.Before(call.deadline(limits, held)) {
			late = append(late, call)
		}
	}
	t.silent += len(late)
	return late, t.silent
}

// expire ends the calls whose time is over. It runs on the timer's goroutine.
func (c *conn) expire() {
	now, limits := time.Now(), &c.server.bounds.Load().Timeouts
	late, silent := c.calls.tooLate(now, limits)
	for _, call := range late {
		if !call.finish() {
			continue
		}
		c.server.counts.lost.Add(1)
		c.cancel(call, nil, wire.Span{})
		call.Handler.Done(nil, c.lost(c.calls.lateness(call, now, limits)))
	}
	c.calls.again(now)
	c.server.pump()
	if len(late) > 0 && silent >= silentCalls {
		c.server.box.tasks.Begin(func() { c.probe(silent) })
	}
}

// again has the clock run on after it has fired.
func (t *callTable) again(fired time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over && !t.clock.due.After(fired) {
		t.armLocked(time.Now())
	}
}

// lateness says why a call is ended that has no reply.
func (t *callTable) lateness(call *Call, now time.Time, limits *config.Timeouts) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if call.stray != nil && !now.Before(call.due) {
		return call.stray
	}
	e := &TimeoutError{What: "idle", After: limits.CallIdle}
	if t.strayed != nil && !t.strayed.at.Before(call.started) {
		e.Stray = t.strayed
	}
	if now.Sub(call.started) >= limits.CallTotal {
		e.What, e.After = "total", limits.CallTotal
	}
	return e
}

// After so many calls in a row without a reply a server is asked whether it
// lives; any answer will do, an error too.
const (
	silentCalls = 3
	pingWait    = 10 * time.Second
)

// probe finds out whether a server that leaves calls unanswered is there at
// all, and has it started anew if not.
func (c *conn) probe(silent int) {
	ctx, cancel := context.WithTimeout(c.server.life, pingWait)
	defer cancel()
	// Whatever it says, it spoke.
	if c.hello.Modern {
		_, _ = c.call(ctx, "server/discover", nil)
	} else {
		_, _ = c.call(ctx, "ping", nil)
	}
	if c.calls.isSilent() && ctx.Err() != context.Canceled {
		c.breakOff(&SilenceError{Calls: silent, Wait: pingWait})
	}
}

// isSilent reports whether so many calls in a row got no reply that the server may not live.
func (t *callTable) isSilent() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.silent >= silentCalls
}
