package link

import (
	"context"
	"sync"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// waiterSize is what is charged for a message that waits to be posted besides its bytes: each has a goroutine.
const waiterSize = 4 << 10

// order keeps messages that are posted one by one from overtaking the notification before them: what follows it waits
// until it has arrived, or the server would meet requests that it is not ready for.
type order struct {
	mu      sync.Mutex
	last    chan struct{} // closed when the last notification has arrived
	waiting int           // bytes of notifications and replies
}

// turn is called as messages are sent. wait returns when a message may be posted, and done is to be called when it has
// arrived. A notification or reply, which nobody waits for, is refused with ErrBusy while too many have not arrived: a
// server may ask faster than it takes answers.
func (o *order) turn(size int, request bool) (wait func(context.Context), done func(), err error) {
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
	if request {
		return wait, func() {}, nil
	}
	if o.waiting > wire.DefaultLimit {
		return nil, nil, ErrBusy
	}
	size += waiterSize
	o.waiting += size
	arrived := make(chan struct{})
	o.last = arrived
	return wait, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.waiting -= size
		close(arrived)
	}, nil
}
