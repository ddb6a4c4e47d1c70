package runs

import (
	"context"
	"fmt"
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

// expire ends the run if nothing has happened in it for too long. It is kept with all its events, and can be taken up again.
func (t *turn) expire(ctx context.Context) error {
	at := t.e.expires(t.r.Status, t.r.Updated)
	if at == nil || time.Now().Before(*at) || time.Now().Before(t.r.Held) {
		return nil
	}
	t.note(Event{Kind: Expired, Text: fmt.Sprintf("nothing had happened in it since %s, for longer than %v", t.r.Updated.UTC().Format("2006-01-02 15:04"), t.e.expiry())})
	return t.flush(ctx, 0, nil)
}

// due says when a run that was found expires. One that has is shown so also before it is noted in it.
func (f *Found) due(expire time.Duration) {
	if expire <= 0 || f.Head.Status.Over() {
		return
	}
	at := f.Updated.Add(expire).UTC()
	if f.Expires = &at; !time.Now().Before(at) && !time.Now().Before(f.Held) {
		f.Head.Status = StatusExpired
	}
}
