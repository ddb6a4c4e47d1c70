package toolbox

import (
	"bytes"
	"context"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// LevelWait is how long what a server is sent after a log level waits for it to take that.
const LevelWait = 2 * time.Second

// leveler is a logging/setLevel on its way.
type leveler struct {
	deaf
	to    *sender
	level string
	nth   int // of the levels that were set
	call  *Call
	done  chan struct{}
}

// Done has what waits for the server go on. One that refuses the level goes on logging as it did.
func (l *leveler) Done(*wire.Message, error) {
	l.to.at.took(l.level, l.nth)
	close(l.done)
	l.to.release(l.call)
}

// setLevel reports whether the server is told now or when it has started; else it is told if it is started.
func (s *sender) setLevel(level string) (done <-chan struct{}, is bool) {
	c, nth, told := s.at.setLevel(level)
	if !told {
		return nil, false
	}
	l := &leveler{to: s, level: level, nth: nth, done: make(chan struct{})}
	l.call = ownCall("logging/setLevel", wire.NewObject(nil).Text("level", level).End(), l)
	l.call.Levels = true
	s.Send(l.call)
	if c == nil {
		return nil, true
	}
	return l.done, true
}

// ownCall is a request of ours, whose reply goes to h.
func ownCall(method string, params []byte, h CallHandler) *Call {
	m := scanOwn(wire.AppendRequest(nil, "0", method, params))
	return &Call{Raw: m.Raw, ID: m.ID, Params: m.Params, Handler: h}
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
func hasLevels(c *rpc.Conn) bool {
	h := c.Hello()
	return h.Era.Has("logging/setLevel") && bytes.Contains(h.RawCapabilities, []byte(`"logging"`))
}

// hold keeps what comes after a log level from overtaking it, for a time.
func (s *sender) hold(level *Call) {
	s.holds.Store(level)
	time.AfterFunc(LevelWait, func() { s.release(level) })
}

func (s *sender) release(level *Call) {
	if s.holds.CompareAndSwap(level, nil) {
		s.pump()
	}
}

// levelAgain tells a server that has just started the level of the one before it, "" for none.
func levelAgain(ctx context.Context, c *rpc.Conn, level string) {
	if level == "" || !hasLevels(c) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, LevelWait)
	defer cancel()
	_, _ = c.Request(ctx, "logging/setLevel", wire.NewObject(nil).Text("level", level).End()) // it may refuse
}

// deaf handles what has no reply, or no progress.
type deaf struct{}

func (deaf) Progress(*wire.Message, wire.Span) {}
func (deaf) Done(*wire.Message, error)         {}

// Tell makes a request of workbench's own, in the order of all that the server is sent. Nobody waits for the reply.
func (s *sender) Tell(method string, params []byte) {
	s.Send(ownCall(method, params, deaf{}))
}

// Notify sends a notification to the server, in the order of all that it is sent. One that is not there and not
// starting learns of such things when it starts.
func (s *sender) Notify(m *wire.Message) {
	if at := s.at.now(); at.conn != nil || at.passing() {
		s.Send(&Call{Raw: m.Raw, Handler: deaf{}, Notice: true})
	}
}
