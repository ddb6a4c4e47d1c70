package proxy

import (
	"context"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// taskQuestions are what a legacy server wants to know of a modern client for a task.
type taskQuestions struct {
	waiting
	fetching bool // guarded by mu
}

// open gives the questions that wait for the client, "" for none. What it cannot be asked is refused.
func (q *taskQuestions) open(client *terms) string {
	why := func(one held) string { return notOffered(client.capabilities, scanned(one.raw)) }
	for _, one := range q.take(func(one held) bool { return client != nil && why(one) != "" }) {
		one.ask.Refuse(wire.CodeMethodNotFound, why(one))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.held) == 0 {
		return ""
	}
	text := []byte{'{'}
	for _, one := range q.held {
		m := scanned(one.raw)
		if edits := eras.WithoutRelatedTask(m.Raw, m.Params); edits != nil {
			m = scanned(wire.Splice(nil, m.Raw, edits...))
		}
		text = eras.AppendQuestionToModern(append(wire.AppendQuote(wire.Comma(text), one.key), ':'), m)
	}
	return string(append(text, '}'))
}

// answer hands on the answers of a request of tasks/update. An answer to no open question is ignored.
func (q *taskQuestions) answer(c *call) {
	for key, value := range wire.Members(c.Raw, c.Responses) {
		name, _ := wire.Unquote(c.Bytes(key))
		for _, one := range q.take(func(one held) bool { return one.key == name }) {
			one.ask.Answer(c.Bytes(value))
		}
	}
}

// fetch asks the server for the result of the task, unless that is being done: while it waits, a legacy server asks
// what it wants to know.
func (q *taskQuestions) fetch(begin func(func(context.Context)), result func(context.Context)) {
	q.mu.Lock()
	fetching := q.fetching
	q.fetching = true
	q.mu.Unlock()
	if fetching {
		return
	}
	begin(func(ctx context.Context) {
		result(ctx)
		q.mu.Lock()
		q.fetching = false
		q.mu.Unlock()
	})
}

// ask keeps what a legacy server wants to know for a task that a modern client has; it reports whether that is so.
func (t *tasks) ask(a *toolbox.Ask, m *wire.Message) bool {
	id, _ := taskID(m.Get(m.Params, "_meta", eras.RelatedTask, "taskId"))
	of, ok := t.of(a.Server, id)
	if !ok {
		return false
	}
	if !eras.Asks(string(m.Bytes(m.Method))) {
		a.Refuse(wire.CodeMethodNotFound, "a client of revision 2026-07-28 is asked nothing of this kind")
	} else if h, ok := hold(a, m); ok && !of.asked.add(h) {
		a.Refuse(wire.CodeInternal, manyAsks)
	}
	return true
}
