package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// asks are the requests put to a legacy client that it has not answered, each under an id of ours, since two servers
// may use the same.
type asks struct {
	mu     sync.Mutex
	closed bool
	last   uint64
	open   map[string]*ask // by id
}

// ask is one of them.
type ask struct {
	of      *toolbox.Ask          // the server's request; nil where no server asked by a request
	answer  func(m *wire.Message) // takes the client's response
	carrier *request              // the request of the client that it belongs to, if any
	id      string                // the token of our id, which is also our progress token
	token   []byte                // the server's progress token, if it gave one
}

func newAsks() *asks { return &asks{open: make(map[string]*ask)} }

// enter registers an ask and gives it its id; it reports false if nobody will answer it.
func (as *asks) enter(k *ask) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	as.last++
	k.id = fmt.Sprintf(`"wb-%d"`, as.last)
	if !as.closed {
		as.open[k.id] = k
	}
	return !as.closed
}

// question puts a question that a server asked in a result, or, with nil for the server, one of ours to a legacy client.
// One of ours fails only at the end of the session.
func (as *asks) question(out Outlet, k *ask, from *toolbox.Server, method string, params []byte) error {
	if !as.enter(k) {
		return ErrClosed
	}
	m := new(wire.Message)
	err := wire.Scan(eras.AppendQuestionToLegacy(nil, []byte(k.id), method, params), m)
	if err == nil && from != nil {
		m, err = attributed(from, m)
	}
	if err != nil {
		as.forget(k)
		return unpassed(from, err)
	}
	out.Message(m.Raw)
	return nil
}

// unpassed words that a client is not asked what a server wants to know.
func unpassed(srv *toolbox.Server, err error) error {
	return fmt.Errorf("the question of server %q cannot be passed on: %v", srv.Name, err)
}

// find gives the ask of an id, nil if there is none.
func (as *asks) find(id []byte) *ask {
	as.mu.Lock()
	defer as.mu.Unlock()
	return as.open[string(id)]
}

// take forgets the asks that are chosen, and gives them.
func (as *asks) take(chosen func(*ask) bool) (taken []*ask) {
	as.mu.Lock()
	defer as.mu.Unlock()
	for id, k := range as.open {
		if chosen(k) {
			taken = append(taken, k)
			delete(as.open, id)
		}
	}
	return taken
}

// abandon takes back what servers asked for a request that gets no reply.
func (as *asks) abandon(r *request) {
	for _, k := range as.take(func(k *ask) bool { return k.of != nil && k.carrier == r }) {
		k.of.Refuse(wire.CodeInternal, nobodyAnswers)
		r.out.Message(k.withdrawal(callEnded))
	}
}

// callEnded is why a question is withdrawn whose call is over.
const callEnded = "the call that the question belongs to has ended"

// forget forgets an ask that needs no answer any more. It reports whether the client is to be told: the ask was open,
// and the session is not closed.
func (as *asks) forget(k *ask) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	_, open := as.open[k.id]
	delete(as.open, k.id)
	return open && !as.closed
}

// close has the client told nothing more of what is open, and refuses what servers asked.
func (as *asks) close() {
	as.mu.Lock()
	as.closed = true
	open := as.open
	as.open = nil
	as.mu.Unlock()
	for _, k := range open {
		if k.of != nil {
			k.of.Refuse(wire.CodeInternal, nobodyAnswers)
		}
	}
}

// answer takes the client's response to a request of a server.
func (as *asks) answer(m *wire.Message) {
	as.mu.Lock()
	k := as.open[string(m.Bytes(m.ID))]
	delete(as.open, string(m.Bytes(m.ID)))
	as.mu.Unlock()
	if k != nil {
		k.answer(m)
	}
}

// refuse answers for the client where its response breaks a rule, so that whoever asked does not wait for ever. It
// reports whether err is about such a response.
func (as *asks) refuse(err error) bool {
	bad := wire.AsError(err)
	if as.find(bad.ID) == nil {
		return false
	}
	m := new(wire.Message)
	if wire.Scan(wire.AppendError(nil, bad.ID, wire.CodeInvalidRequest, "the client's answer breaks a rule: "+bad.Message, nil), m) != nil {
		return false
	}
	as.answer(m)
	return true
}

// progress passes the client's progress on a server's request.
func (as *asks) progress(m *wire.Message) {
	token, err := wire.FindPath(m.Raw, m.Params, "progressToken")
	if err != nil || !token.Present() {
		return
	}
	if k := as.find(m.Bytes(token)); k != nil && k.token != nil {
		k.of.Forward(m.Raw, wire.Edit{Span: token, New: k.token})
	}
}

// put registers a server's request and appends it as the client is to get it to msg; nil if the server may ask nothing
// more.
func (as *asks) put(msg []byte, a *toolbox.Ask, m *wire.Message, carrier *request) []byte {
	m, err := attributed(a.Server, m)
	if err != nil {
		a.Refuse(wire.CodeInvalidRequest, err.Error())
		return nil
	}
	token, err := wire.FindPath(m.Raw, m.Params, "_meta", "progressToken")
	tracked := err == nil && token.Present()
	if tracked && !a.Hold(token.End-token.Start) {
		a.Refuse(wire.CodeInternal, manyAsks)
		return nil
	}
	k := &ask{of: a, carrier: carrier, answer: func(m *wire.Message) { a.Reply(m.Raw, m.ID) }}
	if tracked {
		k.token = bytes.Clone(m.Bytes(token))
	}
	if !as.enter(k) {
		a.Refuse(wire.CodeInternal, nobodyAnswers)
		return nil
	}
	edits := []wire.Edit{{Span: m.ID, New: []byte(k.id)}}
	if tracked {
		edits = append(edits, wire.Edit{Span: token, New: []byte(k.id)})
		slices.SortFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
	}
	return wire.Splice(msg, m.Raw, edits...)
}

// withdrawal is the notification that it needs no answer any more.
func (k *ask) withdrawal(reason string) []byte {
	params := wire.NewObject(nil).Raw("requestId", []byte(k.id)).Text("reason", reason).End()
	return wire.AppendNotification(nil, "notifications/cancelled", params)
}

// maxHeld is how many requests of servers wait for a call that can carry them, or for one task.
const maxHeld = 16

// held is a request of a server, kept until a modern client can be asked. It is made by hold.
type held struct {
	ask *toolbox.Ask
	raw []byte // as the client is to be asked
	key string // tells it from the others that wait with it
}

// hold keeps a request of a server; false says that it was refused.
func hold(a *toolbox.Ask, m *wire.Message) (h held, ok bool) {
	m, err := attributed(a.Server, m)
	switch {
	case err != nil:
		a.Refuse(wire.CodeInvalidRequest, err.Error())
	case !a.Hold(len(m.Raw)):
		a.Refuse(wire.CodeInternal, manyAsks)
	default:
		return held{ask: a, raw: bytes.Clone(m.Raw)}, true
	}
	return held{}, false
}

// refuse answers requests of servers with an error.
func refuse(all []held, why string) {
	for _, h := range all {
		h.ask.Refuse(wire.CodeInternal, why)
	}
}

// waiting are requests of servers that a modern client is not asked yet: by a call that can carry them, or in the task
// that they are for.
type waiting struct {
	mu     sync.Mutex
	closed bool
	last   int
	held   []held
}

// close refuses what waits, and takes in nothing more.
func (w *waiting) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	refuse(w.take(func(held) bool { return true }), nobodyAnswers)
}

// add keeps a request; it reports false if that is too much.
func (w *waiting) add(h held) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.held) == maxHeld {
		return false
	}
	w.last++
	h.key = fmt.Sprintf("r%d", w.last)
	w.held = append(w.held, h)
	return true
}

// take gives the requests that are chosen of those that wait, and forgets them.
func (w *waiting) take(chosen func(held) bool) (taken []held) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = slices.DeleteFunc(w.held, func(h held) bool {
		if !chosen(h) {
			return false
		}
		taken = append(taken, h)
		return true
	})
	return taken
}

// formParams ask for one of two things. There is no default, so that a client which answers by itself chooses neither.
func formParams(message, key string, values, titles [2]string) []byte {
	params, err := json.Marshal(map[string]any{
		"message": message,
		"requestedSchema": map[string]any{
			"type":       "object",
			"properties": map[string]any{key: map[string]any{"type": "string", "title": "Decision", "enum": values, "enumNames": titles}},
			"required":   []string{key},
		},
	})
	if err != nil {
		panic("a question of strings cannot be encoded: " + err.Error())
	}
	return params
}

// chosen reads the result of such a question: whether it was answered at all, and by that value.
func chosen(raw []byte, result wire.Span, key, value string) bool {
	said, _ := wire.Text(raw, result, "action")
	text, _ := wire.Text(raw, result, "content", key)
	return said == "accept" && text == value
}
