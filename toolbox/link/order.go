package link

import (
	"context"
	"sync"
)

// order keeps messages that are posted one by one from overtaking the notification before them: what follows it waits
// until it has arrived, or the server would meet requests that it is not ready for.
type order struct {
	mu   sync.Mutex
	last chan struct{} // closed when the last notification has arrived
}

// turn is called as messages are sent. wait returns when a message may be posted, and done is to be called when it has
// arrived.
func (o *order) turn(notification bool) (wait func(context.Context), done func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.last
	wait = func(ctx context.Context) {
		if before == nil {
			return
		}
		select {
		case <-before:
		case <-ctx.Done():
		}
	}
	if !notification {
		return wait, func() {}
	}
	arrived := make(chan struct{})
	o.last = arrived
	return wait, func() { close(arrived) }
}
