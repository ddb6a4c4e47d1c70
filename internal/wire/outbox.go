package wire

import (
	"context"
	"io"
	"sync"
	"syscall"
	"time"
)

// DefaultLimit is how many bytes an [Outbox] queues before it counts as full.
const DefaultLimit = 8 << 20

const chunkSize = 64 << 10

// Outbox sends messages to one peer, one line each, in the order given, and
// never makes the sender wait for the peer.
//
// While the peer keeps up, Send writes on the sender's goroutine, message and
// newline at once, where the writer can be written to without waiting. What the
// peer does not take is queued, and a goroutine that lives only as long as the
// queue writes it.
//
// Go programs die of SIGPIPE when they write to a broken standard output; a
// program that sends there ignores the signal (os/signal) to get EPIPE as an
// error instead.
type Outbox struct {
	w     io.Writer
	raw   syscall.RawConn // not nil where w can be written to without waiting
	limit int64
	done  chan struct{}

	mu      sync.Mutex
	err     error
	queue   [][]byte
	in, out int64         // bytes queued and bytes taken from the queue and written, ever
	running bool          // the goroutine lives
	changed chan struct{} // closed when out grows; nil if nobody waits
	line    []byte        // the message being written, with its newline
}

// NewOutbox returns an Outbox that writes to w. More than limit bytes in the
// queue, newlines included, make Offer refuse and Wait wait; 0 means
// [DefaultLimit]. The Outbox is the only writer to w.
func NewOutbox(w io.Writer, limit int) *Outbox {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Outbox{w: w, raw: nonBlocking(w), limit: int64(limit), done: make(chan struct{})}
}

// Send sends msg, which holds no newline and is not kept. It is accepted however
// much is queued; the error is that of a broken or closed Outbox.
func (o *Outbox) Send(msg []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sendLocked(msg)
}

// Offer is Send, but returns ErrFull and drops msg when more than the limit is
// queued.
func (o *Outbox) Offer(msg []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && o.in-o.out > o.limit {
		return ErrFull
	}
	return o.sendLocked(msg)
}

func (o *Outbox) sendLocked(msg []byte) error {
	if o.err != nil {
		return o.err
	}
	o.line = append(append(o.line[:0], msg...), '\n')
	rest := o.line
	if o.raw != nil && !o.running {
		n, err := attempt(o.raw, rest)
		if err != nil {
			o.breakLocked(err)
			return err
		}
		rest = rest[n:]
	}
	o.enqueueLocked(rest)
	if cap(o.line) > chunkSize {
		o.line = nil
	}
	return nil
}

func (o *Outbox) enqueueLocked(p []byte) {
	if len(p) == 0 {
		return
	}
	o.in += int64(len(p))
	if n := len(o.queue); n > 0 && len(o.queue[n-1])+len(p) <= cap(o.queue[n-1]) {
		o.queue[n-1] = append(o.queue[n-1], p...)
	} else {
		chunk := make([]byte, 0, max(chunkSize, len(p)))
		o.queue = append(o.queue, append(chunk, p...))
	}
	if !o.running {
		o.running = true
		go o.drain()
	}
}

// drain writes the queue until it is empty or the Outbox ends.
func (o *Outbox) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && len(o.queue) > 0 {
		chunk := o.queue[0]
		o.queue[0] = nil
		o.queue = o.queue[1:]
		o.mu.Unlock()
		_, err := o.w.Write(chunk)
		o.mu.Lock()
		if err != nil {
			o.breakLocked(err)
		}
		o.out += int64(len(chunk))
		o.wakeLocked()
	}
	o.running = false
}

func (o *Outbox) wakeLocked() {
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}

// breakLocked ends the Outbox with err, once.
func (o *Outbox) breakLocked(err error) {
	if o.err != nil {
		return
	}
	o.err = err
	o.queue = nil
	close(o.done)
}

// Wait returns when no more than the limit is queued, when the Outbox breaks or
// is closed, or when ctx ends; the error tells which.
func (o *Outbox) Wait(ctx context.Context) error {
	return o.await(ctx, func() bool { return o.in-o.out <= o.limit })
}

// Flush returns when everything sent before the call is written, or like Wait.
func (o *Outbox) Flush(ctx context.Context) error {
	o.mu.Lock()
	goal := o.in
	o.mu.Unlock()
	return o.await(ctx, func() bool { return o.out >= goal })
}

func (o *Outbox) await(ctx context.Context, reached func() bool) error {
	for {
		o.mu.Lock()
		if o.err != nil || reached() {
			defer o.mu.Unlock()
			return o.err
		}
		if o.changed == nil {
			o.changed = make(chan struct{})
		}
		changed := o.changed
		o.mu.Unlock()
		select {
		case <-changed:
		case <-o.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close drops what is queued and ends the Outbox without waiting. It does not
// close the writer, but leaves a write deadline in the past on one that has
// deadlines, so that a write in progress ends; where it has none, the goroutine
// ends when that write does.
func (o *Outbox) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return nil
	}
	o.breakLocked(ErrClosed)
	if d, ok := o.w.(interface{ SetWriteDeadline(time.Time) error }); ok && o.running {
		d.SetWriteDeadline(time.Unix(1, 0))
	}
	return nil
}

// Err returns nil while the Outbox works, then what ended it: the error of a
// write, or ErrClosed.
func (o *Outbox) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Done is closed when writing has failed or Close was called.
func (o *Outbox) Done() <-chan struct{} { return o.done }
