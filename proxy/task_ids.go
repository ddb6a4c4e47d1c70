package proxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/taskbook"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// taskPlaces finds where the params or the result of a message name a task: as what it is about, as one that was made,
// or as what the message belongs to.
func taskPlaces(raw []byte, in wire.Span) (places []wire.Span) {
	for _, path := range [][]string{{"taskId"}, {"task", "taskId"}, {"_meta", eras.RelatedTask, "taskId"}} {
		if span, err := wire.FindPath(raw, in, path...); err == nil && span.Present() {
			places = append(places, span)
		}
	}
	return places
}

// renamed returns a message of a server with the ids of tasks that the client sees.
func (t *tasks) renamed(srv *toolbox.Server, m *wire.Message) *wire.Message {
	if !t.renames(srv) {
		return m
	}
	in := m.Params
	if m.Kind == wire.Result {
		in = m.Result
	}
	return edited(m, naming.Renamed(m.Raw, taskPlaces(m.Raw, in), func(id string) string {
		shown, _ := t.shownAs(srv, id)
		return cmp.Or(shown, id)
	}))
}

// taskID reads the id of a task that may be remembered.
func taskID(token []byte) (string, bool) {
	if len(token) > maxTaskID {
		return "", false
	}
	return wire.Unquote(token)
}

// learnIn remembers the task that a result is, or has as a member, and reports whether there is one.
func (t *tasks) learnIn(srv *toolbox.Server, m *wire.Message, at string) bool {
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
		shown := t.learn(srv, id)
		t.begin(func(context.Context) {
			t.book.Put(t.user, shown, taskbook.Server{Toolbox: srv.Toolbox, Name: srv.Name}, time.Now().Add(life))
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

// made makes a task of the result of a modern server that answered at once, for a legacy client that has asked for a
// task and takes nothing else.
func (t *tasks) made(srv *toolbox.Server, m *wire.Message) *wire.Message {
	result := bytes.Clone(m.Bytes(m.Result))
	result = wire.Splice(nil, result, eras.ResultToLegacy(result, wire.Whole(result), false)...)
	id := t.keep(srv, "workbench-"+rand.Text(), "", result)
	return withResult(m, append(append([]byte(`{"task":`), doneTask(id)...), '}'))
}

// doneTask is a task of ours, which is over as soon as it is made.
func doneTask(id string) []byte {
	now := time.Now().UTC().Format(time.RFC3339)
	return fmt.Appendf(nil, `{"taskId":%s,"status":"completed","createdAt":"%s","lastUpdatedAt":"%s","ttl":null}`,
		wire.AppendQuote(nil, id), now, now)
}
