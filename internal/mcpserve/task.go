package mcpserve

import (
	"bytes"
	"context"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// A Task is a call of which the client has got this in place of a result (extension tasks): it goes on when the user
// has answered its question, wherever that is, also after the client and the server have ended in between.
type Task struct {
	ID               string
	Created, Updated time.Time
	// Question waits for the user; where it is nil, Result is what the call gives.
	Question *Question
	Result   Result
}

// A TaskCall asks for a task, and may bring what the user answered.
type TaskCall struct {
	ID     string
	Client string // as in Call
	Answer *Answer
}

// taskPoll is how often a client should ask for a task.
const taskPoll = 2 * time.Second

// takesTasks reports whether the sender of a request has the extension.
func takesTasks(m *wire.Message) bool {
	return m.Get(m.Params, "_meta", eras.Capabilities, "extensions", eras.Tasks) != nil
}

// task answers a request about a task.
func (s *Session) task(m *wire.Message, e eras.Era) {
	if !takesTasks(m) {
		bad := eras.Lacks(eras.Tasks)
		bad.ID = m.Bytes(m.ID)
		s.refuse(bad)
		return
	}
	name, ok := m.Text(m.Params, "taskId")
	if !ok {
		s.fail(m, wire.CodeInvalidParams, "Invalid params: taskId is required")
		return
	}
	c, get := TaskCall{ID: name, Client: nameIn(m, "_meta", eras.Info)}, m.IsMethod("tasks/get")
	switch {
	case m.IsMethod("tasks/update"):
		c.Answer = readAnswer(m)
	case m.IsMethod("tasks/cancel"):
		c.Answer = &Answer{Action: "cancel"} // The question is not asked any more.
	}
	id := bytes.Clone(m.Bytes(m.ID))
	s.work(m, id, e, string(m.Bytes(m.Method)), func(ctx context.Context) (reply func() []byte) {
		t, err := s.server.Task(ctx, c)
		return func() []byte {
			if err != nil {
				return s.server.answered(id, nil, err, e)
			}
			if !get {
				return wire.AppendResult(nil, id, []byte(`{"resultType":"complete"}`))
			}
			return wire.AppendResult(nil, id, s.server.appendTask(wire.NewObject(nil).Text("resultType", "complete"), t, e).End())
		}
	})
}

// appendTask appends the members of a task.
func (s *Server) appendTask(o wire.Object, t Task, e eras.Era) wire.Object {
	status := "completed"
	if t.Question != nil {
		status = "input_required"
	}
	o = o.Text("taskId", t.ID).Text("status", status).Text("createdAt", t.Created.UTC().Format(time.RFC3339)).
		Text("lastUpdatedAt", t.Updated.UTC().Format(time.RFC3339)).Raw("ttlMs", []byte("null")).Int("pollIntervalMs", taskPoll.Milliseconds())
	if q := t.Question; q != nil {
		o = appendAsked(o.Text("statusMessage", "a person has to answer"), q)
	} else {
		o = s.appendResult(wire.NewObject(o.Member("result")), t.Result, e).End()
	}
	return s.signed(o)
}
