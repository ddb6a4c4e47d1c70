package workflowsrv_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// long has steps of every kind that an agent does: a rule for an output, a loop over items and one ended by an
// artifact, a gate, and a variable that is asked for.
const long = `{"id":"long-one","name":"Long","description":"d","version":"1.0.0","metaGuidance":["Touch no other file."],"steps":[
{"id":"read","title":"Read","prompt":"Read {{topic}}."},
{"id":"plan","title":"Plan","prompt":"Write the plan.","validationCriteria":[{"type":"contains","value":"Plan:","message":"The plan begins with Plan:"},{"type":"length","min":20,"message":"A plan has a sentence"}]},
{"id":"each","type":"loop","title":"Each","loop":{"type":"forEach","items":"files","maxIterations":9},"body":[
 {"id":"edit","title":"Edit","prompt":"Edit {{currentItem}}."},{"id":"check","title":"Check","prompt":"Check {{currentItem}}."}]},
{"id":"again","type":"loop","title":"Again","loop":{"type":"while","conditionSource":{"kind":"artifact_contract","contractRef":"wr.contracts.loop_control"},"maxIterations":5},"body":[
 {"id":"improve","title":"Improve","prompt":"Improve it.","outputContract":{"contractRef":"wr.contracts.loop_control"}},{"id":"look","title":"Look","prompt":"Look at it."}]},
{"id":"publish","title":"Publish","prompt":"Publish it.","requireConfirmation":true},
{"id":"small","title":"Small","prompt":"A small end.","runCondition":{"var":"size","equals":"small"}},
{"id":"close","title":"Close","prompt":"Close it.","notesOptional":true}]}`

// A runClient calls tools about runs.
type runClient struct {
	*peerClient
	id int
}

// A runAnswer is what came of a call.
type runAnswer struct {
	text    string
	isError bool
	data    struct {
		Run        string
		State      string
		IsComplete bool
		Step       *struct{ ID string }
		Loop       *struct{ Iteration int }
		Warnings   []string
		Done       int
		Runs       []struct{ Run string }
		Prompt     string
	}
}

func (a runAnswer) step() string {
	if a.data.Step == nil {
		return a.data.State
	}
	if a.data.Loop != nil {
		return fmt.Sprintf("%s %d", a.data.Step.ID, a.data.Loop.Iteration)
	}
	return a.data.Step.ID
}

func (c *runClient) call(tool string, arguments map[string]any) runAnswer {
	c.t.Helper()
	c.id++
	return readAnswer(c.t, c.ask(call(c.id, tool, arguments)))
}

func readAnswer(t *testing.T, reply string) runAnswer {
	t.Helper()
	var r struct {
		Result struct {
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
			IsError           bool
		}
	}
	if err := json.Unmarshal([]byte(reply), &r); err != nil || len(r.Result.Content) != 1 {
		t.Fatalf("got %s, want a result", reply)
	}
	a := runAnswer{text: r.Result.Content[0].Text, isError: r.Result.IsError}
	if err := json.Unmarshal(r.Result.StructuredContent, &a.data); err != nil {
		t.Fatal(err)
	}
	if a.data.Run != "" && a.data.Prompt != a.text {
		t.Errorf("got the prompt %q in the structured content, want the text %q: some clients show their model that alone", a.data.Prompt, a.text)
	}
	return a
}

// keeping is a server whose runs are in a file.
func keeping(t *testing.T, path string, files map[string]string) *workflowsrv.Server {
	t.Helper()
	return workflowsrv.New(workflowsrv.Options{Sources: memory(files), Where: func() (string, string) { return "shop", "fix-login" },
		Runs: func(ctx context.Context) (runs.Log, error) {
			s, err := store.OpenSQLite(ctx, path, func(err error) { t.Error(err) }, store.Options{})
			if err == nil {
				t.Cleanup(func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			return s, err
		}})
}

// A run goes from step to step, is blocked by a rule, goes round its loops, is found by words by another server, and
// waits for a person where it must.
func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	files := map[string]string{"long.json": long}
	c := &runClient{peerClient: greeted(t, keeping(t, path, files))}
	a := c.call("workflow_start", map[string]any{"workflowId": "long-one", "goal": "Repair the login of the shop", "context": map[string]any{"topic": "the login"}})
	run := a.data.Run
	if a.step() != "read" || !strings.Contains(a.text, "Read the login.") || !strings.Contains(a.text, "Touch no other file.") || len(a.data.Warnings) > 0 {
		t.Fatalf("got %+v, want the first step with the rules", a)
	}
	next := func(step string, more map[string]any) runAnswer {
		t.Helper()
		arguments := map[string]any{"run": run, "step": step}
		for k, v := range more {
			arguments[k] = v
		}
		return c.call("workflow_next", arguments)
	}
	expect := func(a runAnswer, step string) {
		t.Helper()
		if a.isError || a.step() != step {
			t.Fatalf("got %s and %s, want %s", a.step(), a.text, step)
		}
	}
	expect(next("read", nil), "read") // Nothing was said of it.
	expect(next("read", map[string]any{"notes": "Found the cookie."}), "plan")
	if a = next("plan", map[string]any{"output": "no"}); a.data.State != "blocked" || !strings.Contains(a.text, "The plan begins with Plan:") || !strings.Contains(a.text, `"output":"Plan: `) {
		t.Fatalf("got %+v, want what is wrong and a form that would pass", a)
	}
	a = next("plan", map[string]any{"output": "Plan: set the flag of the cookie."})
	if a.data.State != "missing" || !strings.Contains(a.text, "files") {
		t.Fatalf("got %+v, want the variable asked for", a)
	}
	expect(c.call("workflow_next", map[string]any{"run": run, "context": map[string]any{"files": []string{"a.go", "b.go"}}}), "edit 1")
	expect(next("edit", map[string]any{"notes": "Edited a."}), "check 1")
	expect(next("edit", map[string]any{"notes": "Edited a."}), "check 1") // It was sent twice.

	// Another chat, another process.
	c = &runClient{peerClient: greeted(t, keeping(t, path, files))}
	a = c.call("workflow_resume", map[string]any{"query": "go on with the shop login"})
	if expect(a, "check 1"); !strings.Contains(a.text, "Found the cookie.") || !strings.Contains(a.text, "Check a.go.") || !strings.Contains(a.text, "Touch no other file.") {
		t.Errorf("got %s, want what was done and the step", a.text)
	}
	if a = next("check", map[string]any{"notes": "ok", "context": map[string]any{"files": []string{"b.go"}}}); len(a.data.Warnings) != 1 {
		t.Errorf("got %+v, want a warning that the list stays", a)
	}
	expect(a, "edit 2")
	if a = next("edit#1", map[string]any{"notes": "Another agent has edited a."}); len(a.data.Warnings) != 1 || !strings.Contains(a.text, `"step":"edit#2"`) {
		t.Errorf("got %+v, want a warning that pass 1 was done", a)
	}
	expect(a, "edit 2")
	if a = next("edit#3", map[string]any{"notes": "Edited c."}); !a.isError || !strings.Contains(a.text, `"edit#2"`) {
		t.Errorf("got %+v, want to be told which pass it is", a)
	}
	expect(next("edit#2", map[string]any{"notes": "Edited b."}), "check 2")
	expect(next("check", map[string]any{"notes": "fine"}), "improve 1")
	if a = next("improve", map[string]any{"notes": "better"}); a.data.State != "blocked" || !strings.Contains(a.text, `{"kind":"wr.loop_control","loopId":"again","decision":"continue"}`) {
		t.Fatalf("got %+v, want the artifact asked for", a)
	}
	expect(next("improve", map[string]any{"artifacts": []any{map[string]any{"kind": "wr.loop_control", "decision": "continue"}}}), "look 1")
	expect(next("look", map[string]any{"notes": "n"}), "improve 2")
	expect(next("improve", map[string]any{"artifacts": []any{map[string]any{"kind": "wr.loop_control", "decision": "stop"}}}), "look 2")
	a = next("look", map[string]any{"notes": "good"})
	if a.data.State != "person" || !strings.Contains(a.text, "workbench runs answer "+run) {
		t.Fatalf("got %+v, want to wait for a person", a)
	}

	// The agent tries to agree in the person's place.
	for _, try := range []map[string]any{
		{"step": "publish", "notes": "The user has agreed.", "output": "yes", "context": map[string]any{"confirmed": true, "agree": true}},
		{"code": "12345678"}, {"step": "close", "notes": "done"}, {"notes": "yes"},
	} {
		try["run"] = run
		if a = c.call("workflow_next", try); a.data.Step != nil && a.data.State != "person" || a.data.IsComplete {
			t.Errorf("got %+v for %v, want no step", a, try)
		}
	}

	// A person does.
	engine := keeping(t, path, files).Runs()
	question, _, err := engine.Pending(t.Context(), "default_user", run)
	if err != nil || !strings.Contains(question.Message, "Publish") || !strings.Contains(question.Message, "Repair the login") {
		t.Errorf("got the question %q and %v", question, err)
	}
	if _, err := engine.Say(t.Context(), "default_user", runs.Opinion{Run: run, Answer: "no", Reason: "not on a Friday", How: "terminal"}); err != nil {
		t.Fatal(err)
	}
	if a = c.call("workflow_next", map[string]any{"run": run}); a.data.State != "person" || !strings.Contains(a.text, "not on a Friday") {
		t.Errorf("got %+v, want what the person said", a)
	}
	code, err := engine.Say(t.Context(), "default_user", runs.Opinion{Run: run, Answer: "yes", How: "terminal", Code: true})
	if err != nil {
		t.Fatal(err)
	}
	if a = c.call("workflow_next", map[string]any{"run": run, "code": code + "0"}); !a.isError {
		t.Errorf("got %+v for a wrong code, want an error", a)
	}
	expect(c.call("workflow_next", map[string]any{"run": run, "code": code}), "publish")
	if a = c.call("workflow_next", map[string]any{"run": run, "code": code}); !a.isError {
		t.Errorf("got %+v for a code that was used, want an error", a)
	}
	expect(next("publish", map[string]any{"notes": "out", "context": map[string]any{"size": "large"}}), "close")
	if a = next("close", nil); !a.data.IsComplete || a.data.Done != 12 {
		t.Errorf("got %+v, want the end after 12 steps", a)
	}
	if a = c.call("workflow_resume", map[string]any{"query": "login"}); a.data.Runs == nil || !strings.Contains(a.text, "finished") {
		t.Errorf("got %+v, want the run among those that have ended", a)
	}
}

// gated asks a person first.
const gated = `{"id":"gated","name":"Gated","description":"d","version":"1.0.0","steps":[{"id":"launch","title":"Launch","prompt":"Launch it.","requireConfirmation":true}]}`

// The person is asked by the client where that can, in both eras, and what the person says counts.
func TestRunElicitation(t *testing.T) {
	for _, tt := range []struct{ reply, want string }{
		{`{"action":"accept","content":{"agree":true}}`, "step"},
		{`{"action":"accept","content":{"agree":false,"reason":"too early"}}`, "too early"},
		{`{"action":"decline"}`, "did not agree"},
		{`{"action":"cancel"}`, "waits for a person"},
	} {
		server := workflowsrv.New(workflowsrv.Options{Sources: memory(map[string]string{"g.json": gated})})
		p := connect(t, server)
		p.ask(strings.Replace(handshake, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
		var asked struct {
			ID     json.RawMessage
			Method string
		}
		question := p.ask(call(1, "workflow_start", map[string]any{"workflowId": "gated"}))
		if err := json.Unmarshal([]byte(question), &asked); err != nil || asked.Method != "elicitation/create" {
			t.Fatalf("got %s, want an elicitation", question)
		}
		a := readAnswer(t, p.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID, tt.reply)))
		if a.data.State != tt.want && !strings.Contains(a.text, tt.want) {
			t.Errorf("legacy, %s: got %+v, want %s", tt.reply, a, tt.want)
		}

		const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
		m := connect(t, server)
		var first struct {
			Result struct{ ResultType, RequestState string }
		}
		begun := m.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workflow_start","arguments":{"workflowId":"gated"},` + meta + `}}`)
		if err := json.Unmarshal([]byte(begun), &first); err != nil || first.Result.ResultType != "input_required" {
			t.Fatalf("got %s, want a question", begun)
		}
		again := m.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workflow_start","arguments":{"workflowId":"gated"},"requestState":"` +
			first.Result.RequestState + `","inputResponses":{"answer":` + tt.reply + `},` + meta + `}}`)
		if a = readAnswer(t, again); a.data.State != tt.want && !strings.Contains(a.text, tt.want) {
			t.Errorf("modern, %s: got %+v, want %s", tt.reply, a, tt.want)
		}
	}
}

// A call that comes to a gate is a task for clients that know them: it asks the person, ends also when the person
// answers elsewhere, and is found again on another connection.
func TestRunTask(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	server := workflowsrv.New(workflowsrv.Options{Sources: memory(map[string]string{"g.json": gated})})
	type reply struct {
		Result struct {
			ResultType, TaskID, Status string
			InputRequests              map[string]struct{ Params struct{ Message string } }
			Result                     json.RawMessage
		}
		Error struct{ Code int }
	}
	ask := func(p *peerClient, method, params string) (r reply) {
		t.Helper()
		got := p.ask(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `,` + meta + `}}`)
		if err := json.Unmarshal([]byte(got), &r); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		return r
	}
	begin := func(p *peerClient) string {
		t.Helper()
		r := ask(p, "tools/call", `"name":"workflow_start","arguments":{"workflowId":"gated"}`)
		if r.Result.ResultType != "task" || r.Result.Status != "input_required" || r.Result.TaskID == "" {
			t.Fatalf("got %+v, want a task that waits", r)
		}
		return `"taskId":"` + r.Result.TaskID + `"`
	}
	for _, tt := range []struct{ reply, want string }{
		{`{"action":"accept","content":{"agree":true}}`, "Launch it."},
		{`{"action":"accept","content":{"agree":"maybe"}}`, "waits for a person"},
		{`{"action":"decline"}`, "did not agree"},
		{`{"action":"cancel"}`, "waits for a person"},
		{"tasks/cancel", "waits for a person"},
		{"elsewhere", "Launch it."},
	} {
		id := begin(connect(t, server))
		p := connect(t, server) // another connection
		if r := ask(p, "tasks/get", id); r.Result.Status != "input_required" || !strings.Contains(r.Result.InputRequests["answer"].Params.Message, "Launch") {
			t.Fatalf("got %+v, want the question", r)
		}
		switch tt.reply {
		case "elsewhere":
			run, _, _ := strings.Cut(strings.TrimPrefix(id, `"taskId":"`), "/")
			if _, err := server.Runs().Say(t.Context(), "default_user", runs.Opinion{Run: run, Answer: "yes", How: "test"}); err != nil {
				t.Fatal(err)
			}
		case "tasks/cancel":
			ask(p, tt.reply, id)
		default:
			if r := ask(p, "tasks/update", id+`,"inputResponses":{"other":{"action":"accept"}}`); r.Result.ResultType != "complete" {
				t.Errorf("got %+v, want an answer to nothing ignored", r)
			}
			ask(p, "tasks/update", id+`,"inputResponses":{"answer":`+tt.reply+`}`)
		}
		for range 2 {
			if r := ask(p, "tasks/get", id); r.Result.ResultType != "complete" || r.Result.Status != "completed" || !strings.Contains(string(r.Result.Result), tt.want) {
				t.Errorf("%s: got %+v with %s, want %s", tt.reply, r, r.Result.Result, tt.want)
			}
		}
	}
	id := begin(connect(t, server))
	eve := connect(t, server.For(principal.Principal{Name: "eve"}, nil))
	for _, id := range []string{id, `"taskId":"run-none/x"`, `"taskId":""`, `"task":7`} {
		if r := ask(eve, "tasks/get", id); r.Error.Code != -32602 {
			t.Errorf("%s: got %+v, want no such task", id, r)
		}
	}
	if got := eve.ask(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{` + id + `,` + modernMeta + `}}`); !strings.Contains(got, `"code":-32021`) {
		t.Errorf("got %s, want the extension asked for", got)
	}
}

// The list is narrowed by words and by a tag; what belongs to a run is refused without one.
func TestNarrowedList(t *testing.T) {
	other := strings.Replace(strings.Replace(gated, `"id":"gated"`, `"id":"other","tags":["night"]`, 1), `"name":"Gated"`, `"name":"Other"`, 1)
	p := greeted(t, workflowsrv.New(workflowsrv.Options{Sources: memory(map[string]string{"g.json": gated, "o.json": other})}))
	for i, tt := range []struct{ arguments, want, not string }{
		{`{"query":"GATED"}`, "gated: d", "other"},
		{`{"tag":"night"}`, "other: d", "gated"},
		{`{"query":"gated","tag":"night"}`, "No workflow fits", "other"},
	} {
		var arguments map[string]any
		if err := json.Unmarshal([]byte(tt.arguments), &arguments); err != nil {
			t.Fatal(err)
		}
		if got := p.ask(call(i, "workflow_list", arguments)); !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: got %s, want %s and not %s", tt.arguments, got, tt.want, tt.not)
		}
	}
	if got := p.ask(call(9, "workflow_next", map[string]any{"workflowId": "gated", "notes": "n"})); !strings.Contains(got, "run is required") {
		t.Errorf("got %s, want to be told that the run is lacking", got)
	}
}
