package link

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/pause"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/remote"
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

// turn is called as messages are sent. wait returns when a message may be posted. pass lets go those that wait for it,
// and done is to be called when it has arrived, or will not. A notification or reply, which nobody waits for, is refused
// with ErrBusy while too many have not arrived: a server may ask faster than it takes answers.
func (o *order) turn(size int, request bool) (wait func(context.Context), pass, done func(), err error) {
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
		return wait, func() {}, func() {}, nil
	}
	if o.waiting > wire.DefaultLimit {
		return nil, nil, nil, ErrBusy
	}
	size += waiterSize
	o.waiting += size
	arrived := make(chan struct{})
	o.last = arrived
	pass = sync.OnceFunc(func() { close(arrived) })
	return wait, pass, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.waiting -= size
		pass()
	}, nil
}

// patiently posts a message that has no reply, again as long as the server wants to be left alone. What comes after the
// message is let go meanwhile: the server refuses that itself.
func patiently(ctx context.Context, post func() error, pass func()) error {
	for {
		err := post()
		var refused *remote.StatusError
		if !errors.As(err, &refused) || refused.Next.IsZero() {
			return err
		}
		pass()
		if pause.For(ctx, time.Until(refused.Next)) != nil {
			return err
		}
	}
}
