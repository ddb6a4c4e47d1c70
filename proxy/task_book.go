package proxy

import (
	"container/list"
	"context"
	"strings"
	"sync"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/taskbook"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

const (
	// maxTasks bounds how many tasks of servers a session remembers.
	maxTasks = 10000
	// maxTaskID is the longest id of a task that is remembered, in bytes.
	maxTaskID = 1 << 10
)

// task is a task that a server made for a session.
type task struct {
	server *toolbox.Server
	id     string // the server's
	shown  string // the client's

	account *account.Account // that is charged for it: the server may be replaced

	// asked is what a legacy server wants to know of a modern client; the client finds it in the task. nil in all
	// others.
	asked *taskQuestions
	// done is the result of a task that workbench made of a reply which came at once; nil in all others.
	done []byte
}

func (t *task) size() int { return 2*len(t.id) + len(t.shown) + len(t.done) + account.Each }

// tasks are the tasks that servers made for a session. A server chooses its ids for itself, so a task is known by its
// server and id. The client sees the id as it is, unless another server's task has it already, or it could be taken for
// one of those that are made in that case.
type tasks struct {
	book  *taskbook.Book // where is kept which server made which task of the user; nil keeps nothing
	user  string
	begin func(func(context.Context))

	mu      sync.Mutex
	shown   map[string]*list.Element // by the id that the client sees
	servers map[naming.Address]*serverTasks
}

// serverTasks are those of one server.
type serverTasks struct {
	byID    map[string]*list.Element // by the server's id
	order   list.List                // of *task, the one longest unused first
	renamed int                      // how many the client sees under another id
}

func newTasks(book *taskbook.Book, user string, begin func(func(context.Context))) *tasks {
	return &tasks{book: book, user: user, begin: begin, shown: make(map[string]*list.Element), servers: make(map[naming.Address]*serverTasks)}
}

// learn remembers a task and returns the id that the client is to see.
func (t *tasks) learn(srv *toolbox.Server, id string) string { return t.keep(srv, id, "", nil) }

// keep is learn of a task that the client knows by an id already, unless that is "", and that has its result, if done
// is not nil.
func (t *tasks) keep(srv *toolbox.Server, id, known string, done []byte) string {
	shown, forgotten := t.enter(srv, id, known, done)
	for _, old := range forgotten {
		old.asked.close()
	}
	return shown
}

// enter is keep, and gives the tasks that made room for the new one.
func (t *tasks) enter(srv *toolbox.Server, id, known string, done []byte) (shown string, forgotten []*task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.servers[naming.AddressOf(srv)]
	if of == nil {
		of = &serverTasks{byID: make(map[string]*list.Element)}
		t.servers[naming.AddressOf(srv)] = of
	}
	if e := of.byID[id]; e != nil {
		old := e.Value.(*task)
		old.server = srv
		of.order.MoveToBack(e)
		return old.shown, nil
	}
	if len(t.shown) >= maxTasks {
		forgotten = append(forgotten, t.forgetLocked(t.mostLocked()))
	}
	shown = id
	if _, taken := t.shown[id]; taken || strings.HasPrefix(id, naming.AliasScheme) {
		shown = naming.AliasURI(naming.AddressOf(srv), id)
	}
	if _, taken := t.shown[known]; known != "" && !taken {
		shown = known
	}
	made := &task{server: srv, id: id, shown: shown, account: srv.Account(), asked: new(taskQuestions), done: done}
	for !made.account.Charge(made.size()) {
		if of.order.Len() == 0 {
			return shown, forgotten // too much else is kept because of the server: it is not found again
		}
		forgotten = append(forgotten, t.forgetLocked(of))
	}
	if shown != id {
		of.renamed++
	}
	e := of.order.PushBack(made)
	of.byID[id], t.shown[shown] = e, e
	return shown, forgotten
}

// mostLocked returns the tasks of the server that has most: one that makes tasks without end costs no other its own.
func (t *tasks) mostLocked() *serverTasks {
	var most *serverTasks
	for _, of := range t.servers {
		if most == nil || of.order.Len() > most.order.Len() {
			most = of
		}
	}
	return most
}

// forgetLocked forgets the task of a server that was not used for longest, and gives it: what the server wants to know for
// it is refused when the lock is not held.
func (t *tasks) forgetLocked(of *serverTasks) *task {
	old := of.order.Remove(of.order.Front()).(*task)
	delete(of.byID, old.id)
	delete(t.shown, old.shown)
	old.account.Credit(old.size())
	if old.shown != old.id {
		of.renamed--
	}
	return old
}

// close forgets all, and refuses what servers want to know for them.
func (t *tasks) close() {
	t.mu.Lock()
	var forgotten []*task
	for _, of := range t.servers {
		for of.order.Len() > 0 {
			forgotten = append(forgotten, t.forgetLocked(of))
		}
	}
	t.mu.Unlock()
	for _, old := range forgotten {
		old.asked.close()
	}
}

// withdraw forgets a question of a server.
func (t *tasks) withdraw(a *toolbox.Ask) {
	t.mu.Lock()
	var of []*taskQuestions
	if s := t.servers[naming.AddressOf(a.Server)]; s != nil {
		for e := s.order.Front(); e != nil; e = e.Next() {
			of = append(of, e.Value.(*task).asked)
		}
	}
	t.mu.Unlock()
	for _, q := range of {
		q.take(func(h held) bool { return h.ask == a })
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
	t.servers[naming.AddressOf(found.server)].order.MoveToBack(e)
	return *found, true
}

// of returns a task of a server.
func (t *tasks) of(srv *toolbox.Server, id string) (task, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if of := t.servers[naming.AddressOf(srv)]; of != nil {
		if e := of.byID[id]; e != nil {
			return *e.Value.(*task), true
		}
	}
	return task{}, false
}

// shownAs returns the id under which the client sees a task of a server.
func (t *tasks) shownAs(srv *toolbox.Server, id string) (string, bool) {
	found, ok := t.of(srv, id)
	return found.shown, ok
}

// renames reports whether the client sees a task of the server under another id.
func (t *tasks) renames(srv *toolbox.Server) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.servers[naming.AddressOf(srv)]
	return of != nil && of.renamed > 0
}
