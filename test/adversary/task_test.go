//go:build linux

package adversary

import (
	"encoding/json"
	"fmt"
	"time"
)

// task is one of the honest server. Its id is one that fiends may claim too.
type task struct {
	id        string
	answer    string
	due       time.Time
	cancelled bool
}

// takesTask reports whether the client of a request takes a task for an answer.
func (h *honest) takesTask(r *request) bool {
	if h.modern {
		return r.Params.Meta.Can.Extensions["io.modelcontextprotocol/tasks"] != nil
	}
	return r.Params.Task != nil
}

// begin makes a task, which ends by itself.
func (h *honest) begin(r *request) string {
	var a arguments
	_ = json.Unmarshal(r.Params.Arguments, &a)
	h.mu.Lock()
	defer h.mu.Unlock()
	k := &task{id: fmt.Sprintf("t-%d", len(h.tasks)), answer: answerTo(r.Params.Arguments), due: time.Now().Add(time.Duration(a.Ms) * time.Millisecond)}
	h.tasks[k.id] = k
	if h.modern {
		return `{"resultType":"task",` + h.stateLocked(k)[1:]
	}
	return `{"task":` + h.stateLocked(k) + `}`
}

// stateLocked is what is said of a task, in the era's terms. h.mu must be held.
func (h *honest) stateLocked(k *task) string {
	status, more := "working", ""
	switch {
	case k.cancelled:
		status = "cancelled"
	case time.Now().After(k.due):
		status = "completed"
		more = fmt.Sprintf(`,"result":{"content":[{"type":"text","text":%q}]}`, k.answer)
	}
	at := k.due.UTC().Format(time.RFC3339)
	if !h.modern {
		return fmt.Sprintf(`{"taskId":%q,"status":%q,"createdAt":%q,"lastUpdatedAt":%q,"ttl":600000,"pollInterval":20}`, k.id, status, at, at)
	}
	return fmt.Sprintf(`{"taskId":%q,"status":%q,"createdAt":%q,"lastUpdatedAt":%q,"ttlMs":600000,"pollIntervalMs":20%s}`, k.id, status, at, at, more)
}

// about answers a request about a task.
func (h *honest) about(r *request, reply, send func(string)) {
	h.mu.Lock()
	k := h.tasks[r.Params.TaskID]
	if k != nil && r.Method == "tasks/cancel" && time.Now().Before(k.due) {
		k.cancelled = true
	}
	state, answer := "", ""
	if k != nil {
		state, answer = h.stateLocked(k), k.answer
	}
	h.mu.Unlock()
	refuse := func(why string) {
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":%q}}`, r.ID, why))
	}
	switch {
	case k == nil:
		refuse("there is no such task")
	case r.Method == "tasks/get" || r.Method == "tasks/cancel" && !h.modern:
		reply(state)
	case r.Method == "tasks/result":
		time.Sleep(time.Until(k.due))
		h.mu.Lock()
		cancelled := k.cancelled
		h.mu.Unlock()
		if cancelled {
			refuse("the task was cancelled")
			return
		}
		reply(fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}}`, answer, k.id))
	default:
		reply(`{"x":0}`)
	}
}

// about is what is read of a task.
type about struct {
	TaskID, Status string
	ResultType     string
	Content        []struct{ Text string }
	Task           *about
	Result         *about
}

// asAbout reads a result; nil if there is none.
func asAbout(reply json.RawMessage) *about {
	var r struct{ Result *about }
	_ = json.Unmarshal(reply, &r)
	if r.Result != nil && r.Result.Task != nil {
		return r.Result.Task
	}
	return r.Result
}

// work has the honest server do something as a task, and holds what comes of it against the model.
func (c *client) work(d *draw, server, nonce string) {
	if c.modern && !c.w.newer {
		c.alone.RLock()
		defer c.alone.RUnlock()
	}
	args := fmt.Sprintf(`{"nonce":%q,"ms":%d}`, nonce, d.IntN(300))
	params := fmt.Sprintf(`,"name":"workbench_use_tool","arguments":{"tool":{"toolbox":"box","server":%q,"name":"work"},"arguments":%s}`, server, args)
	cancels := d.chance(30)
	if !c.modern {
		params += `,"task":{"ttl":600000}`
	}
	ask := func(method, params string) json.RawMessage {
		reply := c.request(method, params, &expected{nonce: nonce, tasks: true}, patience)
		if reply == nil {
			c.w.find("%s of the honest server %s was not answered in %v: %s", method, server, patience, nonce)
		}
		return reply
	}
	reply := ask("tools/call", params)
	if reply == nil {
		return
	}
	made := asAbout(reply)
	if made == nil || made.TaskID == "" {
		c.w.find("the call %s of %s made no task: %.400q", nonce, server, reply)
		return
	}
	id := `,"taskId":` + quote(made.TaskID)
	if cancels && ask("tasks/cancel", id) == nil {
		return
	}
	// Whoever shares the session may cancel its tasks.
	excused := cancels || c.w.loud && (c.modern || c.url == "")
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if reply = ask("tasks/get", id); reply == nil {
			return
		}
		now := asAbout(reply)
		switch {
		case now == nil || now.TaskID != made.TaskID:
			c.w.find("the task %s of %s, of the call %s, is not known: %.400q", made.TaskID, server, nonce, reply)
			return
		case now.Status == "cancelled" && excused:
			c.w.answered(0)
			return
		case now.Status == "completed" && c.modern:
			c.judgeTask(now.Result, reply, server, nonce, args)
			return
		case now.Status == "completed":
			if reply = ask("tasks/result", id); reply != nil {
				c.judgeTask(asAbout(reply), reply, server, nonce, args)
			}
			return
		case now.Status != "working" || time.Since(began) > patience:
			c.w.find("the task %s of %s, of the call %s: %.400q", made.TaskID, server, nonce, reply)
			return
		}
	}
}

// judgeTask holds the outcome of a task against the model.
func (c *client) judgeTask(got *about, reply json.RawMessage, server, nonce, args string) {
	if got == nil || len(got.Content) != 1 || got.Content[0].Text != answerTo([]byte(args)) {
		c.w.find("the task of the call %s of %s came to %.400q", nonce, server, reply)
		return
	}
	c.w.answered(0)
}
