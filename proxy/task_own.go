package proxy

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// What workbench itself does for a client may take minutes: an open that installs servers, a script of many calls. A
// modern client with the extension tasks is then given a task for it, and asks for the result when it likes.

const (
	// ownTaskAfter is how long such a call may take before it becomes a task.
	ownTaskAfter = 5 * time.Second
	// ownTaskLife is how long after its beginning a task that has ended is kept.
	ownTaskLife = time.Hour
	// ownTaskPoll is how often a client should ask for it.
	ownTaskPoll = time.Second
	// maxOwnTasks is how many a session may have.
	maxOwnTasks = 64
)

// ownTasks are the calls of a client that workbench answers itself and that have become tasks.
type ownTasks struct {
	account *account.Account // is charged for them
	abandon func(requestKey) // gives up a call

	mu     sync.Mutex
	closed bool
	all    map[string]*ownTask
}

func newOwnTasks(account *account.Account, abandon func(requestKey)) *ownTasks {
	return &ownTasks{account: account, abandon: abandon, all: make(map[string]*ownTask)}
}

// ownTask is the outlet of a call that may become a task: before it does, that of the client.
type ownTask struct {
	of    *ownTasks
	key   requestKey
	id    []byte // the token of the client's id
	began time.Time
	wait  *time.Timer

	mu      sync.Mutex // held while the client is told, so that nothing comes behind the reply
	client  Outlet
	task    string // its id; "" while it is none
	status  string
	outcome []byte // the member of a task that has ended: its result, or its error
	ended   time.Time
	size    int // what the account is charged; changed under of.mu too
}

// orTask has a call become a task if it takes long, where its client knows tasks.
func (ts *ownTasks) orTask(c *call) *call {
	if !c.terms.has(eras.Tasks) {
		return c
	}
	t := &ownTask{of: ts, client: c.out, id: bytes.Clone(c.Bytes(c.ID)), began: time.Now(), status: "working"}
	t.key = keyOf(c.scope, t.id)
	c.out = t
	t.mu.Lock() // against a reply in the meantime
	t.wait = time.AfterFunc(ownTaskAfter, t.become)
	t.mu.Unlock()
	return c
}

// become gives the client the task.
func (t *ownTask) become() {
	t.of.forget() // which may be all that there is room for
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status != "working" || !t.of.keep(t) {
		return // the client waits on
	}
	created := append([]byte(`{"resultType":"task",`), t.told()...)
	t.client.Finish(wire.AppendResult(nil, t.id, append(created, '}')))
}

// Message implements Outlet. A client that has got a task is told nothing more of the call.
func (t *ownTask) Message(msg []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.task == "" {
		t.client.Message(msg)
	}
}

// Behind implements Outlet.
func (t *ownTask) Behind() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.task == "" && t.client.Behind()
}

// From implements Outlet.
func (t *ownTask) From() Origin { return t.client.From() }

// Finish implements Outlet.
func (t *ownTask) Finish(reply []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wait.Stop()
	t.ended = time.Now()
	t.status = "completed"
	if t.task == "" {
		t.client.Finish(reply)
		return
	}
	m := new(wire.Message)
	switch {
	case reply == nil || wire.Scan(bytes.Clone(reply), m) != nil:
		t.status = "cancelled"
	case m.Kind == wire.Failure:
		t.status = "failed"
		t.outcome = append([]byte(`,"error":`), m.Bytes(m.Error)...)
	case bytes.HasPrefix(m.Bytes(m.Result), []byte(`{"resultType":"input_required"`)):
		t.status = "failed"
		t.outcome = []byte(`,"error":{"code":-32603,"message":"the call cannot be made before a question is answered: make it again"}`)
	default:
		t.outcome = append([]byte(`,"result":`), m.Bytes(m.Result)...)
	}
	if !t.of.charge(t) {
		t.status = "failed"
		t.outcome = []byte(`,"error":{"code":-32603,"message":"the result cannot be kept: too much is kept for this client"}`)
	}
}

// told is what is said of the task; t.mu must be held.
func (t *ownTask) told() []byte {
	changed := t.began
	if !t.ended.IsZero() {
		changed = t.ended
	}
	said := fmt.Appendf(nil, `"taskId":%q,"status":%q,"createdAt":%q,"lastUpdatedAt":%q,"ttlMs":%d,"pollIntervalMs":%d`, t.task, t.status,
		t.began.UTC().Format(time.RFC3339), changed.UTC().Format(time.RFC3339), ownTaskLife.Milliseconds(), ownTaskPoll.Milliseconds())
	return append(said, t.outcome...)
}

// isOld reports whether a task has ended and need not be kept any more.
func (t *ownTask) isOld(now time.Time) bool {
	return !t.ended.IsZero() && now.Sub(t.began) > ownTaskLife
}

// keep gives a call an id as a task, if there is room for one more. t.mu is held.
func (ts *ownTasks) keep(t *ownTask) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.closed || len(ts.all) >= maxOwnTasks || !ts.account.Charge(account.Each) {
		return false
	}
	t.size = account.Each
	t.task = "workbench-" + rand.Text()
	ts.all[t.task] = t
	return true
}

// charge charges for the outcome of a task; t.mu is held.
func (ts *ownTasks) charge(t *ownTask) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.closed || !ts.account.Charge(len(t.outcome)) {
		return false
	}
	t.size += len(t.outcome)
	return true
}

// forget forgets those that are too old.
func (ts *ownTasks) forget() {
	ts.mu.Lock()
	all := slices.Collect(maps.Values(ts.all))
	ts.mu.Unlock()
	now := time.Now()
	for _, t := range all {
		t.mu.Lock()
		if t.isOld(now) {
			ts.mu.Lock()
			if ts.all[t.task] == t { // else somebody else has just forgotten it
				delete(ts.all, t.task)
				ts.account.Credit(t.size)
			}
			ts.mu.Unlock()
		}
		t.mu.Unlock()
	}
}

// answer gives the result of a request about a task of ours; nil if it is about none.
func (ts *ownTasks) answer(method, id string) []byte {
	ts.forget()
	ts.mu.Lock()
	t := ts.all[id]
	ts.mu.Unlock()
	if t == nil {
		return nil
	}
	reply := []byte(`{"resultType":"complete"`)
	switch method {
	case "tasks/cancel":
		ts.abandon(t.key)
	case "tasks/get":
		t.mu.Lock()
		reply = append(append(reply, ','), t.told()...)
		t.mu.Unlock()
	}
	return append(reply, '}')
}

// close keeps no more and forgets all.
func (ts *ownTasks) close() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.closed = true
	for _, t := range ts.all {
		ts.account.Credit(t.size)
	}
	clear(ts.all)
}
