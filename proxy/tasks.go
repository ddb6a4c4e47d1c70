package proxy

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/taskbook"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// taskPlaces finds where the params or the result of a message name a task: as
// what it is about, as one that was made, or as what the message belongs to.
func taskPlaces(raw []byte, in wire.Span) (places []wire.Span) {
	for _, path := range [][]string{{"taskId"}, {"task", "taskId"}, {"_meta", eras.RelatedTask, "taskId"}} {
		if span, err := wire.FindPath(raw, in, path...); err == nil && span.Present() {
			places = append(places, span)
		}
	}
	return places
}

// taskEdits gives the edits that turn the ids of a server's tasks into those
// that the client sees.
func (s *Session) taskEdits(srv *toolbox.Server, raw []byte, in wire.Span) (edits []wire.Edit) {
	for _, span := range taskPlaces(raw, in) {
		id, _ := wire.Unquote(raw[span.Start:span.End])
		if shown, ok := s.tasks.shownAs(srv, id); ok && shown != id {
			edits = append(edits, wire.Edit{Span: span, New: wire.AppendQuote(nil, shown)})
		}
	}
	return edits
}

// withTasks returns a message of a server with the ids of tasks that the client sees.
func (s *Session) withTasks(srv *toolbox.Server, m *wire.Message) *wire.Message {
	if !s.tasks.renames(srv) {
		return m
	}
	in := m.Params
	if m.Kind == wire.Result {
		in = m.Result
	}
	return edited(m, s.taskEdits(srv, m.Raw, in))
}

// edited returns a message with edits made in it.
func edited(m *wire.Message, edits []wire.Edit) *wire.Message {
	if edits == nil {
		return m
	}
	slices.SortFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
	return scanned(wire.Splice(nil, m.Raw, edits...))
}

// makesTasks reports whether the request may be answered with a task, and where
// the result then has it: a server with a handshake makes one where the request
// says so, one of revision 2026-07-28 of its own accord, if both sides have
// declared the extension.
func (f *flight) makesTasks() (at string, may bool) {
	switch {
	case !f.serverIsModern():
		return "task", f.call.Tasks
	case !eras.HasExtension(f.server.Load().Capabilities(), eras.Tasks):
		return "", false
	case f.modern == nil:
		return "", f.call.Tasks
	}
	return "", eras.HasExtension(f.modern.capabilities, eras.Tasks)
}

// takesTasks reports whether a task is an answer to a request: a client with a handshake asks for one; a modern client
// takes one from a tool of a legacy server that may make them.
func (f *flight) takesTasks(c *call, srv *toolbox.Server) bool {
	if c.modern == nil {
		return c.Task.Present()
	}
	return f.tasks && eras.HasExtension(c.modern.capabilities, eras.Tasks) && eras.MakesTasks(srv.Capabilities())
}

// lacks refuses a request that needs an extension which its client has not declared.
func lacks(extension string) error {
	data := append(wire.AppendQuote([]byte(`{"requiredCapabilities":{"extensions":{`), extension), ":{}}}}"...)
	return &wire.Error{Code: codeMissingCapability, Message: "Missing required client capability: the extension " + extension, Data: data}
}

// noteTask remembers the task that a result announces, and returns the result
// with the ids of tasks that the client sees, in the terms of the client's era.
func (f *flight) noteTask(m *wire.Message) *wire.Message {
	at, may := f.makesTasks()
	srv := f.server.Load()
	f.made = may && f.learnTask(srv, m, at)
	m = f.s.withTasks(srv, m)
	modern := f.serverIsModern()
	switch {
	case !f.made || f.modern != nil == modern:
		return m
	case modern:
		return withResult(m, eras.CreatedToLegacy(m.Raw, m.Result))
	}
	task, _ := wire.FindPath(m.Raw, m.Result, at)
	return withResult(m, eras.CreatedToModern(m.Raw, m.Result, task))
}

// withResult returns a message with another result. Where that is none, since what a server nested as deep as it may would
// be nested deeper in it, the message stays as it is.
func withResult(m *wire.Message, result []byte) *wire.Message {
	other := new(wire.Message)
	if wire.Scan(wire.AppendResult(nil, m.Bytes(m.ID), result), other) != nil {
		return m
	}
	return other
}

// taskID reads the id of a task that may be remembered.
func taskID(token []byte) (string, bool) {
	if len(token) > maxTaskID {
		return "", false
	}
	return wire.Unquote(token)
}

// learnTask remembers the task that a result is, or has as a member, and reports whether there is one.
func (f *flight) learnTask(srv *toolbox.Server, m *wire.Message, at string) bool {
	in, err := m.Result, error(nil)
	if at != "" {
		in, err = wire.FindPath(m.Raw, m.Result, at)
	}
	var out [4]wire.Span
	if err != nil || !in.Present() || m.Raw[in.Start] != '{' ||
		wire.Find(m.Raw, in, []string{"taskId", "ttl", "ttlMs", "resultType"}, out[:]) != nil {
		return false
	}
	if kind, _ := wire.Unquote(m.Bytes(out[3])); at == "" && kind != "task" {
		return false
	}
	id, ok := taskID(m.Bytes(out[0]))
	if ok {
		life := taskLife(m.Bytes(out[1]), m.Bytes(out[2]))
		srv.Keep(min(life, 24*time.Hour))
		shown := f.s.tasks.learn(srv, id)
		f.s.begin(func(context.Context) {
			f.s.p.opts.Tasks.Put(f.s.who.Name, shown, taskbook.Server{Toolbox: srv.Toolbox, Name: srv.Name}, time.Now().Add(life))
		})
	}
	return ok
}

// taskLife is for how long a server has a task, by either name of that.
func taskLife(ttl, ttlMs []byte) time.Duration {
	for _, text := range [][]byte{ttl, ttlMs} {
		if ms, err := strconv.ParseFloat(string(text), 64); err == nil && ms >= 0 {
			return time.Duration(min(ms*float64(time.Millisecond), float64(taskbook.MaxAge)))
		}
	}
	return taskbook.MaxAge
}

// taskRequest answers a request about a task after the server that has it.
func (s *Session) taskRequest(c *call) {
	if c.modern != nil && !eras.HasExtension(c.modern.capabilities, eras.Tasks) {
		c.fail(lacks(eras.Tasks))
		return
	}
	id, ok := wire.Unquote(c.Bytes(c.TaskID))
	if !ok {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.taskId is missing or not a string"})
		return
	}
	if !eras.Has(c.modern != nil, c.MethodName) {
		c.fail(&wire.Error{Code: wire.CodeMethodNotFound, Message: c.MethodName + " is not of the protocol revision of this session"})
		return
	}
	f := s.own(c)
	if f == nil {
		return
	}
	if f.answerOwn(c.MethodName, id) {
		return
	}
	if t, ok := s.tasks.find(id); ok {
		f.askOf(c, t)
		return
	}
	later := c.own()
	go func() {
		t, ok := f.recallTask(id)
		if !ok {
			f.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: fmt.Sprintf("task not found: %q was not made in this session,"+
				" and is not kept from another one", foreign.NewName(id))})
			return
		}
		f.askOf(later, t)
	}()
}

// askOf asks the server of a task about it.
func (f *flight) askOf(c *call, t task) {
	switch {
	case t.done != nil || c.modern != nil != t.server.IsModern():
		f.bridgeTask(c, t)
	case t.id == t.shown:
		f.send(c, t.server, t.id)
	default:
		f.send(c, t.server, t.id, wire.Edit{Span: c.TaskID, New: wire.AppendQuote(nil, t.id)})
	}
}

// recallTask finds a task that was made for the same user on another connection, or before workbench was started, and opens the
// toolbox of its server.
func (f *flight) recallTask(shown string) (task, bool) {
	of, ok := f.s.p.opts.Tasks.Get(f.s.who.Name, shown)
	if !ok || !f.s.who.May(of.Toolbox) {
		return task{}, false
	}
	b, err := f.s.box(of.Toolbox)
	if err != nil {
		return task{}, false
	}
	srv, ok := b.Server(of.Name)
	if !ok {
		return task{}, false
	}
	if !b.Opened() {
		if _, err := f.s.openBox(f.ctx, b, true, of.Name); err != nil {
			return task{}, false
		}
	}
	srv.Settle(f.ctx)
	id := shown
	if own, renamed := strings.CutPrefix(shown, aliasURI(srv, "")); renamed {
		id = own
	}
	if f.s.tasks.keep(srv, id, shown, nil) != shown {
		return task{}, false // another server's has the id in this session
	}
	return f.s.tasks.find(shown)
}
