package toolbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// builtinLink speaks to a server inside this process.
type builtinLink struct {
	endpoint wire.Endpoint
	session  wire.Session
	done     chan struct{}
	once     sync.Once
}

func (s *Server) dialBuiltin() (link, error) {
	build, ok := s.box.opts.Builtins[s.cfg.Builtin]
	if !ok {
		return nil, fmt.Errorf("there is no built-in server %q", s.cfg.Builtin)
	}
	endpoint, err := build(s.cfg)
	if err != nil {
		return nil, err
	}
	return &builtinLink{endpoint: endpoint, done: make(chan struct{})}, nil
}

func (l *builtinLink) Begin(r receiver) {
	messages := sync.Pool{New: func() any { return new(wire.Message) }}
	l.session = l.endpoint.Connect(func(msg []byte) {
		m := messages.Get().(*wire.Message)
		if err := wire.Scan(msg, m); err != nil {
			r.Noise(msg, err)
		} else {
			r.Receive(m)
		}
		messages.Put(m)
	})
}

func (l *builtinLink) Send(msg []byte, _ uint64) error {
	select {
	case <-l.done:
		return ErrClosed
	default:
		l.session.Receive(msg)
		return nil
	}
}

func (l *builtinLink) Abandon(uint64)        {}
func (l *builtinLink) Handshaken(string)     {}
func (l *builtinLink) Done() <-chan struct{} { return l.done }
func (l *builtinLink) Cause() error          { return ErrClosed }
func (l *builtinLink) PID() int              { return 0 }

func (l *builtinLink) Close(ctx context.Context) error {
	l.once.Do(func() { close(l.done) })
	err := l.session.Close(ctx)
	if c, ok := l.endpoint.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	return err
}
