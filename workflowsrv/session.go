package workflowsrv

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// maxRunning bounds how many calls of one session are worked on at a time.
// Receive waits for one of them to end when there are more.
const maxRunning = 32

// A session is one MCP conversation.
type session struct {
	server *Server
	send   func(msg []byte)
	slots  chan struct{}
	// initialized says that initialize was answered.
	initialized atomic.Bool

	mu      sync.Mutex              // guards what follows
	calls   map[string]*runningCall // by the id token of the request
	listens map[string]bool         // open subscriptions, by id token
	closed  bool
	working sync.WaitGroup // calls
	sending sync.WaitGroup // answers of calls
}

// A runningCall is a call that is being worked on.
type runningCall struct {
	ctx    context.Context // to see, once it is done, whether it was cancelled
	cancel context.CancelFunc
}

func newSession(s *Server, send func(msg []byte)) *session {
	return &session{
		server: s, send: send, slots: make(chan struct{}, maxRunning),
		calls: map[string]*runningCall{}, listens: map[string]bool{},
	}
}

// Receive takes one message.
func (s *session) Receive(msg []byte) {
	var m wire.Message
	if err := wire.Scan(msg, &m); err != nil {
		s.refuse(err)
		return
	}
	switch m.Kind {
	case wire.Request:
		s.request(&m)
	case wire.Notification:
		if m.IsMethod("notifications/cancelled") {
			s.cancel(&m)
		}
	}
	// Answers are dropped: the server asks its clients nothing.
}

// refuse answers a message that is none.
func (s *session) refuse(err error) {
	bad, ok := err.(*wire.Error)
	if !ok {
		bad = &wire.Error{Code: wire.CodeInternal, Message: err.Error()}
	}
	s.send(bad.Append(nil))
}

func (s *session) request(m *wire.Message) {
	e, bad := readEra(m)
	if bad != nil {
		s.refuse(bad)
		return
	}
	if !e.modern && !s.initialized.Load() && !m.IsMethod("initialize") && !m.IsMethod("ping") {
		s.fail(m, wire.CodeInvalidRequest, "Invalid Request: the session begins with initialize")
		return
	}
	switch {
	case m.IsMethod("tools/call"):
		s.toolsCall(m, e)
	case m.IsMethod("subscriptions/listen") && e.modern:
		s.listen(m)
	case m.IsMethod("initialize"), m.IsMethod("ping"), m.IsMethod("tools/list"), m.IsMethod("server/discover"):
		answer, ok := s.server.protocol(m)
		if ok && m.IsMethod("initialize") {
			s.initialized.Store(true)
		}
		s.send(answer)
	default:
		s.fail(m, wire.CodeMethodNotFound, "Method not found: "+short(string(m.Bytes(m.Method))))
	}
}

func (s *session) fail(m *wire.Message, code int, message string) {
	s.send(wire.AppendError(nil, m.Bytes(m.ID), code, message, nil))
}

// toolsCall starts a call on a goroutine of its own.
func (s *session) toolsCall(m *wire.Message, e era) {
	var at [2]wire.Span
	if !m.Params.Present() {
		s.fail(m, wire.CodeInvalidParams, "Invalid params: the name of a tool is required")
		return
	}
	if err := wire.Find(m.Raw, m.Params, []string{"name", "arguments"}, at[:]); err != nil {
		s.fail(m, wire.CodeInvalidParams, "Invalid params: "+err.Error())
		return
	}
	name, ok := wire.Unquote(m.Bytes(at[0]))
	if !ok {
		s.fail(m, wire.CodeInvalidParams, "Invalid params: the name of a tool is required")
		return
	}
	t := s.server.tools[name]
	if t == nil {
		s.fail(m, wire.CodeInvalidParams, "Unknown tool: "+short(name))
		return
	}
	// Both outlive the message.
	id, arguments := bytes.Clone(m.Bytes(m.ID)), bytes.Clone(m.Bytes(at[1]))
	s.slots <- struct{}{}
	ctx, fresh := s.begin(id)
	if !fresh {
		<-s.slots
		s.fail(m, wire.CodeInvalidRequest, "Invalid Request: a request with this id is being worked on")
		return
	}
	go func() {
		defer s.working.Done()
		defer func() { <-s.slots }()
		r, f := s.server.call(ctx, t, arguments)
		if s.end(id) {
			defer s.sending.Done()
			s.send(appendToolResult(nil, id, r, f, e))
		}
	}()
}

// begin notes a call under its id, which no other running call may have.
func (s *session) begin(id []byte) (context.Context, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[string(id)] != nil || s.listens[string(id)] || s.closed {
		return nil, false
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.calls[string(id)] = &runningCall{ctx, cancel}
	s.working.Add(1)
	return ctx, true
}

// end takes a call out of the table, before it is answered: the client may use
// the id again as soon as it has the answer. It reports whether anybody still
// waits for that, and then counts the answer as being sent.
func (s *session) end(id []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := s.calls[string(id)]
	delete(s.calls, string(id))
	defer call.cancel()
	if call.ctx.Err() != nil {
		return false
	}
	s.sending.Add(1)
	return true
}

// cancel ends the call that a notification names.
func (s *session) cancel(m *wire.Message) {
	id, err := wire.FindPath(m.Raw, m.Params, "requestId")
	if err != nil || !id.Present() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if call := s.calls[string(m.Bytes(id))]; call != nil {
		call.cancel()
	}
	delete(s.listens, string(m.Bytes(id)))
}

// listen opens a subscription. Nothing that can be subscribed to changes
// here, so the server agrees to nothing and the stream stays silent.
func (s *session) listen(m *wire.Message) {
	id := m.Bytes(m.ID)
	s.mu.Lock()
	taken := s.calls[string(id)] != nil || s.listens[string(id)] || len(s.listens) == maxRunning
	if !taken {
		s.listens[string(id)] = true
	}
	s.mu.Unlock()
	if taken {
		s.fail(m, wire.CodeInvalidRequest, "Invalid Request: the id is in use, or too many subscriptions are open")
		return
	}
	ack := append([]byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"`+mcp.MetaKeySubscriptionID+`":`), id...)
	s.send(append(ack, `},"notifications":{}}}`...))
}

// Close waits until what was received is answered. When ctx ends before, the
// calls that are left are cancelled and not answered, and end by themselves.
func (s *session) Close(ctx context.Context) error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.working.Wait()
		close(done)
	}()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = context.Cause(ctx)
		s.mu.Lock()
		for _, call := range s.calls {
			call.cancel()
		}
		s.mu.Unlock()
		// A call that hangs on a disk is left behind; it sends nothing.
		s.sending.Wait()
	}
	if first {
		if err == nil {
			s.endListens()
		}
		s.server.leave(ctx)
	}
	return err
}

// endListens answers the open subscriptions: they end in good order.
func (s *session) endListens() {
	s.mu.Lock()
	listens := s.listens
	s.listens = map[string]bool{}
	s.mu.Unlock()
	for id := range listens {
		result := `{"resultType":"complete","_meta":{"` + mcp.MetaKeySubscriptionID + `":` + id + `}}`
		s.send(wire.AppendResult(nil, []byte(id), []byte(result)))
	}
}
