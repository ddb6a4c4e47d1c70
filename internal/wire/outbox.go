package wire

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
)

// DefaultLimit is how many bytes an [Outbox] queues before it counts as full.
const DefaultLimit = account.Unread

// chunkSize is how many bytes leave the queue in one write at most.
const chunkSize = 64 << 10

// chunks are used again, by whatever Outbox: a long message that waits takes many, which would be as much garbage as it
// is long.
var chunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// Outbox sends messages to one peer, one line each, in the order given, and never makes the sender wait for the peer.
//
// While the peer keeps up, Send writes on the sender's own goroutine, message and newline in one system call that does
// not wait. What the peer does not take is queued and written by a goroutine that lives only as long as the queue.
// Files, pipes and sockets of Unix systems in non-blocking mode can be written to like this, on Linux 6.4 and later
// also those in blocking mode, as an inherited standard output mostly is. For any other writer the goroutine does all
// the writing.
//
// A Go program dies of SIGPIPE when a write to standard output finds it broken. A program that gives os.Stdout to an
// Outbox prevents this with signal.Notify and gets EPIPE as the error here; signal.Ignore would also do, but is
// inherited by the processes the program starts.
type Outbox struct {
	w      io.Writer
	limit  int64
	unread *account.Account // of what is queued
	done   chan struct{}    // closed when err is set
	direct *direct          // nil where w cannot be written to without waiting

	mu       sync.Mutex
	err      error
	queue    [][]byte      // chunks, all full but the last
	in, out  int64         // bytes that entered and left the queue, ever
	draining bool          // the goroutine lives
	changed  chan struct{} // closed when out grows; nil while nobody waits
}

// NewOutbox returns an Outbox that writes to w, which nobody else writes to. A w with SyscallConn and SetWriteDeadline
// is written to past its own Write while that does not wait, and loses its write deadline. When more than limit bytes
// are queued, newlines included, Offer refuses and Wait waits; 0 means [DefaultLimit].
func NewOutbox(w io.Writer, limit int) *Outbox {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Outbox{w: w, limit: int64(limit), unread: account.New(limit, nil), done: make(chan struct{}), direct: newDirect(w)}
}

// Send sends msg, which holds no newline and is not kept. It is accepted however much is queued; the error is that of a
// broken or closed Outbox.
func (o *Outbox) Send(msg []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sendLocked(msg)
}

// Offer is Send, but returns [ErrFull] and drops msg while more than the limit is queued.
func (o *Outbox) Offer(msg []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && o.fullLocked() {
		return ErrFull
	}
	return o.sendLocked(msg)
}

func (o *Outbox) sendLocked(msg []byte) error {
	if o.err != nil {
		return o.err
	}
	if o.direct == nil || o.draining {
		o.enqueueLocked(msg)
		return nil
	}
	n, err := o.direct.writeLine(msg)
	switch {
	case err == errUnable:
		o.direct = nil
		o.enqueueLocked(msg)
	case err != nil:
		o.breakLocked(err)
	case n <= len(msg):
		o.enqueueLocked(msg[n:])
	}
	return o.err
}

// enqueueLocked queues p and a newline.
func (o *Outbox) enqueueLocked(p []byte) {
	o.in += int64(len(p)) + 1
	o.unread.Keep(len(p) + 1)
	o.appendLocked(p)
	o.appendLocked([]byte{'\n'})
	if !o.draining {
		o.draining = true
		go o.drain()
	}
}

func (o *Outbox) appendLocked(p []byte) {
	for len(p) > 0 {
		last := len(o.queue) - 1
		if last < 0 || len(o.queue[last]) == chunkSize {
			o.queue = append(o.queue, chunks.Get().(*[chunkSize]byte)[:0])
			last++
		}
		n := min(chunkSize-len(o.queue[last]), len(p))
		o.queue[last] = append(o.queue[last], p[:n]...)
		p = p[n:]
	}
}

// drain writes the queue until it is empty or the Outbox ends. The chunk being written has left the queue, so that
// senders fill the next one meanwhile.
func (o *Outbox) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && len(o.queue) > 0 {
		chunk := o.queue[0]
		o.queue = slices.Delete(o.queue, 0, 1)
		o.mu.Unlock()
		n, err := o.w.Write(chunk)
		if err == nil && n < len(chunk) {
			err = io.ErrShortWrite
		}
		o.mu.Lock()
		switch {
		case err != nil:
			o.breakLocked(err)
		case o.err == nil: // else it is credited already
			o.unread.Credit(len(chunk))
		}
		o.out += int64(len(chunk))
		chunks.Put((*[chunkSize]byte)(chunk[:chunkSize]))
		if o.changed != nil {
			close(o.changed)
			o.changed = nil
		}
	}
	o.draining = false
}

// breakWith ends the Outbox with err, unless it has ended.
func (o *Outbox) breakWith(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.breakLocked(err)
}

// breakLocked ends the Outbox with err, once.
func (o *Outbox) breakLocked(err error) {
	if o.err != nil {
		return
	}
	o.err = err
	o.queue = nil
	o.unread.Credit(int(o.in - o.out))
	close(o.done)
}

// Wait returns nil when no more than the limit is queued, the error of the Outbox if it breaks or is closed before
// that, and the cause of ctx if that ends first.
func (o *Outbox) Wait(ctx context.Context) error {
	return o.await(ctx, func() bool { return !o.fullLocked() })
}

// writtenAfter returns nil when more than n bytes of the queue have been written, ever, and errors like Wait.
func (o *Outbox) writtenAfter(ctx context.Context, n int64) error {
	return o.await(ctx, func() bool { return o.out > n })
}

// Flush returns nil when everything sent before the call is written, and errors like Wait.
func (o *Outbox) Flush(ctx context.Context) error {
	o.mu.Lock()
	goal := o.in
	o.mu.Unlock()
	return o.await(ctx, func() bool { return o.out >= goal })
}

// await waits until reached, which is called with o.mu held.
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

func (o *Outbox) fullLocked() bool { return o.in-o.out > o.limit }

// hasRoom reports whether no more than the limit is queued, and nobody waits to send more.
func (o *Outbox) hasRoom() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err != nil || !o.fullLocked() && !o.unread.Held()
}

// lags reports whether more than an eighth of the limit is queued.
func (o *Outbox) lags() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.in-o.out > o.limit/8
}

// written returns how many queued bytes have been written so far.
func (o *Outbox) written() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out
}

// Close drops what is queued and ends the Outbox; it waits for nothing, and may be called more than once. It does not
// close the writer. A write in progress ends at once where the writer has SetWriteDeadline, which is left in the past;
// otherwise the goroutine ends when that write does, as it will when the owner closes the writer.
func (o *Outbox) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.breakLocked(ErrClosed)
	if d, ok := o.w.(interface{ SetWriteDeadline(time.Time) error }); ok && o.draining {
		// A file in blocking mode has the method, but refuses: nothing is lost.
		_ = d.SetWriteDeadline(time.Unix(1, 0))
	}
	return nil
}

// Err returns nil while the Outbox works, then what ended it: the error of a write, or [ErrClosed].
func (o *Outbox) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Done returns a channel that is closed when writing has failed or Close was called.
func (o *Outbox) Done() <-chan struct{} { return o.done }
