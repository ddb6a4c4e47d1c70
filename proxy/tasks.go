package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// maxTasks bounds how many tasks of servers are remembered.
const maxTasks = 10000

// noteTask remembers which server has the task that a result announces: under
// task.taskId in revision 2025-11-25, under taskId in the later extension.
func (s *session) noteTask(m *wire.Message, srv *toolbox.Server) {
	if m.Raw[m.Result.Start] != '{' {
		return
	}
	var out [4]wire.Span // task, taskId, ttl, ttlMs
	names := []string{"task", "taskId", "ttl", "ttlMs"}
	if wire.Find(m.Raw, m.Result, names, out[:]) != nil {
		return
	}
	if in := out[0]; in.Present() && (m.Raw[in.Start] != '{' || wire.Find(m.Raw, in, names, out[:]) != nil) {
		return
	}
	text, ok := wire.Unquote(m.Bytes(out[1]))
	if !ok {
		return
	}
	srv.Keep(taskLife(m.Bytes(out[2]), m.Bytes(out[3])))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tasks) < maxTasks {
		s.tasks[text] = srv
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
	id, ok := wire.Unquote(c.Bytes(c.task))
	if !ok {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.taskId is missing or not a string"})
		return
	}
	s.mu.Lock()
	srv := s.tasks[id]
	s.mu.Unlock()
	if srv == nil {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: fmt.Sprintf("task not found: %q was not made in this session", id)})
		return
	}
	s.forward(c, srv)
}

// listTasks answers with the tasks of all open servers that have a list.
func (s *session) listTasks(c *call) {
	f := s.own(c)
	if f == nil {
		return
	}
	go func() {
		all := []json.RawMessage{}
		for _, b := range s.open() {
			for _, srv := range b.Servers() {
				// A server that is not there has no tasks of this session.
				if srv.Status().State != toolbox.Ready || !bytes.Contains(srv.Capabilities(), []byte(`"tasks"`)) {
					continue
				}
				raw, err := srv.Request(f.ctx, "tasks/list", nil)
				var page struct {
					Tasks []json.RawMessage `json:"tasks"`
				}
				if err == nil && json.Unmarshal(raw, &page) == nil {
					all = append(all, page.Tasks...)
				}
			}
		}
		f.reply(encode(map[string]any{"tasks": all}))
	}()
}
