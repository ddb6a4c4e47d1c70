package wire

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
)

// Endpoint is an MCP peer inside this process that sessions can be made with.
type Endpoint interface {
	// Connect begins a session. send delivers one message to the other side, in the order of the calls, from any
	// goroutine, and never blocks for long; it copies msg before it returns.
	Connect(send func(msg []byte)) Session
}

// Session is one peer's conversation with an [Endpoint].
type Session interface {
	// Receive takes one message, which is valid only during the call. It returns soon: work that may wait goes on by
	// itself. Calls do not overlap.
	Receive(msg []byte)
	// Close says that no more messages come. It returns when all that was received is answered, or when ctx ends; after
	// it nothing is sent.
	Close(ctx context.Context) error
}

// Throttled is a Session that heeds whether its peer keeps up. [Serve] calls Throttle once, before the first message.
// behind reports whether the peer leaves more than an eighth of the limit unread, at any time and from any goroutine:
// what can be left out then is not to delay what cannot. unread is the account of what waits for the peer, where
// whoever has more to send can wait too: while somebody does, nothing is read from the peer.
type Throttled interface {
	Session
	Throttle(behind func() bool, unread *account.Account)
}

// ServeOptions are the limits of [Serve].
type ServeOptions struct {
	MaxMessage int           // longest message accepted, in bytes; 0 = DefaultMaxMessage
	Limit      int           // bytes queued for the peer before reading pauses; 0 = DefaultLimit
	Stall      time.Duration // how long the peer may take to read 64 KiB while reading pauses; 0 = 30 s
	Drain      time.Duration // how long answering may go on at the end, and sending half as long again; 0 = 1 s
	Ending     func()        // is called once when nothing more is read; nil means that nobody is to know
}

// Serve runs one session of e over newline-delimited streams until in ends, ctx ends, or out breaks. While the peer
// leaves more than the limit unread, nothing more is read from it, unless it has closed its end of in: what is left
// there is little. When the peer then reads next to nothing, Serve ends with [ErrStalled]. It ends with [ErrGone] when
// nobody is left to read from out, also while there is nothing to send.
//
// A line that is too long is answered with [CodeInvalidRequest]. If it was an answer itself, the session receives that
// error in its place.
//
// At the end the session is closed and what it sent is flushed. Serve returns nil after the end of in, otherwise the
// cause. It interrupts a Read of in by a deadline; one that takes none is left behind, and what it reads is lost.
func Serve(ctx context.Context, in io.Reader, out io.Writer, e Endpoint, opts ServeOptions) error {
	opts.Stall = cmp.Or(opts.Stall, 30*time.Second)
	opts.Drain = cmp.Or(opts.Drain, time.Second)
	box := NewOutbox(out, opts.Limit)
	defer box.Close()
	p := &pump{in: NewReader(in, opts.MaxMessage), box: box, stall: opts.Stall, patience: opts.Drain}
	p.left, p.gone = hangup(in, halfClosed), hangup(out, 0)
	p.session = e.Connect(func(msg []byte) { _ = box.Send(msg) }) // Done tells of errors

	if t, ok := p.session.(Throttled); ok {
		t.Throttle(box.lags, box.unread)
	}

	err := p.serve(ctx, in)

	if opts.Ending != nil {
		opts.Ending()
	}
	last := time.Now().Add(opts.Drain * 3 / 2) // whatever the session does meanwhile
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), opts.Drain)
	defer cancel()
	if box.Err() != nil || err == ErrStalled {
		cancel() // nobody is left to hear the answers
	}
	_ = p.session.Close(grace)
	if err != ErrStalled {
		flush, cancel := context.WithDeadline(context.WithoutCancel(ctx), last)
		defer cancel()
		_ = box.Flush(flush)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// pump moves messages from a reader to a session.
type pump struct {
	in      *Reader
	box     *Outbox
	session Session

	left     func() bool   // whether the peer has closed its end of in; nil where that cannot be known
	gone     func() bool   // whether nobody can read from out any more; nil where that cannot be known
	stall    time.Duration // how long to wait for a peer that reads nothing
	patience time.Duration // how long to wait for a Read that was interrupted

	mu      sync.Mutex // held during Receive, so that stopping waits for it
	stopped bool
}

// look is the time from one look to the next at whether anybody can read from out. A peer to which nothing is sent may
// be gone while another program, which it has started, holds its end of in open.
const look = 2 * time.Second

// serve runs the pump until it ends, or has to. Afterwards the session receives nothing more.
func (p *pump) serve(ctx context.Context, in io.Reader) error {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- p.run(reading) }()
	var looking <-chan time.Time
	if p.gone != nil {
		looking = time.Tick(look)
	}
	var err error
	for err == nil {
		select {
		case err = <-ended:
			return err
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-p.box.Done():
			err = p.box.Err()
		case <-looking:
			if p.gone() {
				p.box.breakWith(ErrGone)
			}
		}
	}
	cancel()
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	d, ok := in.(interface{ SetReadDeadline(time.Time) error })
	if !ok || d.SetReadDeadline(time.Unix(1, 0)) != nil {
		return err
	}
	select {
	case <-ended:
		_ = d.SetReadDeadline(time.Time{})
	case <-time.After(p.patience):
		// A file that os.File.Fd was called on takes deadlines and heeds none.
	}
	return err
}

func (p *pump) run(ctx context.Context) error {
	for {
		if err := p.room(ctx); err != nil {
			return err
		}
		line, err := p.in.Next()
		if err != nil {
			var long *TooLongError
			if !errors.As(err, &long) {
				return err
			}
			p.refuse(long)
			continue
		}
		if !p.receive(line) {
			return context.Cause(ctx)
		}
	}
}

// glance is how often a peer that is to read first is looked at.
const glance = 100 * time.Millisecond

var errGlance = errors.New("glance")

// room waits until the peer has read enough to be given more to answer, or has nothing more to say.
func (p *pump) room(ctx context.Context) error {
	if p.box.hasRoom() {
		return nil
	}
	written, since := p.box.written(), time.Now()
	for !(p.left != nil && p.left()) && !p.box.hasRoom() {
		wait, cancel := context.WithTimeoutCause(ctx, glance, errGlance)
		err := p.box.writtenAfter(wait, written)
		cancel()
		now := p.box.written()
		switch {
		case err != nil && err != errGlance:
			return err
		case now != written:
			written, since = now, time.Now()
		case time.Since(since) >= p.stall:
			return ErrStalled
		}
	}
	return nil
}

// receive hands a message to the session, and reports false if it is too late.
func (p *pump) receive(msg []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return false
	}
	p.session.Receive(msg)
	return true
}

// refuse answers a line that is too long. The id of an answer is one of ours and says nothing to the peer; it is the
// session that waits for it.
func (p *pump) refuse(long *TooLongError) {
	msg := AppendError(nil, long.ID(), CodeInvalidRequest, long.Error(), nil)
	switch long.Kind() {
	case Result, Failure:
		p.receive(msg)
	default:
		_ = p.box.Send(msg)
	}
}
