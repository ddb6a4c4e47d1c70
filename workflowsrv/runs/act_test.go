package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// acting has steps that are not the agent's.
const acting = `{"id":"acting","name":"Acting","description":"d","version":"1.0.0","steps":[
{"id":"count","type":"tool","title":"Count","tool":"box/calc/add","arguments":{"a":"{{n}}","list":["x {{n}}"]},"result":"sum","expect":{"var":"sum","gt":3},"retries":1},
{"id":"which","type":"ask","title":"Which","prompt":"Which of {{n}}?","answers":["red","blue"],"result":"colour"},
{"id":"await","type":"wait","title":"Await","file":"{{colour}}.txt"},
{"id":"pause","type":"wait","title":"Pause","seconds":0.1},
{"id":"tell","title":"Tell","prompt":"Tell {{sum}} and {{colour}}."}]}`

// A desk calls tools for a test.
type desk struct {
	calls    []string
	results  []string // of the calls, one after the other; "" fails as if the server had gone
	readOnly bool
}

func (d *desk) CallTool(_ context.Context, toolbox, server, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	d.calls = append(d.calls, fmt.Sprintf("%s/%s/%s %s", toolbox, server, tool, arguments))
	result := d.results[0]
	d.results = d.results[1:]
	switch result {
	case "":
		return nil, errors.New("the server has gone")
	case "refused":
		return nil, &runs.NotMadeError{Err: errors.New("the server refused")}
	}
	return json.RawMessage(result), nil
}

func (d *desk) Hints(context.Context, string, string, string) (readOnly, idempotent bool) {
	return d.readOnly, false
}

// at checks where an answer says that a run is.
func at(t *testing.T, a runs.Answer, err error, want string) told {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	d, err := read(a)
	if err != nil {
		t.Fatal(err)
	}
	got := d.State
	if d.Step != nil {
		got += " " + d.Step.ID
	}
	if got != want {
		t.Fatalf("got %s (%s), want %s", got, a.Text, want)
	}
	return d
}

// A run calls tools, waits and asks by itself, with the variables that it has.
func TestActs(t *testing.T) {
	dir := t.TempDir()
	d := &desk{results: []string{"refused", `{"content":[],"structuredContent":3}`, `{"content":[{"type":"text","text":"no"}],"isError":true}`, `{"content":[],"structuredContent":4}`}}
	e := runs.NewEngine(runs.Options{Find: finder(t, acting), Tools: d, Dir: dir}.Patient(time.Nanosecond))
	who := runs.Caller{Principal: "alice", Client: "c"}
	a, err := e.Start(t.Context(), who, "acting", "", json.RawMessage(`{"n":3}`))
	run := at(t, a, err, "failed count").Run // twice: refused, and less than expected
	if !strings.Contains(a.Text, "not what the step expects") {
		t.Errorf("got %s, want why it failed", a.Text)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "count", Output: "the sum is 4"})
	at(t, a, err, "person which")
	if want := `box/calc/add {"a":3,"list":["x 3"]}`; len(d.calls) != 4 || d.calls[3] != want {
		t.Errorf("got %q, want four of %s", d.calls, want)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "which", Output: "red"})
	at(t, a, err, "person which")
	question, answers, err := e.Pending(t.Context(), "alice", run)
	if err != nil || question.Message != "Which of 3?" || len(answers) != 2 {
		t.Errorf("got %q, %q and %v", question, answers, err)
	}
	if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: "green", How: "test"}); err == nil {
		t.Error("got an answer taken that is none of those to choose from")
	}
	if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: "Blue", How: "test", Question: question.State}); err != nil {
		t.Fatal(err)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run})
	at(t, a, err, "waiting await")
	if err := os.WriteFile(filepath.Join(dir, "blue.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for {
		if a, err = e.Next(t.Context(), who, runs.Step{Run: run}); err != nil || !strings.Contains(string(a.Data), `"waiting"`) {
			break
		}
	}
	at(t, a, err, "step tell")
	if !strings.Contains(a.Text, "Tell 4 and blue.") {
		t.Errorf("got %s, want the results in the prompt", a.Text)
	}
}

// An answer is the choice that is written like it, before one that differs in letters or spaces.
func TestChoices(t *testing.T) {
	const text = `{"id":"asks","name":"n","description":"d","version":"1.0.0","steps":[{"id":"which","type":"ask","title":"t","prompt":"p","answers":["us","US"," it "],"result":"r"},{"id":"tell","title":"t","prompt":"[{{r}}]"}]}`
	e := runs.NewEngine(runs.Options{Find: finder(t, text)})
	for answer, want := range map[string]string{"us": "[us]", "US": "[US]", "Us": "[us]", "it": "[ it ]", " it ": "[ it ]", "IT": "[ it ]"} {
		a, err := e.Start(t.Context(), runs.Caller{Principal: "alice"}, "asks", "", nil)
		run := at(t, a, err, "person which").Run
		if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: answer, How: "test"}); err != nil {
			t.Fatal(err)
		}
		a, err = e.Next(t.Context(), runs.Caller{Principal: "alice"}, runs.Step{Run: run})
		if at(t, a, err, "step tell"); !strings.Contains(a.Text, want) {
			t.Errorf("%q: got %s, want %s", answer, a.Text, want)
		}
	}
}

// A result that cannot be read is that of a call that failed.
func TestUnreadableResult(t *testing.T) {
	for _, result := range []string{`{"content":"oops","isError":true}`, `{"content":[{"type":"text","text":1}]}`, `3`} {
		d := &desk{results: []string{result}}
		e := runs.NewEngine(runs.Options{Find: finder(t, strings.Replace(acting, `"retries":1`, `"retries":0`, 1)), Tools: d})
		a, err := e.Start(t.Context(), runs.Caller{Principal: "alice"}, "acting", "", json.RawMessage(`{"n":3}`))
		if at(t, a, err, "failed count"); !strings.Contains(a.Text, "its result cannot be read") {
			t.Errorf("%s: got %s, want that it cannot be read", result, a.Text)
		}
	}
}

// The agent is told why a call failed, in more than a line.
func TestWhyFailed(t *testing.T) {
	why := strings.Repeat("ok\n", 300) + "FAIL: TestX: got 1, want 2"
	result, err := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": why}}, "isError": true})
	if err != nil {
		t.Fatal(err)
	}
	e := runs.NewEngine(runs.Options{Find: finder(t, strings.Replace(acting, `"retries":1`, `"retries":0`, 1)), Tools: &desk{results: []string{string(result)}}})
	a, err := e.Start(t.Context(), runs.Caller{Principal: "alice"}, "acting", "", json.RawMessage(`{"n":3}`))
	if at(t, a, err, "failed count"); !strings.Contains(a.Text, why) {
		t.Errorf("got %s, want all that the tool said", a.Text)
	}
}

// A run that has come to its limit can be given up, as the error says.
func TestFullRun(t *testing.T) {
	log := runs.NewMemory()
	e := runs.NewEngine(runs.Options{Find: finder(t, part), Log: func(context.Context) (runs.Log, error) { return log, nil }})
	who := runs.Caller{Principal: "alice"}
	a, err := e.Start(t.Context(), who, "part", "", nil)
	run := at(t, a, err, "step work").Run
	kept, events, err := log.Run(t.Context(), "alice", run, 0)
	if err != nil {
		t.Fatal(err)
	}
	more := slices.Repeat([]json.RawMessage{json.RawMessage(`{"kind":"noted"}`)}, 20_000-len(events))
	if err := log.ChangeRun(t.Context(), "alice", run, store.RunChange{After: len(events), Head: kept.Head, Events: more}); err != nil {
		t.Fatal(err)
	}
	if a, err := e.Manage(t.Context(), who, runs.Order{Run: run, Action: "checkpoint"}); err == nil || !strings.Contains(err.Error(), "abandon it") {
		t.Errorf("got %s and %v, want that the run is full", a.Text, err)
	}
	a, err = e.Manage(t.Context(), who, runs.Order{Run: run, Action: "abandon"})
	at(t, a, err, "abandoned")
}

// A call whose server has gone is not made again by itself unless the tool only reads; a person says what was done.
func TestUnknownCall(t *testing.T) {
	const good = `{"content":[],"structuredContent":5}`
	who := runs.Caller{Principal: "alice", Client: "c"}
	for _, tt := range []struct {
		answer string
		calls  int
	}{{"done", 1}, {"again", 2}} {
		d := &desk{results: []string{"", good}}
		e := runs.NewEngine(runs.Options{Find: finder(t, acting), Tools: d})
		a, err := e.Start(t.Context(), who, "acting", "", json.RawMessage(`{"n":3}`))
		run := at(t, a, err, "person count").Run
		if q, _, err := e.Pending(t.Context(), "alice", run); err != nil || !strings.Contains(q.Message, "nobody knows what came of it: the server has gone. Look") {
			t.Errorf("got %q and %v, want why nobody knows", q.Message, err)
		}
		a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "count", Output: "again"})
		at(t, a, err, "person count")
		if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: tt.answer, How: "test"}); err != nil {
			t.Fatal(err)
		}
		a, err = e.Next(t.Context(), who, runs.Step{Run: run})
		if at(t, a, err, "person which"); len(d.calls) != tt.calls {
			t.Errorf("%s: got %d calls, want %d", tt.answer, len(d.calls), tt.calls)
		}
	}
	d := &desk{results: []string{"", good}, readOnly: true}
	e := runs.NewEngine(runs.Options{Find: finder(t, acting), Tools: d})
	a, err := e.Start(t.Context(), who, "acting", "", json.RawMessage(`{"n":3}`))
	if at(t, a, err, "person which"); len(d.calls) != 2 {
		t.Errorf("got %d calls of a tool that only reads, want 2", len(d.calls))
	}
}

// A gone is a desk that ends with the first call, as a process does that is killed.
type gone struct{ *desk }

func (k gone) CallTool(ctx context.Context, toolbox, server, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	if len(k.calls) == 0 {
		k.calls = append(k.calls, "killed")
		runtime.Goexit()
	}
	return k.desk.CallTool(ctx, toolbox, server, tool, arguments)
}

// A call that only reads is made again by itself after the end of the process that made it, but no other one than a
// person has agreed to, and no other tool's.
func TestUnknownCallIsTheSame(t *testing.T) {
	const text = `{"id":"asked","name":"Asked","description":"d","version":"1.0.0","steps":[
{"id":"look","type":"tool","title":"Look","tool":"box/server/look","arguments":{"at":"{{what}}"},"requireConfirmation":true},{"id":"end","title":"End","prompt":"p"}]}`
	for name, tt := range map[string]struct {
		context, file string // that come after the end
		want          string
	}{
		"the same call": {"", text, "step end"},
		"another call":  {`{"what":"secrets"}`, text, "person look"},
		"another tool":  {"", strings.Replace(text, "server/look", "server/see", 1), "person look"},
	} {
		t.Run(name, func(t *testing.T) {
			find := finder(t, text)
			d := gone{&desk{results: []string{`{"content":[]}`}, readOnly: true}}
			e := runs.NewEngine(runs.Options{Find: func(id string) (*definition.Entry, error) { return find(id) }, Tools: d}.Holding(10 * time.Nanosecond))
			who := runs.Caller{Principal: "alice"}
			a, err := e.Start(t.Context(), who, "asked", "", json.RawMessage(`{"what":"a.txt"}`))
			run := at(t, a, err, "person look").Run
			if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: "yes", How: "test"}); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = e.Next(t.Context(), who, runs.Step{Run: run})
			}()
			<-ended
			time.Sleep(time.Millisecond) // longer than the run is held
			if tt.file != text {
				find = finder(t, tt.file)
				if _, err := e.Manage(t.Context(), who, runs.Order{Run: run, Action: "rebase"}); err != nil {
					t.Fatal(err)
				}
			}
			a, err = e.Next(t.Context(), who, runs.Step{Run: run, Context: json.RawMessage(tt.context)})
			at(t, a, err, tt.want)
			if calls := len(d.calls); (tt.want == "step end") != (calls == 2) {
				t.Errorf("got the calls %q", d.calls)
			}
		})
	}
}

// A workflow that came with a project calls no tool that may change something before a person agrees; one that may not
// use the toolbox calls none.
func TestUnsoughtCalls(t *testing.T) {
	find := finder(t, acting)
	project := func(id string) (*definition.Entry, error) {
		e, err := find(id)
		if err == nil {
			e = &definition.Entry{Workflow: e.Workflow, Place: definition.Place{Origin: definition.Project}}
		}
		return e, err
	}
	d := &desk{results: []string{`{"content":[],"structuredContent":5}`}}
	e := runs.NewEngine(runs.Options{Find: project, Tools: d})
	who := runs.Caller{Principal: "alice", Client: "c"}
	a, err := e.Start(t.Context(), who, "acting", "", json.RawMessage(`{"n":3}`))
	run := at(t, a, err, "person count").Run
	for _, answer := range []string{"", "  ", "go on"} {
		if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: answer, How: "test"}); err == nil || !strings.Contains(err.Error(), "one of yes, no") {
			t.Errorf("%q: got %v, want that it is no answer", answer, err)
		}
	}
	if len(d.calls) > 0 {
		t.Errorf("got %q, want no call before a person agrees", d.calls)
	}
	if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: "yes", How: "test"}); err != nil {
		t.Fatal(err)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run})
	at(t, a, err, "person which")
	who.May = func(string) bool { return false }
	e = runs.NewEngine(runs.Options{Find: find, Tools: d})
	a, err = e.Start(t.Context(), who, "acting", "", json.RawMessage(`{"n":3}`))
	if at(t, a, err, "failed count"); len(d.calls) != 1 {
		t.Errorf("got %q, want no call for who may not", d.calls)
	}
}

// A process that ended while it had a run to itself does not keep it for as long as the clock was set back.
func TestClockSetBack(t *testing.T) {
	log := runs.NewMemory()
	e := runs.NewEngine(runs.Options{Find: finder(t, acting), Tools: &desk{results: []string{""}}, Log: func(context.Context) (runs.Log, error) { return log, nil }})
	who := runs.Caller{Principal: "alice"}
	a, err := e.Start(t.Context(), who, "acting", "", json.RawMessage(`{"n":3}`))
	d := at(t, a, err, "person count")
	if err := log.HoldRun(t.Context(), "alice", d.Run, d.Event, time.Hour); err != nil {
		t.Fatal(err)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: d.Run})
	at(t, a, err, "person count")
}

// stuck is a tool that answers when the call is cancelled.
type stuck struct{ desk }

func (*stuck) CallTool(ctx context.Context, _, _, _ string, _ json.RawMessage) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A call that waits, for whatever it is, ends within 100 ms when it is cancelled, and the run is as it was.
func TestCancelled(t *testing.T) {
	for name, tt := range map[string]struct{ step, state string }{
		"time":    {`"type":"wait","seconds":3600`, "waiting one"},
		"file":    {`"type":"wait","file":"none.txt"`, "waiting one"},
		"request": {`"type":"wait","webhook":true`, "waiting one"},
		"tool":    {`"type":"tool","tool":"box/server/tool"`, "person one"},
		"person":  {`"prompt":"p","requireConfirmation":true`, "person one"},
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"id":"waits","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"t",` + tt.step + `},{"id":"two","title":"t","prompt":"p"}]}`
			synctest.Test(t, func(t *testing.T) {
				e := runs.NewEngine(runs.Options{Find: finder(t, text), Tools: new(stuck), Dir: t.TempDir()})
				who := runs.Caller{Principal: "alice", Ask: func(ctx context.Context, _ runs.Question) (runs.Reply, error) {
					<-ctx.Done()
					return runs.Reply{}, ctx.Err()
				}}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				began := time.Now()
				_, _ = e.Start(ctx, who, "waits", "", nil) // Nobody hears of it.
				if took := time.Since(began); took < time.Second || took > 1100*time.Millisecond {
					t.Errorf("got the end after %v, want it within 100 ms of one second", took)
				}
				list, err := e.List(t.Context(), "alice", 10)
				if err != nil || len(list) != 1 {
					t.Fatalf("got %d runs and %v, want one", len(list), err)
				}
				a, err := e.Next(t.Context(), runs.Caller{Principal: "alice"}, runs.Step{Run: list[0].ID})
				at(t, a, err, tt.state)
			})
		})
	}
}

// A late is a desk whose call waits for something before it is made, such as for a person who is to approve it.
type late struct{ *desk }

func (l late) CallTool(ctx context.Context, _, _, tool string, _ json.RawMessage) (json.RawMessage, error) {
	l.calls = append(l.calls, tool)
	<-ctx.Done()
	return nil, &runs.NotMadeError{Err: fmt.Errorf("nobody had agreed: %w", context.Cause(ctx))}
}

// A call that was certainly not made, because its time was over or it was cancelled before, is told so: no person is asked
// what came of it, and none is made with what is left of the time.
func TestNotMadeInTime(t *testing.T) {
	const text = `{"id":"late","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"t","type":"tool","tool":"box/server/tool","timeoutSeconds":10,"retries":1},{"id":"two","title":"t","prompt":"p"}]}`
	for name, tt := range map[string]struct {
		after time.Duration // the client cancels
		calls int
	}{"over": {time.Hour, 2}, "cancelled": {time.Second, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := late{new(desk)}
				e := runs.NewEngine(runs.Options{Find: finder(t, text), Tools: d})
				ctx, cancel := context.WithTimeout(t.Context(), tt.after)
				defer cancel()
				a, err := e.Start(ctx, runs.Caller{Principal: "alice"}, "late", "", nil)
				if at(t, a, err, "failed one"); !strings.Contains(a.Text, "That failed: nobody had agreed") || len(d.calls) != tt.calls {
					t.Errorf("got %s and %d calls, want why none was made", a.Text, len(d.calls))
				}
			})
		})
	}
}

// An answer counts for the question that the person has seen, and for no other that the run has come to meanwhile.
func TestAnswerIsToItsQuestion(t *testing.T) {
	const text = `{"id":"asks","name":"Asks","description":"d","version":"1.0.0","steps":[` +
		`{"id":"all","type":"loop","title":"All","loop":{"type":"for","count":2,"maxIterations":2},"body":[{"id":"each","type":"ask","title":"Each","prompt":"Drop it?","answers":["yes","no"]}]},` +
		`{"id":"last","type":"ask","title":"Last","prompt":"Drop all?","answers":["yes","no"]}]}`
	e := runs.NewEngine(runs.Options{Find: finder(t, text)})
	who := runs.Caller{Principal: "alice", Client: "c"}
	a, err := e.Start(t.Context(), who, "asks", "", nil)
	run := at(t, a, err, "person each").Run
	for _, question := range []string{"Drop it?", "Drop it?", "Drop all?"} {
		q, _, err := e.Pending(t.Context(), "alice", run)
		if err != nil || q.Message != question {
			t.Fatalf("got %q, %v, want %q", q.Message, err, question)
		}
		said := runs.Opinion{Run: run, Answer: "yes", How: "test", Question: q.State}
		if again, _, _ := e.Pending(t.Context(), "alice", run); again.State != q.State {
			t.Errorf("got %q, then %q for the same question", q.State, again.State)
		}
		if _, err := e.Say(t.Context(), "alice", said); err != nil {
			t.Fatal(err)
		}
		var told *runs.Error
		if _, err := e.Say(t.Context(), "alice", said); !errors.As(err, &told) && !errors.Is(err, runs.ErrNoQuestion) {
			t.Errorf("%s: got %v for the second answer, want that it counts for nothing else", question, err)
		}
	}
}

// A person agrees to the call that was shown, with its values; one that the agent has changed since is asked about
// again, by whatever way the person has answered.
func TestAgreedToTheCall(t *testing.T) {
	const text = `{"id":"calls","name":"Calls","description":"d","version":"1.0.0","steps":[{"id":"call","type":"tool","title":"Call","tool":"box/files/drop",` +
		`"arguments":{"path":"{{path}}"},"requireConfirmation":true},{"id":"end","title":"End","prompt":"p"}]}`
	who := runs.Caller{Principal: "alice", Client: "c"}
	begin := func() (e *runs.Engine, d *desk, run string) {
		d = &desk{results: []string{`{"content":[]}`}}
		e = runs.NewEngine(runs.Options{Find: finder(t, text), Tools: d})
		a, err := e.Start(t.Context(), who, "calls", "", json.RawMessage(`{"path":"/tmp/a"}`))
		return e, d, at(t, a, err, "person call").Run
	}
	change := func(e *runs.Engine, run string) {
		t.Helper()
		a, err := e.Next(t.Context(), who, runs.Step{Run: run, Context: json.RawMessage(`{"path":"/etc"}`)})
		at(t, a, err, "person call")
	}
	say := func(e *runs.Engine, run string, code bool) string {
		t.Helper()
		given, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: "yes", How: "test", Code: code})
		if err != nil {
			t.Fatal(err)
		}
		return given
	}
	shown := func(e *runs.Engine, run, want string) string {
		t.Helper()
		q, _, err := e.Pending(t.Context(), "alice", run)
		if err != nil || !strings.Contains(q.Message, `box/files/drop with {"path":"`+want+`"}`) {
			t.Errorf("got %q, %v, want the call with %s", q.Message, err, want)
		}
		return q.State
	}

	e, _, run := begin()
	seen := shown(e, run, "/tmp/a")
	change(e, run)
	if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: "yes", How: "test", Question: seen}); err == nil {
		t.Error("got a yes taken for a call that was not shown")
	}
	shown(e, run, "/etc")

	e, d, run := begin()
	say(e, run, false)
	change(e, run)
	shown(e, run, "/etc")
	if say(e, run, false); len(d.calls) != 0 {
		t.Errorf("got the calls %q, want none before the second yes", d.calls)
	}
	a, err := e.Next(t.Context(), who, runs.Step{Run: run})
	if at(t, a, err, "step end"); len(d.calls) != 1 || d.calls[0] != `box/files/drop {"path":"/etc"}` {
		t.Errorf("got the calls %q, want the one that was agreed to", d.calls)
	}

	e, d, run = begin()
	code := say(e, run, true)
	change(e, run)
	if a, err := e.Next(t.Context(), who, runs.Step{Run: run, Code: code}); err == nil || len(d.calls) != 0 {
		t.Errorf("got %s and the calls %q, want that the code is for another call", a.Text, d.calls)
	}

	// A client that shows the question.
	e, _, run = begin()
	asking := who
	asking.Ask = func(_ context.Context, q runs.Question) (runs.Reply, error) {
		if !strings.Contains(q.Message, "/etc") {
			t.Errorf("got the question %q, want the values of the call", q.Message)
		}
		return runs.Reply{State: q.State, Action: "accept", Form: []byte(`{"agree":true}`)}, nil
	}
	a, err = e.Next(t.Context(), asking, runs.Step{Run: run, Context: json.RawMessage(`{"path":"/etc"}`)})
	at(t, a, err, "step end")
}

// What a tool, a request or a person has brought is kept also where the next step cannot use it: the answer says why the
// run does not go on, and it goes on when the variable is set otherwise. A person's answer that a loop counts by is a
// number.
func TestFactIsKept(t *testing.T) {
	const text = `{"id":"facts","name":"n","description":"d","version":"1.0.0","steps":[{"id":"bring","title":"Bring","result":"files",%s},` +
		`{"id":"all","type":"loop","title":"All","loop":{"type":"forEach","items":"files","maxIterations":9},"body":[{"id":"each","title":"Each","prompt":"p {{currentItem}}"}]}]}`
	who := runs.Caller{Principal: "alice"}
	for name, tt := range map[string]struct {
		step, state string
		bring       func(e *runs.Engine, a runs.Answer, run string) error
	}{
		"tool": {`"type":"tool","tool":"box/server/tool"`, "failed", func(*runs.Engine, runs.Answer, string) error { return nil }},
		"request": {`"type":"wait","webhook":true`, "waiting bring", func(e *runs.Engine, a runs.Answer, run string) error {
			_, err := e.Hook(t.Context(), hookOf(t, a.Text), []byte("a.txt"))
			return err
		}},
		"person": {`"type":"ask","prompt":"Which?"`, "person bring", func(e *runs.Engine, a runs.Answer, run string) error {
			_, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: "a.txt", How: "test"})
			return err
		}},
		"code": {`"type":"ask","prompt":"Which?"`, "person bring", func(e *runs.Engine, a runs.Answer, run string) error {
			code, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: "a.txt", How: "test", Code: true})
			if err == nil {
				_, err = e.Next(t.Context(), who, runs.Step{Run: run, Code: code})
			}
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &desk{results: []string{`{"content":[{"type":"text","text":"a.txt"}]}`}}
			opts := runs.Options{Find: finder(t, fmt.Sprintf(text, tt.step)), Tools: d, Memory: runs.NewMemory(), Gateway: "https://g"}.Patient(time.Nanosecond)
			a, err := runs.NewEngine(opts).Start(t.Context(), who, "facts", "", nil)
			run := at(t, a, err, tt.state).Run
			if err := tt.bring(runs.NewEngine(opts), a, run); err != nil {
				t.Fatal(err)
			}
			e := runs.NewEngine(opts)
			a, err = e.Next(t.Context(), who, runs.Step{Run: run})
			if d := at(t, a, err, "failed"); d.Done != 1 || !strings.Contains(a.Text, `the variable "files" must be an array, got a string: "a.txt"`) {
				t.Errorf("got %s and %d steps done, want why the loop does not begin", a.Text, d.Done)
			}
			if _, err := e.Next(t.Context(), who, runs.Step{Run: run, Context: json.RawMessage(`{"files":3}`)}); err == nil || !strings.Contains(err.Error(), "got a number") {
				t.Errorf("got %v, want what is wrong with the variable", err)
			}
			a, err = e.Next(t.Context(), who, runs.Step{Run: run, Context: json.RawMessage(`{"files":["a.txt"]}`)})
			at(t, a, err, "step each")
		})
	}
	e := runs.NewEngine(runs.Options{Find: finder(t, `{"id":"facts","name":"n","description":"d","version":"1.0.0","steps":[{"id":"bring","type":"ask","title":"Bring","prompt":"How often?","result":"times"},`+
		`{"id":"all","type":"loop","title":"All","loop":{"type":"for","count":"times","maxIterations":9},"body":[{"id":"each","title":"Each","prompt":"p"}]}]}`)})
	a, err := e.Start(t.Context(), who, "facts", "", nil)
	run := at(t, a, err, "person bring").Run
	for _, answer := range []string{"often", "null", `"3"`, ""} {
		if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: answer, How: "test"}); err == nil || !strings.Contains(err.Error(), "is a number") {
			t.Errorf("%q: got %v, want that a number is wanted", answer, err)
		}
	}
	if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: " 3 ", How: "test"}); err != nil {
		t.Fatal(err)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run})
	at(t, a, err, "step each")
}

// What is put into the arguments of a tool and handed to other runs is the whole value with all its digits, or an error;
// only a prompt leaves out what is long.
func TestHandedOnWhole(t *testing.T) {
	const text = `{"id":"hands","name":"n","description":"d","version":"1.0.0","steps":[{"id":"call","type":"tool","title":"Call","tool":"box/server/tool",` +
		`"arguments":{"text":"Report: {{report}}","whole":"{{report}}","next":"{{big + 1}}","back":"{{big-1}} {{half + 1}}"}},` +
		`{"id":"both","type":"parallel","title":"Both","parallelDelegations":[{"workflowId":"part","args":{"side":"<{{report}}>"},"contextMapping":{"report":"report"}}],"synthesis":{"prompt":"p"}}]}`
	who := runs.Caller{Principal: "alice"}
	for size, want := range map[int]string{5000: "runs both", 600 << 10: "failed both", 5 << 20: "failed call"} {
		d := &desk{results: []string{`{"content":[]}`}}
		report, hands := strings.Repeat("r", min(size, 600<<10)), text
		if size > len(report) { // more than one call may have, of one variable
			hands = strings.Replace(text, `"whole":"{{report}}"`, `"whole":[`+strings.Repeat(`"{{report}}",`, 9)+`1]`, 1)
		}
		e := runs.NewEngine(runs.Options{Find: finder(t, hands, part), Tools: d})
		a, err := e.Start(t.Context(), who, "hands", "", json.RawMessage(`{"big":9007199254740993,"half":0.5,"report":"`+report+`"}`))
		told := at(t, a, err, want)
		if want == "failed call" {
			if len(d.calls) > 0 || !strings.Contains(a.Text, "have more than 4194304 bytes") {
				t.Errorf("got %s and %d calls, want why there is none", a.Text, len(d.calls))
			}
			continue
		}
		if call := `box/server/tool {"back":"9007199254740992 1.5","next":9007199254740994,"text":"Report: ` + report + `","whole":"` + report + `"}`; d.calls[0] != call {
			t.Errorf("got %.200s, want %.200s", d.calls[0], call)
		}
		if want == "failed both" {
			if !strings.Contains(a.Text, "the context for the workflow part has 1228") {
				t.Errorf("got %s, want why no run began", a.Text)
			}
			continue
		}
		r, err := e.Read(t.Context(), "alice", told.Runs[0].Run)
		if has := `{"report":"` + report + `","side":"<` + report + `>"}`; err != nil || string(r.Events[0].Context) != has {
			t.Errorf("got %.100s and %v, want %.100s", r.Events[0].Context, err, has)
		}
		if a, err = e.Next(t.Context(), who, runs.Step{Run: r.ID}); !strings.Contains(a.Text, "Do {{side}}.") {
			t.Errorf("got %.200s and %v, want the prompt without what is long", a.Text, err)
		}
	}
}

// Nobody is asked to agree to a call that lacks a variable: the agent is told which before, also by the step that sets
// it, and may send it with the step once more.
func TestLackingVariable(t *testing.T) {
	const lacking = `{"id":"lacking","name":"Lacking","description":"d","version":"1.0.0","steps":[
{"id":"find","title":"Find","prompt":"Find the path."},
{"id":"read","type":"tool","title":"Read","tool":"box/files/read","arguments":{"path":"{{path}}"},"requireConfirmation":true},
{"id":"tell","title":"Tell","prompt":"Tell."}]}`
	d := &desk{results: []string{`{"content":[],"structuredContent":1}`}}
	e := runs.NewEngine(runs.Options{Find: finder(t, lacking), Tools: d})
	who := runs.Caller{Principal: "alice", Client: "c"}
	a, err := e.Start(t.Context(), who, "lacking", "", nil)
	run := at(t, a, err, "step find").Run
	if want := `"context":{"path":…}`; !strings.Contains(a.Text, want) {
		t.Errorf("got %s, want %s in it", a.Text, want)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "find", Notes: "n"})
	at(t, a, err, "failed read")
	if want := `the variable "path" is not set`; !strings.Contains(a.Text, want) {
		t.Errorf("got %s, want %s in it", a.Text, want)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "read", Context: json.RawMessage(`{"path":"a.txt"}`)})
	at(t, a, err, "person read")
	if q, _, err := e.Pending(t.Context(), "alice", run); err != nil || !strings.Contains(q.Message, `{"path":"a.txt"}`) {
		t.Errorf("got %q and %v, want the arguments in the question", q.Message, err)
	}
	if len(d.calls) != 0 {
		t.Errorf("got the calls %q, want none", d.calls)
	}
}

// A waiting is a server that is still starting when a call comes.
type waiting struct {
	desk
	ready chan struct{}
}

func (w *waiting) CallTool(ctx context.Context, toolbox, server, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	select {
	case <-w.ready:
		return w.desk.CallTool(ctx, toolbox, server, tool, arguments)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A halted log is that of a process which is stopped as soon as it is to say that it is at work, until it is continued.
type halted struct {
	runs.Log
	stopped, continued chan struct{}
	once               sync.Once
}

func (h *halted) HoldRun(ctx context.Context, principal, id string, events int, hold time.Duration) error {
	h.once.Do(func() { close(h.stopped) })
	<-h.continued
	return h.Log.HoldRun(ctx, principal, id, events, hold)
}

// A process that was stopped before its call was sent does not make it any more when another one has taken the run over
// meanwhile: a person has said there that the call is to be made again.
func TestStoppedBeforeACall(t *testing.T) {
	for name, take := range map[string]func(t *testing.T, e *runs.Engine, run string){
		"called again": func(t *testing.T, e *runs.Engine, run string) {
			who := runs.Caller{Principal: "alice"}
			a, err := e.Next(t.Context(), who, runs.Step{Run: run})
			at(t, a, err, "person count")
			if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: "again", How: "test"}); err != nil {
				t.Fatal(err)
			}
			a, err = e.Next(t.Context(), who, runs.Step{Run: run})
			at(t, a, err, "person which")
		},
		"abandoned": func(t *testing.T, e *runs.Engine, run string) {
			if _, err := e.Manage(t.Context(), runs.Caller{Principal: "alice"}, runs.Order{Run: run, Action: "abandon"}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := runs.NewMemory()
				process := func(log runs.Log, tools runs.Tools) *runs.Engine {
					return runs.NewEngine(runs.Options{Find: finder(t, acting), Tools: tools, Log: func(context.Context) (runs.Log, error) { return log, nil }})
				}
				const result = `{"content":[],"structuredContent":5}`
				theirs := &waiting{desk{results: []string{result}}, make(chan struct{})}
				slow := &halted{Log: log, stopped: make(chan struct{}), continued: make(chan struct{})}
				ended := make(chan error)
				go func() {
					_, err := process(slow, theirs).Start(t.Context(), runs.Caller{Principal: "alice"}, "acting", "", json.RawMessage(`{"n":3}`))
					ended <- err
				}()
				<-slow.stopped
				time.Sleep(time.Minute)
				ours := process(log, &desk{results: []string{result}})
				list, err := ours.List(t.Context(), "alice", 10)
				if err != nil || len(list) != 1 {
					t.Fatalf("got %d runs and %v, want one", len(list), err)
				}
				take(t, ours, list[0].ID)
				close(slow.continued)
				synctest.Wait()
				close(theirs.ready)
				if err := <-ended; err == nil || !strings.Contains(err.Error(), "somebody else has gone on with") {
					t.Errorf("got %v, want to be told who has the run", err)
				}
				if len(theirs.calls) > 0 {
					t.Errorf("got %q called by the process that was stopped, want nothing", theirs.calls)
				}
			})
		})
	}
}
