package wire

import (
	"context"
	"io"
	"sync"
	"time"
)

// Endpoint is an MCP peer inside this process that sessions can be made with.
type Endpoint interface {
	// Connect begins a session. send delivers one message to the other side, in
	// the order of the calls, from any goroutine, and never blocks for long; it
	// copies msg before it returns.
	Connect(send func(msg []byte)) Session
}

// Session is one peer's conversation with an [Endpoint].
type Session interface {
	// Receive takes one message, which is valid only during the call. It returns
	// soon: work that may wait goes on by itself.
	Receive(msg []byte)
	// Close says that no more messages come. It returns when all that was
	// received is answered, or when ctx ends; after it nothing is sent.
	Close(ctx context.Context) error
}

// ServeOptions are the knobs of [Serve]; the zero value is what a peer on
// standard input and output gets.
type ServeOptions struct {
	MaxMessage int           // longest message accepted, in bytes; 0 = DefaultMaxMessage
	Limit      int           // bytes queued for the peer before reading pauses; 0 = DefaultLimit
	Drain      time.Duration // how long answers may take after the end of the input; 0 = 2 s
}

// Serve runs one session of e over newline-delimited streams until in ends, ctx
// ends, or out breaks. A line that is too long is answered with an error. While
// the peer leaves more than the limit unread, nothing more is read from it.
//
// At the end the session is closed, with the grace of opts.Drain, and what it
// sent is flushed. Serve returns nil at the end of in, otherwise the cause. If
// ctx ends while a Read of in cannot be interrupted, that Read is left behind;
// what it returns is thrown away.
func Serve(ctx context.Context, in io.Reader, out io.Writer, e Endpoint, opts ServeOptions) error {
	if opts.Drain == 0 {
		opts.Drain = 2 * time.Second
	}
	box := NewOutbox(out, opts.Limit)
	defer box.Close()
	s := e.Connect(func(msg []byte) { box.Send(msg) })
	p := &pump{in: NewReader(in, opts.MaxMessage), box: box, session: s}

	reading, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- p.run(reading) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-box.Done():
		err = box.Err()
	}
	stop()
	p.stop(in)

	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), opts.Drain)
	defer cancel()
	if box.Err() != nil {
		cancel() // nobody is left to hear the answers
	}
	s.Close(grace)
	flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), opts.Drain)
	defer cancel()
	box.Flush(flush)
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

	mu      sync.Mutex // held during Receive, so that stop waits for it
	stopped bool
}

func (p *pump) run(ctx context.Context) error {
	for {
		if err := p.box.Wait(ctx); err != nil {
			return err
		}
		line, err := p.in.Next()
		if long, ok := asTooLong(err); ok {
			p.refuse(long)
			continue
		}
		if err != nil {
			return err
		}
		if !p.receive(line) {
			return context.Cause(ctx)
		}
	}
}

func (p *pump) receive(line []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return false
	}
	p.session.Receive(line)
	return true
}

// refuse answers a line that is too long. An answer that is too long must not
// be answered, its id is one of ours: the session is told in its place.
func (p *pump) refuse(long *TooLongError) {
	msg := AppendError(nil, long.ID(), CodeInvalidRequest, long.Error(), nil)
	switch long.Kind() {
	case Result, Failure:
		p.receive(msg)
	default:
		p.box.Send(msg)
	}
}

// stop ends the reading: afterwards the session receives nothing.
func (p *pump) stop(in io.Reader) {
	if d, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok {
		d.SetReadDeadline(time.Unix(1, 0))
	}
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
}
