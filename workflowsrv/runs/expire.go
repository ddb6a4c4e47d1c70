package runs

import (
	"time"
)

// expires says when a run expires in which nothing happens from now on; nil: never, or it is over.
func (e *Engine) expires(r *Run) *time.Time { return r.Head.expires(r.Updated, e.opts.Expire()) }

// expires says when a run expires to which nothing has happened since it was updated, if that may be so for most, 0 for
// ever. The time for which a step waits is no such time: it is as the file wants it.
func (h Head) expires(updated time.Time, most time.Duration) *time.Time {
	if most <= 0 || h.Status.Over() {
		return nil
	}
	if h.Rests != nil && h.Rests.After(updated) {
		updated = *h.Rests
	}
	at := updated.Add(most).UTC()
	if at.Year() > 9999 { // which JSON cannot say: a clock was far ahead, here or where the run is from
		return nil
	}
	return &at
}
