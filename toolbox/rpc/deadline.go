package rpc

import (
	"time"

	"github.com/mcp-workbench/workbench/config"
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

// deadline is when a call is late; ok is false if it never is. While the silence of the server is not its doing, the
// call is looked at again by and by.
func (c *Call) deadline(l *config.Timeouts, excused bool) (at time.Time, ok bool) {
	if c.Open || c.bounded {
		return c.due, c.stray != nil
	}
	idle, total := c.active.Add(l.CallIdle), c.started.Add(l.CallTotal)
	if excused {
		idle = time.Now().Add(l.CallIdle)
	}
	if total.Before(idle) {
		idle = total
	}
	if c.stray != nil && c.due.Before(idle) {
		return c.due, true
	}
	return idle, true
}
