package mcpserve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// defaultRunning is how many calls of one session are worked on at a time where the server says no other. Receive waits
// for one of them to end when there are more.
const defaultRunning = 32

// maxListens bounds the open subscriptions of one session.
const maxListens = 32

// A Session is one MCP conversation. It is a wire.Session.
type Session struct {
	server *Server
	send   func(msg []byte)
	slots  chan struct{}
	// initialized says that initialize was answered.
	initialized atomic.Bool
	client      string // as initialize named it
	asks        asks
	folders     folders
	told        sync.WaitGroup // questions for folders

	mu      sync.Mutex              // guards what follows
	calls   map[string]*runningCall // by the id token of the request
	listens map[string]*listening   // open subscriptions, by id token
	watched map[string]bool         // resources that a client of the legacy era subscribed to
	closed  bool
	working sync.WaitGroup // calls
	sending sync.WaitGroup // answers of calls, and notifications
}

// A runningCall is a call that is being worked on.
type runningCall struct {
	ctx    context.Context // to see, once it is done, whether it was cancelled
	cancel context.CancelCauseFunc
}

// ErrCancelled is the cause of the end of a call's context where the client has cancelled it, as against gone away.
var ErrCancelled = errors.New("the client cancelled the call")

// Connect begins a session of the server.
func (s *Server) Connect(send func(msg []byte)) *Session {
	return &Session{
		server: s, send: send, slots: make(chan struct{}, cmp.Or(s.MaxRunning, defaultRunning)),
		calls: map[string]*runningCall{}, listens: map[string]*listening{}, watched: map[string]bool{},
	}
}

var _ wire.Session = (*Session)(nil)

// Receive takes one message.
func (s *Session) Receive(msg []byte) {
	var m wire.Message
	if err := wire.Scan(msg, &m); err != nil {
		s.refuse(err)
		return
	}
	switch m.Kind {
	case wire.Request:
		s.request(&m)
	case wire.Notification:
		switch {
		case m.IsMethod("notifications/cancelled"):
			s.cancel(&m)
		case m.IsMethod("notifications/initialized"), m.IsMethod("notifications/roots/list_changed"):
			s.askFolders()
		}
	default:
		s.asks.answer(&m)
	}
}

// refuse answers a message that is none.
func (s *Session) refuse(err error) {
	s.send(wire.AsError(err).Append(nil))
}

func (s *Session) request(m *wire.Message) {
	e, bad := readEra(m)
	if bad != nil {
		s.refuse(bad)
		return
	}
	if e.HasHandshake() && !s.initialized.Load() && !m.IsMethod("initialize") && !m.IsMethod("ping") {
		s.fail(m, wire.CodeInvalidRequest, "Invalid Request: the session begins with initialize")
		return
	}
	switch {
	case m.IsMethod("tools/call"):
		s.toolsCall(m, e)
	case s.server.Task != nil && e.DecidesTasks() && (m.IsMethod("tasks/get") || m.IsMethod("tasks/update") || m.IsMethod("tasks/cancel")):
		s.task(m, e)
	case m.IsMethod("subscriptions/listen") && e.Has("subscriptions/listen"):
		s.listen(m)
	case s.server.Watches != nil && e.Has("resources/subscribe") && (m.IsMethod("resources/subscribe") || m.IsMethod("resources/unsubscribe")):
		s.watch(m, m.IsMethod("resources/subscribe"))
	case s.server.Requests[string(m.Bytes(m.Method))] != nil:
		s.own(m, e)
	case m.IsMethod("initialize"), m.IsMethod("ping"), m.IsMethod("server/discover"), slices.ContainsFunc(s.server.Methods, m.IsMethod):
		answer, ok := s.server.protocol(m)
		if ok && m.IsMethod("initialize") {
			s.asks.greet(m)
			s.client = nameIn(m, "clientInfo")
			s.initialized.Store(true)
		}
		s.send(answer)
	default:
		s.fail(m, wire.CodeMethodNotFound, "Method not found: "+cut.Short(string(m.Bytes(m.Method))))
	}
}

func (s *Session) fail(m *wire.Message, code int, message string) {
	s.send(wire.AppendError(nil, m.Bytes(m.ID), code, message, nil))
}

// toolsCall starts a call on a goroutine of its own.
func (s *Session) toolsCall(m *wire.Message, e eras.Era) {
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
	if !s.server.Knows(name) {
		s.fail(m, wire.CodeInvalidParams, "Unknown tool: "+cut.Short(name))
		return
	}
	// Both outlive the message.
	id, c := bytes.Clone(m.Bytes(m.ID)), Call{Tool: name, Arguments: bytes.Clone(m.Bytes(at[1])), Era: e, Client: s.client}
	if e.IsStateless() {
		c.Client = nameIn(m, "_meta", eras.Info)
		c.Asked = capable(m, elicitation)
		c.Answer = readAnswer(m)
		c.Tasks = c.Asked && s.server.Task != nil && e.DecidesTasks() && takesTasks(m)
	} else {
		c.Elicit = s.asks.asker(elicitation, "elicitation/create", s.send)
		c.Sample = s.asks.asker(sampling, "sampling/createMessage", s.send)
	}
	if token := m.Get(m.Params, "_meta", "progressToken"); token != nil {
		c.Progress = s.progress(bytes.Clone(token))
	}
	known := true
	if s.server.Moved != nil && e.IsStateless() && capable(m, roots) {
		c.Folders, known = readModernFolders(m, c.Answer)
	}
	s.work(m, id, e, name, func(ctx context.Context) (reply func() []byte) {
		if !known {
			return func() []byte { return s.server.askFolders(id) }
		}
		if s.server.Moved != nil && !e.IsStateless() {
			c.Folders = s.inFolders(ctx)
		}
		r := s.server.Call(ctx, c)
		if r.Question != nil {
			r.Question.State = withFolders(c.Folders, r.Question.State)
		}
		return func() []byte { return s.server.append(id, r, e) }
	})
}

// own has the server answer a request by itself, on a goroutine of its own.
func (s *Session) own(m *wire.Message, e eras.Era) {
	method := string(m.Bytes(m.Method))
	answer := s.server.Requests[method]
	id, params := bytes.Clone(m.Bytes(m.ID)), bytes.Clone(m.Bytes(m.Params))
	s.work(m, id, e, method, func(ctx context.Context) (reply func() []byte) {
		result, err := answer(ctx, params)
		return func() []byte { return s.server.answered(id, result, err, e) }
	})
}

// work carries out the request m, of that id, on a goroutine of its own, when one of the session's slots is free. What
// do returns makes the reply, unless the request was cancelled meanwhile. A panic costs this request alone, which asked
// for what.
func (s *Session) work(m *wire.Message, id []byte, e eras.Era, what string, do func(ctx context.Context) (reply func() []byte)) {
	s.slots <- struct{}{}
	ctx, fresh := s.begin(id)
	if !fresh {
		<-s.slots
		s.fail(m, wire.CodeInvalidRequest, "Invalid Request: a request with this id is running")
		return
	}
	go func() {
		defer s.working.Done()
		defer func() { <-s.slots }()
		reply := func() (reply func() []byte) {
			defer Recover(s.server.Logger, what, func() {
				reply = func() []byte { return s.server.answered(id, nil, errWithin, e) }
			})
			return do(ctx)
		}()
		if s.end(id) {
			defer s.sending.Done()
			s.send(reply())
		}
	}()
}

// errWithin is what a client hears of a request that has panicked.
var errWithin = errors.New("this is a fault of the server; its log says more")

// nameIn reads the name in the description of a client.
func nameIn(m *wire.Message, path ...string) string {
	name, _ := m.Text(m.Params, append(path, "name")...)
	return name
}

// progress gives what reports the progress of a call. It is called from the goroutine of the call alone, and not after
// its end.
func (s *Session) progress(token []byte) func(message string, meta []byte) {
	count := 0
	return func(message string, meta []byte) {
		count++
		params := wire.NewObject(nil).Raw("progressToken", token).Int("progress", int64(count)).Text("message", message).Raw("_meta", meta).End()
		s.send(wire.AppendNotification(nil, "notifications/progress", params))
	}
}

// begin notes a call under its id, which no other running call may have.
func (s *Session) begin(id []byte) (context.Context, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[string(id)] != nil || s.listens[string(id)] != nil || s.closed {
		return nil, false
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	s.calls[string(id)] = &runningCall{ctx, cancel}
	s.working.Add(1)
	return ctx, true
}

// end takes a call out of the table, before it is answered: the client may use the id again as soon as it has the
// answer. It reports whether anybody still waits for that, and then counts the answer as being sent.
func (s *Session) end(id []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := s.calls[string(id)]
	delete(s.calls, string(id))
	defer call.cancel(nil)
	if call.ctx.Err() != nil {
		return false
	}
	s.sending.Add(1)
	return true
}

// cancel ends the call that a notification names.
func (s *Session) cancel(m *wire.Message) {
	id := m.Get(m.Params, "requestId")
	if id == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if call := s.calls[string(id)]; call != nil {
		call.cancel(ErrCancelled)
	}
	delete(s.listens, string(id))
}

// Close waits until what was received is answered. When ctx ends before, the calls that are left are cancelled and not
// answered, and end by themselves.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	s.folders.close()
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
			call.cancel(nil)
		}
		s.mu.Unlock()
		// A call that hangs on a disk is left behind; it sends nothing.
		s.sending.Wait()
	}
	if first {
		if err == nil {
			s.sending.Wait() // A notification may be on its way.
			s.endListens()
		}
		s.told.Wait()
		if s.server.Closed != nil {
			s.server.Closed(ctx)
		}
	}
	return err
}

// endListens answers the open subscriptions: they end in good order.
func (s *Session) endListens() {
	s.mu.Lock()
	listens := s.listens
	s.listens = map[string]*listening{}
	s.mu.Unlock()
	for id := range listens {
		s.send(wire.AppendResult(nil, []byte(id), eras.SubscriptionEnd([]byte(id))))
	}
}
