package link

import (
	"bytes"
	"context"
	"sync"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// builtin speaks to a server inside this process. A session takes one message at a time and none after its Close, so
// what comes while it is at one is queued and handed on by the goroutine that is there. A lock held meanwhile would not
// do: a session may answer before Receive returns, and the answer may bring the next message.
type builtin struct {
	plain
	endpoint wire.Endpoint
	session  wire.Session
	done     chan struct{} // closed by Close

	mu     sync.Mutex
	queue  [][]byte
	busy   bool // a goroutine is in Receive
	closed bool
	idle   sync.Cond // signalled when busy ends
}

// Builtin connects to a server inside this process.
func Builtin(endpoint wire.Endpoint) Link {
	l := &builtin{endpoint: endpoint, done: make(chan struct{})}
	l.idle.L = &l.mu
	return l
}

func (l *builtin) Begin(r Receiver) {
	messages := sync.Pool{New: func() any { return new(wire.Message) }}
	l.session = l.endpoint.Connect(func(msg []byte) {
		m := messages.Get().(*wire.Message)
		if err := wire.Scan(msg, m); err != nil {
			r.Noise(msg, err)
		} else {
			r.Receive(m, 0)
		}
		messages.Put(m)
	})
}

func (l *builtin) Send(msg []byte, _ uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	if l.busy {
		l.queue = append(l.queue, bytes.Clone(msg))
		return nil
	}
	l.busy = true
	for {
		l.mu.Unlock()
		l.session.Receive(msg)
		l.mu.Lock()
		if len(l.queue) == 0 {
			break
		}
		msg, l.queue = l.queue[0], l.queue[1:]
	}
	l.busy = false
	l.idle.Broadcast()
	return nil
}

func (l *builtin) Tell(msg []byte, _ func(error)) error { return l.Send(msg, 0) }

func (l *builtin) Nature() Nature        { return Nature{Inside: true} }
func (l *builtin) Done() <-chan struct{} { return l.done }
func (l *builtin) Cause() error          { return ErrClosed }

func (l *builtin) Close(ctx context.Context) error {
	l.mu.Lock()
	if !l.closed {
		l.closed, l.queue = true, nil
		close(l.done)
	}
	for l.busy {
		l.idle.Wait()
	}
	l.mu.Unlock()
	return l.session.Close(ctx)
}
