package runs

import (
	"time"
)

func (e *Engine) expiry() time.Duration {
	if e.opts.Expire == nil {
		return 0
	}
	return e.opts.Expire()
}

// expires says when a run expires in which nothing happens from now on; nil: never, or it is over.
func (e *Engine) expires(status Status, updated time.Time) *time.Time {
	most := e.expiry()
	if most <= 0 || status.Over() {
		return nil
	}
	at := updated.Add(most).UTC()
	return &at
}
