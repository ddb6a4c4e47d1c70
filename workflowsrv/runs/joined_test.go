package runs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

const (
	hooked = `{"id":"hooked","name":"Hooked","description":"d","version":"1.0.0","steps":[
{"id":"build","type":"wait","title":"Build","webhook":true,"timeoutSeconds":3600,"result":"build"},{"id":"tell","title":"Tell","prompt":"Tell {{build.state}}."}]}`
	parent = `{"id":"parent","name":"Parent","description":"d","version":"1.0.0","steps":[
{"id":"both","type":"parallel","title":"Both","parallelDelegations":[{"workflowId":"part","goal":"the {{what}}","args":{"side":"left"}},
{"workflowId":"part","goal":"the other","contextMapping":{"what":"what"}},{"workflowId":"gone","runCondition":{"var":"what","equals":"nothing"}}],
"synthesis":{"prompt":"Put them together."}},{"id":"end","title":"End","prompt":"p"}]}`
	part = `{"id":"part","name":"Part","description":"d","version":"1.0.0","steps":[{"id":"work","title":"Do","prompt":"Do {{side}}."}]}`
)

// hookOf is the path of the request that an answer says a run waits for.
func hookOf(t *testing.T, text string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, runs.HookPath)
	path, _, closed := strings.Cut(rest, ".")
	secret, _, end := strings.Cut(strings.TrimPrefix(rest, path+"."), ".")
	if !ok || !closed || !end || len(secret) < 26 {
		t.Fatalf("got %s, want an address", text)
	}
	return path + "." + secret
}

// A run waits for one request, which only who knows its address can send, and once. Another engine on the same store
// takes it.
func TestHook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	log, err := in(path)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer log.(*store.Store).Close()
	opts := runs.Options{Find: finder(t, hooked), Log: func(context.Context) (runs.Log, error) { return log, nil }, Gateway: "https://hooks.example"}.Patient(time.Nanosecond)
	e, gateway := runs.NewEngine(opts), runs.NewEngine(opts)
	who := runs.Caller{Principal: "alice"}
	a, err := e.Start(t.Context(), who, "hooked", "", nil)
	run := at(t, a, err, "waiting build").Run
	if !strings.Contains(a.Text, "POST https://hooks.example/hooks/") {
		t.Errorf("got %s, want the address", a.Text)
	}
	at1 := hookOf(t, a.Text)
	a, err = e.Next(t.Context(), who, runs.Step{Run: run})
	if at(t, a, err, "waiting build"); hookOf(t, a.Text) != at1 {
		t.Error("got another address, want the one that was told")
	}
	for _, bad := range []string{"", run, run + ".", run + "." + strings.Repeat("a", 26), "run-none." + strings.Repeat("a", 26), at1 + "x"} {
		if taken, err := gateway.Hook(t.Context(), bad, []byte("{}")); taken || err != nil {
			t.Errorf("%q: got %v and %v, want it not taken", bad, taken, err)
		}
	}
	if taken, err := gateway.Hook(t.Context(), at1, []byte(` {"state":"<green>"} `)); !taken || err != nil {
		t.Fatalf("got %v and %v, want it taken", taken, err)
	}
	if taken, err := gateway.Hook(t.Context(), at1, []byte(`{"state":"red"}`)); taken || err != nil {
		t.Errorf("a second time: got %v and %v, want it not taken", taken, err)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run})
	if at(t, a, err, "step tell"); !strings.Contains(a.Text, "Tell <green>.") {
		t.Errorf("got %s, want what the request brought", a.Text)
	}
	for _, body := range []string{"plain", "\xff\xfe", strings.Repeat("[", 50_000), "", strings.Repeat("x", runs.MaxHook)} {
		a, err := e.Start(t.Context(), who, "hooked", "", nil)
		run := at(t, a, err, "waiting build").Run
		if taken, err := gateway.Hook(t.Context(), hookOf(t, a.Text), []byte(body)); !taken || err != nil {
			t.Errorf("%.10q: got %v and %v, want it taken", body, taken, err)
		}
		a, err = e.Next(t.Context(), who, runs.Step{Run: run})
		at(t, a, err, "step tell")
	}
}

// A request that comes late is taken at the address that was given out, also when a person has said that the run is to go
// on waiting for it; that person is not asked to agree to the step anew.
func TestLateHook(t *testing.T) {
	text := strings.Replace(hooked, `"webhook":true`, `"webhook":true,"requireConfirmation":true`, 1)
	for name, next := range map[string]bool{"before the next call": false, "after it": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := runs.NewEngine(runs.Options{Find: finder(t, text), Gateway: "https://hooks.example"})
				who := runs.Caller{Principal: "alice"}
				say := func(run, answer string) {
					t.Helper()
					if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: answer, How: "test"}); err != nil {
						t.Fatal(err)
					}
				}
				a, err := e.Start(t.Context(), who, "hooked", "", nil)
				run := at(t, a, err, "person build").Run
				say(run, "yes")
				a, err = e.Next(t.Context(), who, runs.Step{Run: run})
				at(t, a, err, "waiting build")
				address := hookOf(t, a.Text)
				for range 2 {
					time.Sleep(time.Hour)
					a, err = e.Next(t.Context(), who, runs.Step{Run: run})
					at(t, a, err, "person build")
					say(run, "no")
				}
				if next {
					a, err = e.Next(t.Context(), who, runs.Step{Run: run})
					if at(t, a, err, "waiting build"); hookOf(t, a.Text) != address {
						t.Error("got another address, want the one that was given out")
					}
				}
				if taken, err := e.Hook(t.Context(), address, []byte(`{"state":"green"}`)); !taken || err != nil {
					t.Fatalf("got %v and %v, want the request taken", taken, err)
				}
				a, err = e.Next(t.Context(), who, runs.Step{Run: run})
				if at(t, a, err, "step tell"); !strings.Contains(a.Text, "Tell green.") {
					t.Errorf("got %s, want what the request brought", a.Text)
				}
			})
		})
	}
}

// A run is at the same step for every process that reads it: its conditions compare as they did where it began, also in
// the runs that it begins.
func TestComparesAsItBegan(t *testing.T) {
	const text = `{"id":"compares","name":"n","description":"d","version":"1.0.0","steps":[
{"id":"build","type":"wait","title":"Build","webhook":true,"runCondition":{"var":"size","equals":"large"}},
{"id":"tell","title":"Tell","prompt":"p","validationCriteria":[{"type":"contains","value":"ok","message":"ok","condition":{"var":"size","equals":"large"}}]},
{"id":"both","type":"parallel","title":"Both","parallelDelegations":[{"workflowId":"compares","contextMapping":{"size":"size"}}],"synthesis":{"prompt":"p"}}]}`
	log := runs.NewMemory()
	engine := func(mode criteria.Mode) *runs.Engine {
		return runs.NewEngine(runs.Options{Find: finder(t, text), Gateway: "https://hooks.example", Criteria: criteria.Options{Mode: mode},
			Log: func(context.Context) (runs.Log, error) { return log, nil }}.Patient(time.Nanosecond))
	}
	who := runs.Caller{Principal: "alice"}
	for began, other := range map[criteria.Mode]criteria.Mode{criteria.Lenient: criteria.Strict, criteria.Strict: criteria.Lenient} {
		e, gateway := engine(began), engine(other)
		a, err := e.Start(t.Context(), who, "compares", "", json.RawMessage(`{"size":"Large"}`))
		run := ""
		if began == criteria.Strict {
			run = at(t, a, err, "step tell").Run
			a, err = gateway.Next(t.Context(), who, runs.Step{Run: run})
			at(t, a, err, "step tell")
			a, err = gateway.Next(t.Context(), who, runs.Step{Run: run, ID: "tell", Output: "no"})
		} else {
			run = at(t, a, err, "waiting build").Run
			if taken, err := gateway.Hook(t.Context(), hookOf(t, a.Text), []byte("{}")); !taken || err != nil {
				t.Errorf("got %v and %v, want the request taken by a process that compares otherwise", taken, err)
			}
			a, err = gateway.Next(t.Context(), who, runs.Step{Run: run, ID: "tell", Output: "no"})
			at(t, a, err, "blocked tell")
			a, err = gateway.Next(t.Context(), who, runs.Step{Run: run, ID: "tell", Output: "ok"})
		}
		child := at(t, a, err, "runs both").Runs[0].Run
		a, err = e.Next(t.Context(), who, runs.Step{Run: child})
		at(t, a, err, map[criteria.Mode]string{criteria.Strict: "step tell", criteria.Lenient: "waiting build"}[began])
	}
}

// No file is waited for whose name lacks a variable: the agent is told which. The name is shown as it is.
func TestFileThatLacksAVariable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := runs.NewEngine(runs.Options{Find: finder(t, `{"id":"files","name":"n","description":"d","version":"1.0.0","steps":[
{"id":"await","type":"wait","title":"Await","file":"{{name}}.txt","timeoutSeconds":60}]}`), Dir: t.TempDir()})
		who := runs.Caller{Principal: "alice"}
		a, err := e.Start(t.Context(), who, "files", "", nil)
		run := at(t, a, err, "failed await").Run
		if want := `the variable "name" is not set`; !strings.Contains(a.Text, want) {
			t.Errorf("got %s, want %s in it", a.Text, want)
		}
		time.Sleep(time.Hour)
		a, err = e.Next(t.Context(), who, runs.Step{Run: run, Context: json.RawMessage(`{"name":"none"}`)})
		if at(t, a, err, "waiting await"); !strings.Contains(a.Text, "for the file none.txt") {
			t.Errorf("got %s, want the name of the file", a.Text)
		}
		time.Sleep(time.Hour)
		a, err = e.Next(t.Context(), who, runs.Step{Run: run})
		at(t, a, err, "person await")
		if q, _, err := e.Pending(t.Context(), "alice", run); err != nil || !strings.Contains(q.Message, "the file none.txt") {
			t.Errorf("got %q and %v, want the name of the file", q.Message, err)
		}
	})
}

// A parallel step begins its runs once, is joined when all are over, and takes nothing before.
func TestChildren(t *testing.T) {
	e := runs.NewEngine(runs.Options{Find: finder(t, parent, part)})
	who := runs.Caller{Principal: "alice"}
	a, err := e.Start(t.Context(), who, "parent", "", json.RawMessage(`{"what":"left half"}`))
	run := at(t, a, err, "runs both").Run
	children := func() (list []struct{ Run, Status string }) {
		t.Helper()
		var d struct {
			Runs []struct{ Run, Status string }
		}
		if err := json.Unmarshal(a.Data, &d); err != nil || len(d.Runs) != 2 {
			t.Fatalf("got %s and %v, want two runs", a.Data, err)
		}
		return d.Runs
	}
	first := children()
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "both", Notes: "all done"})
	if at(t, a, err, "runs both"); children()[0].Run != first[0].Run || !strings.Contains(a.Text, "the left half") {
		t.Errorf("got %s, want the same runs", a.Text)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: first[0].Run})
	if at(t, a, err, "step work"); !strings.Contains(a.Text, "Do left.") {
		t.Errorf("got %s, want the arguments", a.Text)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: first[0].Run, ID: "work", Notes: "moved the wall"})
	at(t, a, err, "finished")
	a, err = e.Next(t.Context(), who, runs.Step{Run: run})
	at(t, a, err, "runs both")
	if !strings.Contains(a.Text, "1 of 2 runs") || strings.Contains(a.Text, `"run":"`+first[0].Run) || children()[0].Status != "finished" {
		t.Errorf("got %s, want only the other to be done", a.Text)
	}
	a, err = e.Manage(t.Context(), who, runs.Order{Run: first[1].Run, Action: "abandon", Reason: "no need"})
	at(t, a, err, "abandoned")
	a, err = e.Next(t.Context(), who, runs.Step{Run: run})
	if at(t, a, err, "step both"); !strings.Contains(a.Text, "moved the wall") || !strings.Contains(a.Text, "Put them together.") || strings.Contains(a.Text, "Run these workflows") {
		t.Errorf("got %s, want what came of them", a.Text)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "both", Notes: "together"})
	if at(t, a, err, "step end"); strings.Contains(string(a.Data), `"runs"`) {
		t.Errorf("got %s, want no runs beside another step", a.Data)
	}

	// With the parent its runs are given up; a workflow that is not there leaves the step to the agent.
	a, err = e.Start(t.Context(), who, "parent", "", json.RawMessage(`{"what":"it"}`))
	run = at(t, a, err, "runs both").Run
	first = children()
	a, err = e.Manage(t.Context(), who, runs.Order{Run: run, Action: "abandon"})
	at(t, a, err, "abandoned")
	a, err = e.Next(t.Context(), who, runs.Step{Run: first[1].Run})
	at(t, a, err, "abandoned")

	// So are those of a branch that was left, and the fork of a run leaves alone what the run has begun.
	a, err = e.Start(t.Context(), who, "parent", "", json.RawMessage(`{"what":"it"}`))
	run = at(t, a, err, "runs both").Run
	first = children()
	a, err = e.Manage(t.Context(), who, runs.Order{Run: run, Action: "rewind", To: 1})
	at(t, a, err, "runs both")
	second := children()
	a, err = e.Manage(t.Context(), who, runs.Order{Run: run, Action: "abandon"})
	at(t, a, err, "abandoned")
	for _, child := range append(first, second...) {
		a, err = e.Next(t.Context(), who, runs.Step{Run: child.Run})
		at(t, a, err, "abandoned")
	}
	a, err = e.Manage(t.Context(), who, runs.Order{Run: run, Action: "rewind", To: 4})
	at(t, a, err, "step both")
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "both", Notes: "n"})
	at(t, a, err, "step end")
	a, err = e.Manage(t.Context(), who, runs.Order{Run: run, Action: "fork"})
	forked := at(t, a, err, "step end").Run
	a, err = e.Manage(t.Context(), who, runs.Order{Run: second[0].Run, Action: "rewind", To: 1})
	at(t, a, err, "step work")
	a, err = e.Manage(t.Context(), who, runs.Order{Run: forked, Action: "abandon"})
	at(t, a, err, "abandoned")
	a, err = e.Next(t.Context(), who, runs.Step{Run: second[0].Run})
	at(t, a, err, "step work")

	a, err = e.Start(t.Context(), who, "parent", "", json.RawMessage(`{"what":"nothing"}`))
	if at(t, a, err, "step both"); !strings.Contains(a.Text, "Run these workflows") {
		t.Errorf("got %s, want the agent to see to it", a.Text)
	}
}

// A run whose children are not there, nor their workflows, names them, and can go back to do the step without.
func TestChildrenGone(t *testing.T) {
	who := runs.Caller{Principal: "alice"}
	here, there := runs.NewMemory(), runs.NewMemory()
	a, err := runs.NewEngine(runs.Options{Find: finder(t, parent, part), Memory: here}).Start(t.Context(), who, "parent", "", json.RawMessage(`{"what":"it"}`))
	d := at(t, a, err, "runs both")
	r, events, err := here.Run(t.Context(), "alice", d.Run, 0)
	if err != nil {
		t.Fatal(err)
	}
	definition, err := here.Definition(t.Context(), r.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := there.StartRun(t.Context(), "alice", r, definition, events...); err != nil {
		t.Fatal(err)
	}
	e := runs.NewEngine(runs.Options{Find: finder(t), Memory: there})
	a, err = e.Resume(t.Context(), who, "", d.Run)
	at(t, a, err, "failed both")
	if want := "the run " + d.Runs[0].Run + " of this step is not there, and no other can begin in its place: the workflow part: there is no such workflow"; !strings.Contains(a.Text, want) {
		t.Errorf("got %s, want in it %s", a.Text, want)
	}
	a, err = e.Manage(t.Context(), who, runs.Order{Run: d.Run, Action: "rewind", To: 1})
	at(t, a, err, "step both")
}

// The step that joins runs owes what the contract of its synthesis says, which it is told and held to.
func TestContractOfSynthesis(t *testing.T) {
	text := strings.Replace(parent, `"synthesis":{`, `"synthesis":{"outputContract":{"contractRef":"wr.contracts.review_verdict"},`, 1)
	who := runs.Caller{Principal: "alice"}
	e := runs.NewEngine(runs.Options{Find: finder(t, text, part)})
	a, err := e.Start(t.Context(), who, "parent", "", nil)
	d := at(t, a, err, "runs both")
	for _, child := range d.Runs {
		a, err = e.Next(t.Context(), who, runs.Step{Run: child.Run, ID: "work", Notes: "done"})
		at(t, a, err, "finished")
	}
	want := `"artifacts":[{"kind":"wr.review_verdict"}]`
	a, err = e.Next(t.Context(), who, runs.Step{Run: d.Run})
	if at(t, a, err, "step both"); !strings.Contains(a.Text, want) {
		t.Errorf("got %s, want to be told %s", a.Text, want)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: d.Run, ID: "both", Notes: "joined"})
	if at(t, a, err, "blocked both"); !strings.Contains(a.Text, want) {
		t.Errorf("got %s, want to be told %s", a.Text, want)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: d.Run, ID: "both", Artifacts: []json.RawMessage{[]byte(`{"kind":"wr.review_verdict"}`)}})
	at(t, a, err, "step end")
	text = strings.Replace(text, `"contractRef"`, `"required":false,"contractRef"`, 1)
	e = runs.NewEngine(runs.Options{Find: finder(t, text)}) // without the workflows the step is all the agent's
	a, err = e.Start(t.Context(), who, "parent", "", nil)
	run := at(t, a, err, "step both").Run
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "both", Notes: "joined"})
	at(t, a, err, "step end")
}

// A run in which nothing happens expires as configured: that is said before, nothing of it is lost, and it can be taken
// up again.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := runs.NewEngine(runs.Options{Find: finder(t, part), Expire: func() time.Duration { return 48 * time.Hour }})
		who := runs.Caller{Principal: "alice"}
		a, err := e.Start(t.Context(), who, "part", "the shop", nil)
		run := at(t, a, err, "step work").Run
		until := time.Now().Add(48 * time.Hour).UTC()
		if !strings.Contains(string(a.Data), `"expires":"`+until.Format("2006-01-02T15:04")) {
			t.Errorf("got %s, want to be told until when", a.Data)
		}
		time.Sleep(47 * time.Hour)
		a, err = e.Resume(t.Context(), who, "shop", "")
		if at(t, a, err, "step work"); !strings.Contains(a.Text, "It expires at "+until.Format("2006-01-02 15:04 UTC")) {
			t.Errorf("got %s, want to be told until when", a.Text)
		}
		time.Sleep(2 * time.Hour)
		a, err = e.Resume(t.Context(), who, "shop", "")
		if err != nil || !strings.Contains(a.Text, "No open run fits") || !strings.Contains(a.Text, run+": part, expired") {
			t.Errorf("got %s and %v, want the run among those that have ended", a.Text, err)
		}
		a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "work", Notes: "late"})
		if at(t, a, err, "expired"); !strings.Contains(a.Text, "nothing had happened in it since") || !strings.Contains(a.Text, "the last one is 1") {
			t.Errorf("got %s, want to be told why", a.Text)
		}
		a, err = e.Manage(t.Context(), who, runs.Order{Run: run, Action: "rewind", To: 1})
		at(t, a, err, "step work")
		a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "work", Notes: "late"})
		at(t, a, err, "finished")
		time.Sleep(1000 * time.Hour)
		a, err = e.Next(t.Context(), who, runs.Step{Run: run})
		at(t, a, err, "finished")
	})
}

// A run that says of itself that it was changed in the far future is open for good: JSON has no time for its end.
func TestExpiryFarAhead(t *testing.T) {
	open := in(filepath.Join(t.TempDir(), "runs.db"))
	log, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer log.(*store.Store).Close()
	e := runs.NewEngine(runs.Options{Find: finder(t, part), Log: func(context.Context) (runs.Log, error) { return log, nil },
		Expire: func() time.Duration { return 3660 * 24 * time.Hour }})
	who := runs.Caller{Principal: "alice"}
	record, err := json.Marshal(map[string]any{"user_id": "alice", "run": "run-far", "workflow": "part", "created_at": time.Now(), "updated_at": "9999-12-31T00:00:00Z",
		"head": map[string]string{"status": "open"}, "definition": json.RawMessage(part), "events": []any{map[string]any{"kind": "started", "workflow": "part"}}})
	if err != nil {
		t.Fatal(err)
	}
	if kept, _, err := runs.Import(t.Context(), log, bytes.NewReader(record), ""); kept != 1 || err != nil {
		t.Fatalf("got %d and %v, want the run kept", kept, err)
	}
	for _, run := range []string{"run-far", ""} {
		a, err := e.Resume(t.Context(), who, "", run)
		if err != nil || !strings.Contains(a.Text, "run-far") || strings.Contains(string(a.Data), "expires") {
			t.Errorf("got %s %s and %v, want the run, which does not expire", a.Text, a.Data, err)
		}
	}
}

// The step that joins runs has what each has brought, notes and output or else variables, and says where the rest is.
func TestResultsOfRuns(t *testing.T) {
	const text = `{"id":"joins","name":"n","description":"d","version":"1.0.0","steps":[{"id":"both","type":"parallel","title":"Both","parallelDelegations":[{"workflowId":"part"},{"workflowId":"part","goal":"g"},{"workflowId":"looks"}],"synthesis":{"prompt":"Put {{what}} together."}}]}`
	const looks = `{"id":"looks","name":"n","description":"d","version":"1.0.0","steps":[{"id":"look","type":"tool","title":"t","tool":"box/server/look","result":"seen"}]}`
	d := &desk{results: []string{`{"content":[],"structuredContent":{"count":12345678901234567890}}`}}
	e := runs.NewEngine(runs.Options{Find: finder(t, text, part, looks), Tools: d})
	who := runs.Caller{Principal: "alice"}
	a, err := e.Start(t.Context(), who, "joins", "", json.RawMessage(`{"what":"all {{of}} it"}`))
	joins := at(t, a, err, "runs both")
	report := "# Report\n\n" + strings.Repeat("é", 2000) + " {{what}}"
	for i, output := range []string{report, strings.Repeat("long ", 2000)} {
		a, err = e.Next(t.Context(), who, runs.Step{Run: joins.Runs[i].Run, ID: "work", Notes: "as was asked", Output: output})
		at(t, a, err, "finished")
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: joins.Runs[2].Run})
	at(t, a, err, "finished")
	a, err = e.Next(t.Context(), who, runs.Step{Run: joins.Run})
	at(t, a, err, "step both")
	for _, want := range []string{"as was asked\n" + report, "… (all of it is in the resource workbench://runs/" + joins.Runs[1].Run + ")", `{"seen":{"count":12345678901234567890}}`, "Put all {{of}} it together."} {
		if !strings.Contains(a.Text, want) {
			t.Errorf("got %s, want %s in it", a.Text, want)
		}
	}
	if len(a.Text) > 32<<10 {
		t.Errorf("got %d bytes, want a bounded text", len(a.Text))
	}
}

// A run does not expire while one of its steps waits for as long as the file says, and is listed so.
func TestExpiryWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.Replace(hooked, `"timeoutSeconds":3600`, `"timeoutSeconds":864000`, 1) // ten days
		e := runs.NewEngine(runs.Options{Find: finder(t, text), Expire: func() time.Duration { return 48 * time.Hour }, Gateway: "https://hooks.example"})
		who := runs.Caller{Principal: "alice"}
		began := time.Now()
		expires := func(want time.Duration) {
			t.Helper()
			list, err := e.List(t.Context(), "alice", 1)
			if err != nil || list[0].Head.Status.Over() || list[0].Expires == nil || list[0].Expires.Sub(began).Round(time.Hour) != want {
				t.Errorf("got %+v and %v, want it to expire after %v", list, err, want)
			}
		}
		a, err := e.Start(t.Context(), who, "hooked", "", nil)
		run := at(t, a, err, "waiting build").Run
		expires(12 * 24 * time.Hour)
		time.Sleep(9 * 24 * time.Hour)
		if taken, err := e.Hook(t.Context(), hookOf(t, a.Text), []byte(`{"state":"green"}`)); !taken || err != nil {
			t.Fatalf("got %v and %v, want the request taken", taken, err)
		}
		expires(11 * 24 * time.Hour)
		time.Sleep(49 * time.Hour)
		a, err = e.Next(t.Context(), who, runs.Step{Run: run})
		at(t, a, err, "expired")
	})
}

// A run of a workflow that calls routines goes by both files as they were.
func TestPinnedRoutine(t *testing.T) {
	const routine = `{"id":"routine-look","name":"Look","description":"d","version":"1.0.0","steps":[{"id":"see","title":"See","prompt":"See the {thing}."},{"id":"note","title":"Note","prompt":"Note it."}]}`
	const caller = `{"id":"caller","name":"Caller","description":"d","version":"1.0.0","steps":[{"id":"aaa","title":"A","templateCall":{"templateId":"wr.templates.routine.look","args":{"thing":"roof"}}},{"id":"bbb","title":"B","prompt":"p"}]}`
	read := func(routine, caller string) *definition.Workflow {
		t.Helper()
		all := definition.Routines{}
		r, err := definition.Parse("r.json", []byte(routine))
		if err != nil {
			t.Fatal(err)
		}
		all.Add(r, "r.json")
		w, err := definition.ParseWith("c.json", []byte(caller), all)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := read(routine, caller)
	e := runs.NewEngine(runs.Options{Find: func(string) (*definition.Entry, error) { return &definition.Entry{Workflow: w}, nil }})
	who := runs.Caller{Principal: "alice"}
	a, err := e.Start(t.Context(), who, "caller", "", nil)
	run := at(t, a, err, "step aaa.see").Run
	w = read(strings.Replace(routine, "Note it.", "Forget it.", 1), caller) // the routine alone is another
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "aaa.see", Notes: "seen"})
	if d := at(t, a, err, "step aaa.note"); !strings.Contains(a.Text, "Note it.") || len(d.Warnings) != 1 {
		t.Errorf("got %s, want the step as it was, and a warning", a.Text)
	}
	a, err = e.Manage(t.Context(), who, runs.Order{Run: run, Action: "rebase"})
	if at(t, a, err, "step aaa.note"); !strings.Contains(a.Text, "Forget it.") {
		t.Errorf("got %s, want the step as it is", a.Text)
	}
}

// A decision about a loop is not one about the loop behind it, and may call the loop by the name that its file gives
// it.
func TestDecisionIsOfOneLoop(t *testing.T) {
	loop := func(id, name string) string {
		return fmt.Sprintf(`{"id":%q,"type":"loop","title":"L","loop":{"type":"while","maxIterations":3,"conditionSource":{"kind":"artifact_contract","contractRef":"wr.contracts.loop_control","loopId":%q}},`+
			`"body":[{"id":"%s-decide","title":"D","prompt":"p","outputContract":{"contractRef":"wr.contracts.loop_control"}}]}`, id, name, id)
	}
	text := `{"id":"loops","name":"n","description":"d","version":"1.0.0","steps":[` + loop("first", "early_loop") + `,` + loop("second", "late_loop") + `]}`
	e := runs.NewEngine(runs.Options{Find: finder(t, text)})
	who := runs.Caller{Principal: "alice", Client: "c"}
	a, err := e.Start(t.Context(), who, "loops", "", nil)
	run := at(t, a, err, "step first-decide").Run
	for _, c := range [][2]string{
		{`"loopId":"no_loop","decision":"stop"`, "blocked first-decide"},
		{`"loopId":"early_loop","decision":"continue"`, "step first-decide"},
		{`"loopId":"early_loop","decision":"stop"`, "step second-decide"},
		{`"decision":"continue"`, "step second-decide"},
		{`"loopId":"second","decision":"stop"`, "finished"},
	} {
		a, err := e.Next(t.Context(), who, runs.Step{Run: run, Notes: c[0], Artifacts: []json.RawMessage{json.RawMessage(`{"kind":"wr.loop_control",` + c[0] + `}`)}})
		at(t, a, err, c[1])
	}
}

// A decision from elsewhere, by either name of the loop, ends the loop after its first pass, in whichever pass of another
// loop it was made.
func TestDecisionFromElsewhere(t *testing.T) {
	loop := func(id string) string {
		return fmt.Sprintf(`{"id":"%s-loop","type":"loop","title":"L","loop":{"type":"while","maxIterations":4,"conditionSource":{"kind":"artifact_contract","contractRef":"wr.contracts.loop_control","loopId":"name_%[1]s"}},`+
			`"body":[{"id":"do-%[1]s","title":"D","prompt":"p"}]}`, id)
	}
	text := `{"id":"loops","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"One","prompt":"p"},` + loop("aa") + `,` + loop("bb") + `,{"id":"end","title":"End","prompt":"p"}]}`
	who := runs.Caller{Principal: "alice"}
	for _, c := range []struct{ at, loop string }{{"one", "name_bb"}, {"one", "bb-loop"}, {"do-aa#2", "name_bb"}, {"do-aa#2", "bb-loop"}} {
		e := runs.NewEngine(runs.Options{Find: finder(t, text)})
		a, err := e.Start(t.Context(), who, "loops", "", nil)
		run := at(t, a, err, "step one").Run
		for _, step := range []string{"one", "do-aa#1", "do-aa#2", "do-aa#3", "do-aa#4", "do-bb#1"} {
			s := runs.Step{Run: run, ID: step, Notes: "n " + step}
			if step == c.at {
				s.Artifacts = []json.RawMessage{json.RawMessage(`{"kind":"wr.loop_control","loopId":"` + c.loop + `","decision":"stop"}`)}
			}
			if a, err = e.Next(t.Context(), who, s); err != nil {
				t.Fatal(err)
			}
		}
		at(t, a, err, "step end")
		a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "end", Artifacts: []json.RawMessage{json.RawMessage(`{"kind":"wr.loop_control"}`)}})
		if at(t, a, err, "blocked end"); strings.Contains(a.Text, "loopId") {
			t.Errorf("got %s, want no loop without a name", a.Text)
		}
	}
	// One that names no loop and was made outside of all is about none.
	e := runs.NewEngine(runs.Options{Find: finder(t, strings.ReplaceAll(text, `,"loopId":"name_aa"`, ""))})
	a, err := e.Start(t.Context(), who, "loops", "", nil)
	run := at(t, a, err, "step one").Run
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "one", Artifacts: []json.RawMessage{json.RawMessage(`{"kind":"wr.loop_control","decision":"stop"}`)}})
	at(t, a, err, "step do-aa")
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "do-aa#1", Notes: "n"})
	if d := at(t, a, err, "step do-aa"); d.Loop.Iteration != 2 {
		t.Errorf("got pass %d, want the second", d.Loop.Iteration)
	}
}

// A workflow that delegates to itself begins no runs without end: the last ones leave the step to the agent.
func TestDelegationEnds(t *testing.T) {
	const text = `{"id":"again","name":"Again","description":"d","version":"1.0.0","steps":[` +
		`{"id":"more","type":"parallel","title":"More","parallelDelegations":[{"workflowId":"again"}],"synthesis":{"prompt":"p"}}]}`
	e := runs.NewEngine(runs.Options{Find: finder(t, text)})
	who := runs.Caller{Principal: "alice", Client: "c"}
	a, err := e.Start(t.Context(), who, "again", "", nil)
	for depth := 0; ; depth++ {
		if err != nil || depth > 20 {
			t.Fatalf("got %s, %v after %d runs, want an end", a.Text, err, depth)
		}
		d, err := read(a)
		if err != nil {
			t.Fatal(err)
		}
		if d.State == "step" {
			if depth != 8 || !strings.Contains(a.Text, "begins no more runs") {
				t.Errorf("got %s after %d runs, want to be told that there are no more", a.Text, depth)
			}
			break
		}
		a, err = e.Next(t.Context(), who, runs.Step{Run: d.Runs[0].Run})
		if err != nil {
			t.Fatal(err)
		}
	}
}
