package toolbox

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// LevelWait is how long what a server is sent after a log level waits for it to
// take that.
const LevelWait = 2 * time.Second

// Leveled is a server that is told a log level. Done is closed when it has
// answered; it is nil for one that is told when it has started.
type Leveled struct {
	Server *Server
	Done   <-chan struct{}
}

// SetLevel has the servers log from a level on: those that run and those that are
// starting in the order of all that they are sent, all others when they start.
func (t *Toolbox) SetLevel(level string) (told []Leveled) {
	t.mu.Lock()
	t.level = level
	servers := t.servers
	t.mu.Unlock()
	for _, s := range servers {
		if done, is := s.setLevel(level); is {
			told = append(told, Leveled{s, done})
		}
	}
	return told
}

// leveler is a logging/setLevel on its way.
type leveler struct {
	server *Server
	level  string
	call   *Call
	done   chan struct{}
}

func (l *leveler) Progress(*wire.Message, wire.Span) {}

// Done has what waits for the server go on. One that refuses the level goes on
// logging as it did.
func (l *leveler) Done(*wire.Message, error) {
	l.server.mu.Lock()
	l.server.level = l.level
	l.server.mu.Unlock()
	close(l.done)
	l.server.release(l.call)
}

// setLevel reports whether the server is told now or when it has started; else it
// is told if it is started.
func (s *Server) setLevel(level string) (done <-chan struct{}, is bool) {
	s.mu.Lock()
	c, starting := s.conn, s.status.passing()
	if c == nil && !starting {
		s.level = level
	}
	s.mu.Unlock()
	if c == nil && !starting {
		return nil, false
	}
	l := &leveler{server: s, level: level, done: make(chan struct{})}
	raw := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":0,"method":"logging/setLevel","params":{"level":%q}}`, level)
	m := scanOwn(raw)
	l.call = &Call{Raw: raw, ID: m.ID, Params: m.Params, Handler: l, levels: true}
	s.Send(l.call)
	if c == nil {
		return nil, true
	}
	return l.done, true
}

// scanOwn reads a message of ours.
func scanOwn(raw []byte) *wire.Message {
	m := new(wire.Message)
	if err := wire.Scan(raw, m); err != nil {
		panic("our own message cannot be read: " + err.Error())
	}
	return m
}

// hasLevels reports whether logging/setLevel is for the server of the connection.
func (c *conn) hasLevels() bool {
	return !c.hello.Modern && bytes.Contains(c.hello.RawCapabilities, []byte(`"logging"`))
}

// hold keeps what comes after a log level from overtaking it, for a time.
func (s *Server) hold(level *Call) {
	s.holds.Store(level)
	time.AfterFunc(LevelWait, func() { s.release(level) })
}

func (s *Server) release(level *Call) {
	if s.holds.CompareAndSwap(level, nil) {
		s.pump()
	}
}

// levelAgain tells a server that has just started the level of the one before it.
func (s *Server) levelAgain(ctx context.Context, c *conn) {
	s.mu.Lock()
	level := s.level
	s.mu.Unlock()
	if level == "" || !c.hasLevels() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, LevelWait)
	defer cancel()
	_, _ = c.call(ctx, "logging/setLevel", fmt.Appendf(nil, `{"level":%q}`, level)) // it may refuse
}

// deaf handles what has no reply.
type deaf struct{}

func (deaf) Progress(*wire.Message, wire.Span) {}
func (deaf) Done(*wire.Message, error)         {}

// Notify sends a notification to the server, in the order of all that it is sent.
// One that is not there and not starting learns of such things when it starts.
func (s *Server) Notify(m *wire.Message) {
	s.mu.Lock()
	there := s.conn != nil || s.status.passing()
	s.mu.Unlock()
	if there {
		s.Send(&Call{Raw: m.Raw, Handler: deaf{}, notice: true})
	}
}

// notice writes a client's notification, if it is one of the server's era.
func (c *conn) notice(raw []byte) error {
	if m := scanOwn(raw); !eras.Has(c.hello.Modern, string(m.Bytes(m.Method))) {
		return nil
	}
	b := c.buffer()
	defer c.release(b)
	*b = wire.Splice(*b, raw, c.ofEra(raw, wire.Edit{})...)
	return c.link.Send(*b, 0)
}
