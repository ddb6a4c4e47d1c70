package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/test/conformance/fixture"
	"github.com/mcp-workbench/workbench/test/wiretest"
	"github.com/mcp-workbench/workbench/toolbox"
)

// between puts workbench between a client and the server of the conformance suite's tests, in one era.
func between(t *testing.T, server *fixture.Server, opts wiretest.Options) *wiretest.Client {
	t.Helper()
	cfg, err := config.Parse("config.json", []byte(
		`{"toolboxes":{"suite":{"open":true,"prefix":"none","mcpServers":{"fixture":{"command":"inside"}}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Toolboxes[0].Servers[0].Transport, cfg.Toolboxes[0].Servers[0].Builtin = config.TransportBuiltin, "fixture"
	front, err := proxy.New(cfg, proxy.Options{Version: "test", Toolbox: toolbox.Options{Builtins: map[string]toolbox.Builtin{
		"fixture": func(principal.Principal, config.Server) (wire.Endpoint, error) { return server, nil },
	}}})
	if err != nil {
		t.Fatal(err)
	}
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	go func() {
		_ = wire.Serve(context.Background(), toServer, fromServer, front, wire.ServeOptions{})
		_ = fromServer.Close()
	}()
	opts.Limit = peerWait
	return wiretest.New(t, in, out, opts)
}

// taskClient is a client of one era that works with tasks.
type taskClient struct {
	*wiretest.Client
	t            *testing.T
	modern       bool
	capabilities string
}

func newTaskClient(t *testing.T, modern bool, server *fixture.Server) *taskClient {
	k := &taskClient{t: t, modern: modern, capabilities: `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`}
	k.Client = between(t, server, wiretest.Options{Answer: func(request wiretest.Message) (string, *wiretest.Error) {
		if !strings.Contains(string(request.Params), `"io.modelcontextprotocol/related-task"`) {
			return "", &wiretest.Error{Code: -32602, Message: "it is not said which task asks"}
		}
		if !strings.Contains(string(request.Params), `"workbench/server":"suite/fixture"`) {
			return "", &wiretest.Error{Code: -32602, Message: "it is not said which server asks"}
		}
		return `{"action":"accept","content":{"confirm":true}}`, nil
	}})
	if !modern {
		k.capabilities = `{"elicitation":{},"tasks":{}}`
		k.Initialize("2025-11-25", k.capabilities)
	}
	k.ask("tools/list", "{}")
	return k
}

// ask makes a request and returns the reply, whatever it is.
func (k *taskClient) ask(method, params string) wiretest.Message {
	k.t.Helper()
	if k.modern {
		params = wiretest.Modern(params, k.capabilities)
	}
	return k.Call(method, params)
}

// state is a task, or the result that announces one, of either era.
type state struct {
	TaskID, Status, ResultType string
	Task                       *state
	TTL, TTLMs                 json.RawMessage
	Result                     json.RawMessage
	Error                      *wiretest.Error
	InputRequests              map[string]struct{ Method string }
}

func (k *taskClient) read(m wiretest.Message) (s state) {
	k.t.Helper()
	if m.Error != nil {
		k.t.Fatalf("got the error %v", m.Error)
	}
	if err := json.Unmarshal(m.Result, &s); err != nil {
		k.t.Fatalf("%v: %s", err, m.Result)
	}
	return s
}

// begin calls a tool as a task and returns its id.
func (k *taskClient) begin(tool, arguments string) string {
	k.t.Helper()
	augment := ""
	if !k.modern {
		augment = `,"task":{"ttl":60000}`
	}
	reply := k.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s%s}`, tool, arguments, augment))
	made := k.read(reply)
	switch {
	case k.modern && (made.ResultType != "task" || made.TTLMs == nil || made.Task != nil):
		k.t.Fatalf("%s: got %s, want a task of revision 2026-07-28", tool, reply.Result)
	case k.modern:
		return made.TaskID
	case made.Task == nil || made.Task.TTL == nil || made.TaskID != "" || made.ResultType != "":
		k.t.Fatalf("%s: got %s, want a task of revision 2025-11-25", tool, reply.Result)
	}
	return made.Task.TaskID
}

// get looks at a task until it is in a status.
func (k *taskClient) get(id, status string) state {
	k.t.Helper()
	until := time.Now().Add(peerWait)
	for {
		got := k.read(k.ask("tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)))
		if got.Status == status {
			return got
		}
		if got.TaskID != id || time.Now().After(until) {
			k.t.Fatalf("got %+v, want task %s in status %s", got, id, status)
		}
		time.Sleep(time.Millisecond) // the task goes on by itself, and nothing tells of each step
	}
}

// outcome waits for the end of a task and gives its result, or its error.
func (k *taskClient) outcome(id string) (string, *wiretest.Error) {
	k.t.Helper()
	if !k.modern {
		reply := k.ask("tasks/result", fmt.Sprintf(`{"taskId":%q}`, id))
		if reply.Error == nil && !strings.Contains(string(reply.Result), fmt.Sprintf(`"io.modelcontextprotocol/related-task":{"taskId":%q}`, id)) {
			k.t.Errorf("got %s, want it to name the task", reply.Result)
		}
		return string(reply.Result), reply.Error
	}
	until := time.Now().Add(peerWait)
	for time.Now().Before(until) {
		s := k.read(k.ask("tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)))
		if s.Status == "completed" || s.Status == "failed" {
			return string(s.Result), s.Error
		}
		time.Sleep(time.Millisecond) // as in get
	}
	k.t.Fatalf("task %s does not end", id)
	return "", nil
}

// TestTasksOfBothEras: clients of both eras have tasks of servers of both.
func TestTasksOfBothEras(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string]struct {
		modern bool // the client
		server fixture.Server
	}{
		"legacy, legacy": {false, fixture.Server{NoModern: true}},
		"legacy, modern": {false, fixture.Server{NoLegacy: true}},
		"modern, legacy": {true, fixture.Server{NoModern: true}},
		"modern, modern": {true, fixture.Server{NoLegacy: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newTaskClient(t, pair.modern, &pair.server)
			if got, failure := k.outcome(k.begin("slow_compute", `{"seconds":0.01}`)); failure != nil || !strings.Contains(got, "Computed.") {
				t.Errorf("slow_compute: got %s, %v", got, failure)
			} else if pair.modern && pair.server.NoModern && !strings.Contains(got, `"resultType":"complete"`) {
				t.Errorf("slow_compute: got %s, want a result of revision 2026-07-28, which says its type", got)
			}
			if _, failure := k.outcome(k.begin("protocol_error_job", `{}`)); failure == nil || failure.Code != -32603 {
				t.Errorf("protocol_error_job: got %v, want the error -32603", failure)
			}
			if got, failure := k.outcome(k.begin("failing_job", `{}`)); failure != nil || !strings.Contains(got, `"isError":true`) {
				t.Errorf("failing_job: got %s, %v, want a result that says so", got, failure)
			}
			id := k.begin("slow_compute", `{"seconds":600}`)
			k.ask("tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id))
			k.get(id, "cancelled")

			id = k.begin("multi_input", `{}`)
			if k.modern {
				k.answerOneByOne(id)
			}
			if got, failure := k.outcome(id); failure != nil || !strings.Contains(got, "All was answered.") {
				t.Errorf("multi_input: got %s, %v", got, failure)
			}
			if k.modern {
				k.refused()
				k.listened()
			}
			if !k.modern && pair.server.NoLegacy {
				// A tool that makes no task answers at once. A client that asked for a task takes nothing else.
				id := k.begin("greet", `{"name":"Ada"}`)
				k.get(id, "completed")
				if got, failure := k.outcome(id); failure != nil || !strings.Contains(got, "Hello, Ada!") {
					t.Errorf("greet: got %s, %v", got, failure)
				}
			}
			if reply := k.ask("tasks/get", `{"taskId":"nobody's"}`); reply.Error == nil || reply.Error.Code != -32602 {
				t.Errorf("a task of nobody: got %s %v", reply.Result, reply.Error)
			}
		})
	}
}

// answerOneByOne answers what a task asks, each question by a request of its own.
func (k *taskClient) answerOneByOne(id string) {
	k.t.Helper()
	until := time.Now().Add(peerWait)
	for left := 2; left > 0; {
		s := k.get(id, "input_required")
		if time.Now().After(until) {
			k.t.Fatalf("got %v, want %d questions", s.InputRequests, left)
		}
		if len(s.InputRequests) != left {
			time.Sleep(time.Millisecond) // the questions of a legacy server come one after the other
			continue
		}
		for key, q := range s.InputRequests {
			if q.Method != "elicitation/create" {
				k.t.Errorf("got a question of %s", q.Method)
			}
			k.read(k.ask("tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{%q:{"action":"accept"},"unknown":{}}}`, id, key)))
			break
		}
		left--
	}
}

// refused: a client that does not declare the extension has no tasks.
func (k *taskClient) refused() {
	k.t.Helper()
	declared := k.capabilities
	k.capabilities = `{}`
	defer func() { k.capabilities = declared }()
	for method, params := range map[string]string{
		"tasks/get":            `{"taskId":"x"}`,
		"tasks/update":         `{"taskId":"x","inputResponses":{}}`,
		"tasks/cancel":         `{"taskId":"x"}`,
		"subscriptions/listen": `{"notifications":{"taskIds":["x"]}}`,
		"tools/call":           `{"name":"failing_job","arguments":{}}`,
	} {
		reply := k.ask(method, params)
		if reply.Error == nil || reply.Error.Code != -32021 || !strings.Contains(string(reply.Error.Data), `"io.modelcontextprotocol/tasks":{}`) {
			k.t.Errorf("%s without the extension: got %s %v, want the error -32021 that names it", method, reply.Result, reply.Error)
		}
	}
	if got := k.ask("tools/call", `{"name":"slow_compute","arguments":{"seconds":0},"task":{}}`); !strings.Contains(string(got.Result), "Computed.") {
		k.t.Errorf("without the extension: got %s %v, want no task", got.Result, got.Error)
	}
}

// listened: whoever subscribes to a task is told of its end, and of no other's.
func (k *taskClient) listened() {
	k.t.Helper()
	other, id := k.begin("confirm_delete", `{}`), k.begin("confirm_delete", `{}`)
	mark := k.Mark()
	listen := k.Request("subscriptions/listen", wiretest.Modern(fmt.Sprintf(`{"notifications":{"taskIds":[%q,"nobody's"]}}`, id), k.capabilities))
	m, _ := k.Notification(mark, "notifications/subscriptions/acknowledged")
	if want := fmt.Sprintf(`"taskIds":[%q]`, id); !strings.Contains(string(m.Params), want) {
		k.t.Errorf("got %s, want %s", m.Params, want)
	}
	for _, one := range []string{other, id} {
		for key := range k.get(one, "input_required").InputRequests {
			k.read(k.ask("tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{%q:{"action":"accept"}}}`, one, key)))
		}
		k.get(one, "completed")
	}
	// The server may be told of the subscription only after the task has ended: it then has nothing more to say.
	again := k.begin("slow_compute", `{"seconds":0}`)
	k.get(again, "completed")
	for _, entry := range k.Transcript(mark) {
		if m := entry.Message; m.IsNotification("notifications/tasks") {
			if text := string(m.Params); !strings.Contains(text, id) || !strings.Contains(text, fmt.Sprintf(`"io.modelcontextprotocol/subscriptionId":%s`, listen)) {
				k.t.Errorf("got %s, want only task %s on subscription %s", text, id, listen)
			}
		}
	}
}

// TestTaskNews: a subscription to a task that still goes on is told of its end, with its result.
func TestTaskNews(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]fixture.Server{"legacy": {NoModern: true}, "modern": {NoLegacy: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newTaskClient(t, true, &server)
			mark := k.Mark()
			until := time.Now().Add(peerWait)
			// A subscription reaches a modern server after it was acknowledged here, so that a task may end unheard:
			// then the next one is tried.
			for time.Now().Before(until) {
				id := k.begin("confirm_delete", `{}`)
				k.Request("subscriptions/listen", wiretest.Modern(fmt.Sprintf(`{"notifications":{"taskIds":[%q]}}`, id), k.capabilities))
				for key := range k.get(id, "input_required").InputRequests {
					k.read(k.ask("tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{%q:{"action":"accept"}}}`, id, key)))
				}
				k.get(id, "completed")
				for _, entry := range k.Transcript(mark) {
					m := entry.Message
					if m.IsNotification("notifications/tasks") && strings.Contains(string(m.Params), `"completed"`) {
						if !strings.Contains(string(m.Params), "All was answered.") {
							t.Errorf("got %s, want the result in it", m.Params)
						}
						return
					}
				}
			}
			t.Error("no subscription was told of the end of its task")
		})
	}
}
