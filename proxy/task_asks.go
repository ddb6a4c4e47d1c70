package proxy

import (
	"context"
	"fmt"
	"sync"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// taskQuestions are what a legacy server wants to know of a modern client for a task.
type taskQuestions struct {
	mu       sync.Mutex
	closed   bool
	last     int
	asked    []taskQuestion
	fetching bool
}

type taskQuestion struct {
	key string
	held
}

// add takes a question; it reports false if there are too many.
func (q *taskQuestions) add(h held) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.asked) == maxHeld {
		return false
	}
	q.last++
	q.asked = append(q.asked, taskQuestion{fmt.Sprintf("r%d", q.last), h})
	return true
}

// take gives the questions that are chosen, and forgets them.
func (q *taskQuestions) take(chosen func(taskQuestion) bool) (taken []taskQuestion) {
	q.mu.Lock()
	defer q.mu.Unlock()
	left := q.asked[:0]
	for _, one := range q.asked {
		if chosen(one) {
			taken = append(taken, one)
		} else {
			left = append(left, one)
		}
	}
	clear(q.asked[len(left):])
	q.asked = left
	return taken
}

// close refuses what waits, and takes in nothing more.
func (q *taskQuestions) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	for _, one := range q.take(func(taskQuestion) bool { return true }) {
		one.ask.Refuse(wire.CodeInternal, nobodyAnswers)
	}
}

// open gives the questions that wait for the client, "" for none. What it cannot be asked is refused.
func (q *taskQuestions) open(client *terms) string {
	why := func(one taskQuestion) string { return notOffered(client.capabilities, scanned(one.raw)) }
	for _, one := range q.take(func(one taskQuestion) bool { return client != nil && why(one) != "" }) {
		one.ask.Refuse(wire.CodeMethodNotFound, why(one))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.asked) == 0 {
		return ""
	}
	text := []byte{'{'}
	for _, one := range q.asked {
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
		for _, one := range q.take(func(one taskQuestion) bool { return one.key == name }) {
			raw := wire.AppendResult(nil, []byte("0"), c.Bytes(value))
			var m wire.Message
			if wire.Scan(raw, &m) == nil {
				one.ask.Reply(raw, m.ID)
			}
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
