package proxy

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

const (
	// maxTasks bounds how many tasks of servers a session remembers.
	maxTasks = 10000
	// tasksExtension is what tasks are in revision 2026-07-28.
	tasksExtension = "io.modelcontextprotocol/tasks"
	// relatedTask is the member of _meta that says which task a message belongs to.
	relatedTask = "io.modelcontextprotocol/related-task"
	// listTasksWait bounds what a server that does not answer tasks/list takes from the lists of the others.
	listTasksWait = 5 * time.Second
	// maxTaskPages bounds the pages of one such list.
	maxTaskPages = 100
	// maxTaskID is the longest id of a task that is remembered, in bytes.
	maxTaskID = 1 << 10
)

// task is a task that a server made for a session.
type task struct {
	server *toolbox.Server
	id     string // the server's
	shown  string // the client's

	account *account.Account // that is charged for it: the server may be replaced
}

func (t *task) size() int { return 2*len(t.id) + len(t.shown) + account.Each }

// tasks are the tasks that servers made for a session. A server chooses its ids
// for itself, so a task is known by its server and id. The client sees the id
// as it is, unless another server's task has it already, or it could be taken
// for one of those that are made in that case.
type tasks struct {
	mu      sync.Mutex
	shown   map[string]*list.Element // by the id that the client sees
	servers map[address]*serverTasks
}

// address is a server by its place in the configuration, which stays when the
// server is replaced.
type address struct{ toolbox, server string }

func addressOf(srv *toolbox.Server) address { return address{srv.Toolbox, srv.Name} }

// serverTasks are those of one server.
type serverTasks struct {
	byID    map[string]*list.Element // by the server's id
	order   list.List                // of *task, the one longest unused first
	renamed int                      // how many the client sees under another id
}

func newTasks() *tasks {
	return &tasks{shown: make(map[string]*list.Element), servers: make(map[address]*serverTasks)}
}

// learn remembers a task and returns the id that the client is to see.
func (t *tasks) learn(srv *toolbox.Server, id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.servers[addressOf(srv)]
	if of == nil {
		of = &serverTasks{byID: make(map[string]*list.Element)}
		t.servers[addressOf(srv)] = of
	}
	if e := of.byID[id]; e != nil {
		known := e.Value.(*task)
		known.server = srv
		of.order.MoveToBack(e)
		return known.shown
	}
	if len(t.shown) >= maxTasks {
		t.forgetLocked(t.mostLocked())
	}
	shown := id
	if _, taken := t.shown[id]; taken || strings.HasPrefix(id, aliasScheme) {
		shown = aliasURI(srv, id)
	}
	made := &task{server: srv, id: id, shown: shown, account: srv.Account()}
	for !made.account.Charge(made.size()) {
		if of.order.Len() == 0 {
			return shown // too much else is kept because of the server: it is not found again
		}
		t.forgetLocked(of)
	}
	if shown != id {
		of.renamed++
	}
	e := of.order.PushBack(made)
	of.byID[id], t.shown[shown] = e, e
	return shown
}

// mostLocked returns the tasks of the server that has most: one that makes tasks
// without end costs no other its own.
func (t *tasks) mostLocked() *serverTasks {
	var most *serverTasks
	for _, of := range t.servers {
		if most == nil || of.order.Len() > most.order.Len() {
			most = of
		}
	}
	return most
}

// forgetLocked forgets the task of a server that was not used for longest.
func (t *tasks) forgetLocked(of *serverTasks) {
	old := of.order.Remove(of.order.Front()).(*task)
	delete(of.byID, old.id)
	delete(t.shown, old.shown)
	old.account.Credit(old.size())
	if old.shown != old.id {
		of.renamed--
	}
}

// close forgets all.
func (t *tasks) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, of := range t.servers {
		for of.order.Len() > 0 {
			t.forgetLocked(of)
		}
	}
}

// find returns the task that the client sees under an id.
func (t *tasks) find(shown string) (task, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.shown[shown]
	if e == nil {
		return task{}, false
	}
	found := e.Value.(*task)
	t.servers[addressOf(found.server)].order.MoveToBack(e)
	return *found, true
}

// shownAs returns the id under which the client sees a task of a server.
func (t *tasks) shownAs(srv *toolbox.Server, id string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if of := t.servers[addressOf(srv)]; of != nil {
		if e := of.byID[id]; e != nil {
			return e.Value.(*task).shown, true
		}
	}
	return "", false
}

// renames reports whether the client sees a task of the server under another id.
func (t *tasks) renames(srv *toolbox.Server) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.servers[addressOf(srv)]
	return of != nil && of.renamed > 0
}

// taskPlaces finds where the params or the result of a message name a task: as
// what it is about, as one that was made, or as what the message belongs to.
func taskPlaces(raw []byte, in wire.Span) (places []wire.Span) {
	for _, path := range [][]string{{"taskId"}, {"task", "taskId"}, {"_meta", relatedTask, "taskId"}} {
		if span, err := wire.FindPath(raw, in, path...); err == nil && span.Present() {
			places = append(places, span)
		}
	}
	return places
}

// taskEdits gives the edits that turn the ids of a server's tasks into those
// that the client sees.
func (s *session) taskEdits(srv *toolbox.Server, raw []byte, in wire.Span) (edits []wire.Edit) {
	for _, span := range taskPlaces(raw, in) {
		id, _ := wire.Unquote(raw[span.Start:span.End])
		if shown, ok := s.tasks.shownAs(srv, id); ok && shown != id {
			edits = append(edits, wire.Edit{Span: span, New: wire.AppendQuote(nil, shown)})
		}
	}
	return edits
}

// withTasks returns a message of a server with the ids of tasks that the client sees.
func (s *session) withTasks(srv *toolbox.Server, m *wire.Message) *wire.Message {
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

// hasExtension reports whether capabilities have an extension.
func hasExtension(capabilities []byte, name string) bool {
	span, err := wire.FindPath(capabilities, wire.Span{Start: 0, End: len(capabilities)}, "extensions", name)
	return err == nil && span.Present()
}

// makesTasks reports whether the request may be answered with a task, and where
// the result then has it: a server with a handshake makes one where the request
// says so, one of revision 2026-07-28 of its own accord, if both sides have
// declared the extension.
func (f *flight) makesTasks() (at []string, may bool) {
	switch {
	case f.call.ServerIsModern():
	case f.augmented:
		return []string{"task"}, true
	default:
		return nil, false
	}
	if !hasExtension(f.server.Load().Capabilities(), tasksExtension) {
		return nil, false
	}
	return nil, hasExtension(f.capabilities(), tasksExtension)
}

// capabilities are those that the client declared for the request.
func (f *flight) capabilities() []byte {
	if f.modern != nil {
		return f.modern.capabilities
	}
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	return f.s.client.Capabilities
}

// noteTask remembers the task that a result announces, and returns the result
// with the ids of tasks that the client sees.
func (f *flight) noteTask(m *wire.Message) *wire.Message {
	at, may := f.makesTasks()
	srv := f.server.Load()
	if may {
		f.learnTask(srv, m, at)
	}
	return f.s.withTasks(srv, m)
}

// taskID reads the id of a task that may be remembered.
func taskID(token []byte) (string, bool) {
	if len(token) > maxTaskID {
		return "", false
	}
	return wire.Unquote(token)
}

// learnTask remembers the task that a result has at a path, if it has one there.
func (f *flight) learnTask(srv *toolbox.Server, m *wire.Message, at []string) {
	in, err := wire.FindPath(m.Raw, m.Result, at...)
	var out [4]wire.Span
	if err != nil || !in.Present() || m.Raw[in.Start] != '{' ||
		wire.Find(m.Raw, in, []string{"taskId", "ttl", "ttlMs", "resultType"}, out[:]) != nil {
		return
	}
	if kind, _ := wire.Unquote(m.Bytes(out[3])); at == nil && kind != "task" {
		return
	}
	if id, ok := taskID(m.Bytes(out[0])); ok {
		srv.Keep(taskLife(m.Bytes(out[1]), m.Bytes(out[2])))
		f.s.tasks.learn(srv, id)
	}
}

// taskLife is for how long a server is to keep a task, by either name of that;
// a task without an end is kept for a day.
func taskLife(ttl, ttlMs []byte) time.Duration {
	for _, text := range [][]byte{ttl, ttlMs} {
		if ms, err := strconv.ParseFloat(string(text), 64); err == nil && ms >= 0 {
			return time.Duration(min(ms*float64(time.Millisecond), float64(24*time.Hour)))
		}
	}
	return 24 * time.Hour
}

// taskRequest forwards a request about a task to the server that has it.
func (s *session) taskRequest(c *call) {
	id, ok := wire.Unquote(c.Bytes(c.taskID))
	if !ok {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.taskId is missing or not a string"})
		return
	}
	t, ok := s.tasks.find(id)
	switch {
	case !ok:
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: fmt.Sprintf("task not found: %q was not made in this session", foreign.NewName(id))})
	case !eras.Has(t.server.IsModern(), c.method):
		c.fail(&wire.Error{Code: wire.CodeMethodNotFound, Message: c.method + " is not of the protocol revision of the server that has the task"})
	case t.id == id:
		s.forward(c, t.server, t.id)
	default:
		s.forward(c, t.server, t.id, wire.Edit{Span: c.taskID, New: wire.AppendQuote(nil, t.id)})
	}
}

// listTasks answers with the tasks of all open servers that have a list.
func (s *session) listTasks(c *call) {
	f := s.own(c)
	if f == nil {
		return
	}
	go func() {
		var servers []*toolbox.Server
		for _, b := range s.open() {
			for _, srv := range b.Servers() {
				// A server that is not there has no tasks of this session.
				if srv.Status().State == toolbox.Ready && !srv.IsModern() && bytes.Contains(srv.Capabilities(), []byte(`"tasks"`)) {
					servers = append(servers, srv)
				}
			}
		}
		lists := make([][]byte, len(servers))
		var all sync.WaitGroup
		for i, srv := range servers {
			all.Go(func() { lists[i] = s.tasksOf(f.ctx, srv) })
		}
		all.Wait()
		lists = slices.DeleteFunc(lists, func(l []byte) bool { return len(l) == 0 })
		f.reply(append(append([]byte(`{"tasks":[`), bytes.Join(lists, []byte(","))...), "]}"...))
	}()
}

// tasksOf gives the entries of a server's list, with commas between. A server of
// this session alone has no others' tasks, so that all of them become known; of
// one that is shared the client gets those that were made for it.
func (s *session) tasksOf(ctx context.Context, srv *toolbox.Server) (entries []byte) {
	ctx, cancel := context.WithTimeout(ctx, listTasksWait)
	defer cancel()
	shared := s.p.isShared(srv)
	var params []byte
	for range maxTaskPages {
		raw, err := srv.Request(ctx, "tasks/list", params)
		var page [2]wire.Span
		if err != nil || wire.Find(raw, wire.Span{Start: 0, End: len(raw)}, []string{"tasks", "nextCursor"}, page[:]) != nil {
			return entries
		}
		for e := range wire.Elements(raw, page[0]) {
			span, err := wire.FindPath(raw, e, "taskId")
			id, ok := taskID(raw[span.Start:span.End])
			if err != nil || !ok || len(entries)+e.End-e.Start > account.Lists {
				continue
			}
			shown, known := s.tasks.shownAs(srv, id)
			switch {
			case !known && shared:
				continue
			case !known:
				shown = s.tasks.learn(srv, id)
			}
			entry := raw[e.Start:e.End]
			if shown != id {
				edit := wire.Edit{Span: wire.Span{Start: span.Start - e.Start, End: span.End - e.Start}, New: wire.AppendQuote(nil, shown)}
				entry = wire.Splice(nil, entry, edit)
			}
			if entries != nil {
				entries = append(entries, ',')
			}
			entries = append(entries, entry...)
		}
		if !page[1].Present() || raw[page[1].Start] != '"' {
			return entries
		}
		params = append(append([]byte(`{"cursor":`), raw[page[1].Start:page[1].End]...), '}')
	}
	return entries
}
