package runs_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// plain has three steps, and one more in its second version.
const (
	plain = `{"id":"plain","name":"Plain","description":"d","version":"1.0.0","steps":[{"id":"one","title":"One","prompt":"p"},` +
		`{"id":"call","type":"tool","title":"Call","tool":"box/server/tool"},{"id":"two","title":"Two","prompt":"p"},{"id":"end","title":"End","prompt":"p"}]}`
	plainer = `{"id":"plain","name":"Plain","description":"d","version":"1.1.0","steps":[{"id":"one","title":"One","prompt":"p"},` +
		`{"id":"call","type":"tool","title":"Call","tool":"box/server/tool"},{"id":"fresh","title":"Fresh","prompt":"p"},{"id":"end","title":"End","prompt":"p"}]}`
)

// A run goes back to a checkpoint with all that followed kept, is forked, given up, and takes another definition.
func TestManage(t *testing.T) {
	find := finder(t, plain)
	const good = `{"content":[],"structuredContent":{}}`
	d := &desk{results: []string{good, good}}
	e := runs.NewEngine(runs.Options{Find: func(id string) (*definition.Entry, error) { return find(id) }, Tools: d})
	who := runs.Caller{Principal: "alice", Client: "c"}
	order := func(o runs.Order) (runs.Answer, error) { return e.Manage(t.Context(), who, o) }
	next := func(run, step string) (runs.Answer, error) {
		return e.Next(t.Context(), who, runs.Step{Run: run, ID: step, Notes: "done " + step})
	}
	a, err := e.Start(t.Context(), who, "plain", "", nil)
	run := at(t, a, err, "step one").Run
	a, err = order(runs.Order{Run: run, Action: "checkpoint", Name: "before"})
	at(t, a, err, "checkpoint one")
	a, err = next(run, "one")
	at(t, a, err, "step two")
	a, err = next(run, "two")
	at(t, a, err, "step end")

	a, err = order(runs.Order{Run: run, Action: "fork", To: 6})
	forked := at(t, a, err, "step two")
	if forked.Run == run || forked.Done != 2 {
		t.Errorf("got %+v, want another run that has done two steps", forked)
	}
	a, err = order(runs.Order{Run: forked.Run, Action: "abandon", Reason: "only a try"})
	if at(t, a, err, "abandoned"); !strings.Contains(a.Text, "only a try") {
		t.Errorf("got %s, want the reason", a.Text)
	}
	a, err = next(forked.Run, "two")
	at(t, a, err, "abandoned")

	long := " before " + strings.Repeat("all of it ", 20)
	a, err = order(runs.Order{Run: forked.Run, Action: "rewind", To: 6})
	at(t, a, err, "step two")
	a, err = order(runs.Order{Run: forked.Run, Action: "checkpoint", Name: long})
	at(t, a, err, "checkpoint two")
	a, err = order(runs.Order{Run: forked.Run, Action: "rewind", Name: long})
	at(t, a, err, "step two")
	if _, err := order(runs.Order{Run: run, Action: "rewind"}); err == nil || strings.Contains(err.Error(), "not 0") {
		t.Errorf("got %v, want that nothing says where to", err)
	}

	a, err = order(runs.Order{Run: run, Action: "rewind", Name: "before"})
	if d := at(t, a, err, "step one"); d.Done != 0 {
		t.Errorf("got %d steps done, want none", d.Done)
	}
	a, err = next(run, "one")
	at(t, a, err, "person call") // It was called in the branch that was left.
	if len(d.calls) != 1 {
		t.Errorf("got %q, want one call", d.calls)
	}
	a, err = order(runs.Order{Run: run, Action: "rewind", To: 6}) // back into that branch
	if d := at(t, a, err, "step two"); d.Done != 2 {
		t.Errorf("got %d steps done, want two", d.Done)
	}

	for _, o := range []runs.Order{{Run: run, Action: "rewind", To: 99}, {Run: run, Action: "rewind", Name: "nowhere"}, {Run: run, Action: "rewnd"},
		{Run: run, Action: "rebase"}, {Run: "run-nothere000", Action: "abandon"}} {
		var told *runs.Error
		if _, err := order(o); !errors.As(err, &told) || told.Next == "" {
			t.Errorf("%+v: got %v, want an error with advice", o, err)
		}
	}
	find = finder(t, plainer)
	a, err = e.Next(t.Context(), who, runs.Step{Run: run})
	if d := at(t, a, err, "step two"); len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "rebase") {
		t.Errorf("got %q, want to be told that the file has changed", d.Warnings)
	}
	a, err = order(runs.Order{Run: run, Action: "rebase"})
	at(t, a, err, "step fresh")
	a, err = next(run, "fresh")
	at(t, a, err, "step end")
	a, err = next(run, "end")
	if d := at(t, a, err, "finished"); !d.IsComplete || d.Done != 4 {
		t.Errorf("got %+v, want the end after four steps", d)
	}
}

// That a person agreed is good for one run, and once; a tool that was called is called again in a fork only if a person
// agrees.
func TestAgreedOnce(t *testing.T) {
	const text = `{"id":"once","name":"Once","description":"d","version":"1.0.0","steps":[{"id":"one","title":"One","prompt":"p"},` +
		`{"id":"publish","title":"Publish","prompt":"p","requireConfirmation":true},{"id":"call","type":"tool","title":"Call","tool":"box/server/tool"},{"id":"end","title":"End","prompt":"p"}]}`
	const good = `{"content":[],"structuredContent":{}}`
	d := &desk{results: []string{good, good}}
	e := runs.NewEngine(runs.Options{Find: finder(t, text), Tools: d})
	who := runs.Caller{Principal: "alice", Client: "c"}
	next := func(run, step string) (runs.Answer, error) {
		s := runs.Step{Run: run, ID: step}
		if step != "" {
			s.Notes = "done"
		}
		return e.Next(t.Context(), who, s)
	}
	agree := func(run string) {
		t.Helper()
		if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: "yes", How: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	a, err := e.Start(t.Context(), who, "once", "", nil)
	run := at(t, a, err, "step one").Run
	a, err = next(run, "one")
	at(t, a, err, "person publish")
	agree(run)
	a, err = e.Manage(t.Context(), who, runs.Order{Run: run, Action: "fork"})
	forked := at(t, a, err, "person publish").Run
	a, err = next(run, "")
	agreed := at(t, a, err, "step publish").Event
	a, err = next(run, "publish")
	published := at(t, a, err, "step end").Event
	a, err = e.Manage(t.Context(), who, runs.Order{Run: run, Action: "rewind", To: agreed})
	at(t, a, err, "person publish")
	agree(run)
	a, err = next(run, "")
	at(t, a, err, "step publish")
	a, err = e.Manage(t.Context(), who, runs.Order{Run: run, Action: "fork", To: published - 3}) // before the call
	second := at(t, a, err, "person call").Run
	if len(d.calls) != 1 {
		t.Errorf("got %q, want one call", d.calls)
	}
	agree(second)
	a, err = next(second, "")
	at(t, a, err, "step end")
	agree(forked)
	a, err = next(forked, "")
	at(t, a, err, "step publish")
}

// What a person has said last counts: no rewind to where the person had agreed before takes a no back.
func TestLastWordCounts(t *testing.T) {
	const text = `{"id":"last","name":"Last","description":"d","version":"1.0.0","steps":[{"id":"one","title":"One","prompt":"p"},{"id":"publish","title":"Publish","prompt":"p","requireConfirmation":true}]}`
	e := runs.NewEngine(runs.Options{Find: finder(t, text)})
	who := runs.Caller{Principal: "alice", Client: "c"}
	a, err := e.Start(t.Context(), who, "last", "", nil)
	began := at(t, a, err, "step one")
	say := func(answer string) {
		t.Helper()
		a, err := e.Next(t.Context(), who, runs.Step{Run: began.Run, ID: "one", Notes: "n"})
		at(t, a, err, "person publish")
		if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: began.Run, Answer: answer, How: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	say("yes")
	a, err = e.Next(t.Context(), who, runs.Step{Run: began.Run})
	agreed := at(t, a, err, "step publish").Event
	a, err = e.Manage(t.Context(), who, runs.Order{Run: began.Run, Action: "rewind", To: began.Event})
	at(t, a, err, "step one")
	say("no")
	a, err = e.Manage(t.Context(), who, runs.Order{Run: began.Run, Action: "rewind", To: agreed})
	at(t, a, err, "person publish")
}

// A code is good for once: neither a rewind to where it was made nor one that forgets the wrong tries makes it so again,
// and what is kept of it, which agents can read, does not tell it to who tries all that there are.
func TestCodeOnce(t *testing.T) {
	const text = `{"id":"once","name":"Once","description":"d","version":"1.0.0","steps":[{"id":"publish","title":"Publish","prompt":"p","requireConfirmation":true},{"id":"end","title":"End","prompt":"p"}]}`
	e := runs.NewEngine(runs.Options{Find: finder(t, text)})
	who := runs.Caller{Principal: "alice", Client: "c"}
	a, err := e.Start(t.Context(), who, "once", "", nil)
	run := at(t, a, err, "person publish").Run
	code, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: "yes", How: "test", Code: true})
	if err != nil {
		t.Fatal(err)
	}
	if letters := strings.ReplaceAll(code, "-", ""); len(letters) < 16 {
		t.Errorf("got %q, want a code of at least 80 bits", code)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run})
	coded := at(t, a, err, "person publish").Event
	if a, err := e.Next(t.Context(), who, runs.Step{Run: run, Code: "aaaa-bbbb-cccc-dddd"}); err == nil {
		t.Errorf("got %s, want a wrong code refused", a.Text)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, Code: " " + strings.ToUpper(strings.ReplaceAll(code, "-", " "))})
	at(t, a, err, "step publish")
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "publish", Notes: "n"})
	at(t, a, err, "step end")
	a, err = e.Manage(t.Context(), who, runs.Order{Run: run, Action: "rewind", To: coded})
	at(t, a, err, "person publish")
	if a, err := e.Next(t.Context(), who, runs.Step{Run: run, Code: code}); err == nil {
		t.Errorf("got %s, want the code refused that was used", a.Text)
	}
}

// A code does not last for as long as the clock was put back.
func TestCodeAndClock(t *testing.T) {
	const text = `{"id":"once","name":"Once","description":"d","version":"1.0.0","steps":[{"id":"publish","title":"Publish","prompt":"p","requireConfirmation":true},{"id":"end","title":"End","prompt":"p"}]}`
	log, who := runs.NewMemory(), runs.Caller{Principal: "alice", Client: "c"}
	engine := func() *runs.Engine {
		return runs.NewEngine(runs.Options{Find: finder(t, text), Log: func(context.Context) (runs.Log, error) { return log, nil }})
	}
	a, err := engine().Start(t.Context(), who, "once", "", nil)
	run := at(t, a, err, "person publish").Run
	code, err := engine().Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: "yes", How: "test", Code: true})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // at the beginning of the year 2000
		if a, err := engine().Next(t.Context(), who, runs.Step{Run: run, Code: code}); err == nil || !strings.Contains(err.Error(), "has expired") {
			t.Errorf("got %s and %v, want the code refused", a.Text, err)
		}
	})
	a, err = engine().Next(t.Context(), who, runs.Step{Run: run, Code: code})
	at(t, a, err, "step publish")
}

// Runs are found by words of every script, however their characters are composed.
func TestFoundByWords(t *testing.T) {
	e := runs.NewEngine(runs.Options{Find: finder(t, plain)})
	who := runs.Caller{Principal: "alice"}
	for goal, query := range map[string]string{
		"Fix the Café page": "cafe\u0301", "修复商店的登录页面": "继续登录", "ログイン画面を直す": "画面", "किताब की दुकान": "दुकान", "แก้ไขหน้าเข้าสู่ระบบ": "ระบบ", "Ｆｉｘ　ＡＰＩ": "api",
	} {
		a, err := e.Start(t.Context(), who, "plain", goal, nil)
		run := at(t, a, err, "step one").Run
		if a, err = e.Resume(t.Context(), who, query, ""); err != nil || !strings.Contains(a.Text, run) {
			t.Errorf("%s: got %s and %v, want the run for %q", query, a.Text, err, goal)
		}
	}
}

// A run that is damaged is shown as such, costs no other its place in lists and exports, and can be deleted.
func TestDamagedRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	log, err := openPlace(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	e := runs.NewEngine(runs.Options{Find: finder(t, plain), Log: func(context.Context) (runs.Log, error) { return log, nil }})
	who := runs.Caller{Principal: "alice"}
	a, err := e.Start(t.Context(), who, "plain", "whole", nil)
	whole := at(t, a, err, "step one").Run
	a, err = e.Start(t.Context(), who, "plain", "damaged", nil)
	damaged := at(t, a, err, "step one").Run
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE runs SET head = '{}' WHERE id = $1`, damaged); err != nil {
		t.Fatal(err)
	}
	list, err := e.List(t.Context(), "alice", 10)
	if err != nil || len(list) != 2 || list[0].ID != whole || list[1].ID != damaged || list[1].Head.Status != runs.StatusDamaged {
		t.Errorf("got %+v and %v, want both, one as damaged", list, err)
	}
	a, err = e.Resume(t.Context(), who, "", "")
	at(t, a, err, "step one")
	var corrupt *store.CorruptError
	if _, err := e.Next(t.Context(), who, runs.Step{Run: damaged}); !errors.As(err, &corrupt) {
		t.Errorf("got %v, want to be told of the damage", err)
	}
	var out bytes.Buffer
	kept, err := log.Runs(t.Context(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := runs.Export(t.Context(), log, &out, kept); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), damaged) || !strings.Contains(out.String(), whole) {
		t.Errorf("got %s and %v, want the one, and the other named", &out, err)
	}
	if err := log.DeleteRun(t.Context(), "alice", damaged); err != nil {
		t.Error(err)
	}
}

// What a rule demands is shown in a form that passes it, or not at all.
func TestSamples(t *testing.T) {
	for _, criteria := range []string{
		`[{"type":"contains","value":"Plan:"},{"type":"length","min":60}]`,
		`[{"type":"regex","pattern":"^- \\w+: (yes|no)$","flags":"m"}]`,
		`[{"type":"regex","pattern":"(?i)\\b(pass(ed)?|ok)\\b"}]`,
		`{"or":[{"type":"contains","value":"a"},{"type":"contains","value":"b"}]}`,
		`[{"type":"schema","schema":{"type":"object","required":["n","list"],"properties":{"n":{"type":"integer","minimum":2},"list":{"type":"array","minItems":1,"items":{"enum":["x"]}}}}}]`,
		`[{"type":"contains","value":"checklist"},{"type":"length","min":150},{"type":"regex","pattern":"(?!.*TODO)"}]`,
		`[{"type":"regex","pattern":"^(?=never)x$"}]`,
	} {
		text := fmt.Sprintf(`{"id":"rules","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"t","prompt":"p","validationCriteria":%s},{"id":"two","title":"t","prompt":"p"}]}`,
			strings.ReplaceAll(strings.ReplaceAll(criteria, `"type":"contains",`, `"type":"contains","message":"m",`), `"type":"regex",`, `"type":"regex","message":"m",`))
		text = strings.ReplaceAll(strings.ReplaceAll(text, `{"type":"length",`, `{"type":"length","message":"m",`), `{"type":"schema",`, `{"type":"schema","message":"m",`)
		e := runs.NewEngine(runs.Options{Find: finder(t, text)})
		who := runs.Caller{Principal: "alice", Client: "c"}
		a, err := e.Start(t.Context(), who, "rules", "", nil)
		run := at(t, a, err, "step one").Run
		a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "one", Output: "?"})
		at(t, a, err, "blocked one")
		_, form, ok := strings.Cut(a.Text, "This form would pass; fill in what you really found: workflow_next ")
		if strings.Contains(criteria, "never") {
			if ok {
				t.Errorf("%s: got %s, want no form", criteria, form)
			}
			continue
		}
		var s struct{ Output string }
		if err := json.Unmarshal([]byte(form), &s); err != nil {
			t.Errorf("%s: got %s and %v, want a form", criteria, a.Text, err)
		}
		a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "one", Output: s.Output})
		at(t, a, err, "step two")
	}
}

// Of several ratings that a consequence follows from, the answer names the same one each time.
func TestConsequence(t *testing.T) {
	const text = `{"id":"rated","name":"n","description":"d","version":"1.0.0","assessments":[{"id":"risk","purpose":"p","dimensions":[` +
		`{"id":"size","purpose":"p","levels":["low","high"]},{"id":"reach","purpose":"p","levels":["low","high"]}]}],"steps":[` +
		`{"id":"rate","title":"Rate","prompt":"p","assessmentRefs":["risk"],"assessmentConsequences":[{"when":{"anyEqualsLevel":"high"},"effect":{"kind":"require_followup","guidance":"look again"}}]}]}`
	e, who := runs.NewEngine(runs.Options{Find: finder(t, text)}), runs.Caller{Principal: "alice"}
	a, err := e.Start(t.Context(), who, "rated", "", nil)
	run := at(t, a, err, "step rate").Run
	for range 30 {
		a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "rate", Artifacts: []json.RawMessage{[]byte(`{"kind":"wr.assessment","dimensions":{"size":"high","reach":"high"}}`)}})
		if at(t, a, err, "blocked rate"); !strings.Contains(a.Text, `the assessment "risk" has "reach" at "high" (look again)`) {
			t.Fatalf("got %s, want what follows from reach", a.Text)
		}
	}
}

// A run's gates stand although its file is changed: a person has to agree to a definition that asks less, also by a
// code or at a client, and what the person had agreed to before counts for the step as it was.
func TestRebaseAsksLess(t *testing.T) {
	const text = `{"id":"gated","name":"n","description":"d","version":"1.0.0","assessments":[{"id":"risk","purpose":"p","dimensions":[{"id":"all","purpose":"p","levels":["low","high"]}]}],"steps":[` +
		`{"id":"one","title":"One","prompt":"p"},` +
		`{"id":"publish","title":"Publish","prompt":"p","requireConfirmation":true,"validationCriteria":[{"type":"contains","value":"x","message":"say x"}]},` +
		`{"id":"ask-it","type":"ask","title":"Ask","prompt":"Which?","answers":["a","b"]},` +
		`{"id":"call","type":"tool","title":"Call","tool":"box/server/tool","expect":{"var":"r","equals":1},"result":"r"},` +
		`{"id":"rate","title":"Rate","prompt":"p r","assessmentRefs":["risk"],"outputContract":{"contractRef":"wr.contracts.loop_control"}},` +
		`{"id":"all","type":"loop","title":"All","loop":{"type":"for","count":2,"maxIterations":2},"body":[{"id":"each","title":"Each","prompt":"p","requireConfirmation":true}]},` +
		`{"id":"join","type":"parallel","title":"Join","parallelDelegations":[{"workflowId":"gated"}],"synthesis":{"prompt":"p","outputContract":{"contractRef":"wr.contracts.review_verdict"}}},` +
		`{"id":"end","title":"End","prompt":"p"}]}`
	who := runs.Caller{Principal: "alice", Client: "c"}
	begin := func(changed string) (*runs.Engine, string) {
		t.Helper()
		find := finder(t, text)
		e := runs.NewEngine(runs.Options{Find: func(id string) (*definition.Entry, error) { return find(id) }})
		a, err := e.Start(t.Context(), who, "gated", "goal", nil)
		run := at(t, a, err, "step one").Run
		a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "one", Notes: "done"})
		at(t, a, err, "person publish")
		find = finder(t, changed)
		return e, run
	}
	swap := func(pairs ...string) string {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("there is no %s", pairs[i])
			}
		}
		return strings.NewReplacer(pairs...).Replace(text)
	}
	tool := `{"id":"call","type":"tool","title":"Call","tool":"box/server/tool","expect":{"var":"r","equals":1},"result":"r"},`
	gate := `"requireConfirmation":true,"validationCriteria"`
	for name, c := range map[string]struct{ changed, want string }{
		"no confirmation":    {swap(gate, `"validationCriteria"`), `"Publish" has another requireConfirmation`},
		"under a condition":  {swap(gate, `"requireConfirmation":{"var":"sure","equals":false},"validationCriteria"`), `"Publish" has another requireConfirmation`},
		"never":              {swap(gate, `"requireConfirmation":false,"validationCriteria"`), `"Publish" has another requireConfirmation`},
		"step skipped":       {swap(gate, `"runCondition":{"var":"r","equals":7},"requireConfirmation":true,"validationCriteria"`), `"Publish" comes under another condition`},
		"step gone":          {swap(`"id":"publish"`, `"id":"publish2"`), `"Publish" is gone`},
		"criteria gone":      {swap(`"validationCriteria":[{"type":"contains","value":"x","message":"say x"}]`, `"agentRole":"Somebody who writes"`), `another validationCriteria`},
		"criteria weaker":    {swap(`"value":"x"`, `"value":"e"`), `another validationCriteria`},
		"no ask":             {swap(`"type":"ask","title":"Ask","prompt":"Which?","answers":["a","b"]`, `"title":"Ask","prompt":"Which?"`), `"Ask" has another type`},
		"other answers":      {swap(`["a","b"]`, `["a","c"]`), `"Ask" has another answers`},
		"no expectation":     {swap(`"expect":{"var":"r","equals":1},`, ""), `another expect`},
		"tool first":         {swap(tool, "", `{"id":"publish"`, tool+`{"id":"publish"`), `"Call" comes before "Publish"`},
		"another tool first": {swap(`{"id":"publish"`, strings.Replace(tool, `"id":"call","type":"tool","title":"Call"`, `"id":"call2","type":"tool","title":"Call too"`, 1)+`{"id":"publish"`), `"Call too" comes before "Publish"`},
		"no assessment":      {swap(`"assessmentRefs":["risk"],`, ""), `another assessmentRefs`},
		"other assessment":   {swap(`["low","high"]`, `["low","none"]`), `the assessment "risk"`},
		"no contract":        {swap(`,"outputContract":{"contractRef":"wr.contracts.loop_control"}`, ""), `another outputContract`},
		"no joint contract":  {swap(`,"outputContract":{"contractRef":"wr.contracts.review_verdict"}`, ""), `"Join" has another outputContract`},
		"gate in a loop":     {swap(`"prompt":"p","requireConfirmation":true}]}`, `"prompt":"p"}]}`), `"Each" has another requireConfirmation`},
		"shorter loop":       {swap(`"count":2`, `"count":1`), `"All" has another loop`},
		"no notes":           {swap(`"title":"End"`, `"title":"End","notesOptional":true`), `"End" needs no notes`},
	} {
		e, run := begin(c.changed)
		a, err := e.Manage(t.Context(), who, runs.Order{Run: run, Action: "rebase"})
		if got := read1(t, a, err); got.State != "person" || !strings.Contains(strings.ToLower(a.Text), strings.ToLower(c.want)) {
			t.Errorf("%s: got %s, want a person asked because of %q", name, a.Text, c.want)
		}
	}
	for name, changed := range map[string]string{
		"more criteria":      swap(`"message":"say x"}`, `"message":"say x"},{"type":"contains","value":"y","message":"say y"}`),
		"another prompt":     swap(`"title":"End","prompt":"p"`, `"title":"End","prompt":"q"`),
		"another one begins": swap(`{"id":"one","title":"One","prompt":"p"},`, `{"id":"zero","title":"Zero","prompt":"p"},`),
	} {
		e, run := begin(changed)
		a, err := e.Manage(t.Context(), who, runs.Order{Run: run, Action: "rebase"})
		if strings.Contains(a.Text, "asks less") || err != nil {
			t.Errorf("%s: got %s and %v, want no question", name, a.Text, err)
		}
	}

	open := swap(gate, `"validationCriteria"`)
	order := func(e *runs.Engine, o runs.Order) runs.Answer {
		t.Helper()
		a, err := e.Manage(t.Context(), who, o)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	say := func(e *runs.Engine, run, answer string, code bool) string {
		t.Helper()
		given, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: answer, How: "test", Code: code})
		if err != nil {
			t.Fatal(err)
		}
		return given
	}
	// The agent cannot get past it, and the person may say no, yes, or yes by a code.
	e, run := begin(open)
	asked := order(e, runs.Order{Run: run, Action: "rebase"})
	if again := order(e, runs.Order{Run: run, Action: "rebase"}); again.Text != asked.Text {
		t.Errorf("got %s, want the same question: %s", again.Text, asked.Text)
	}
	a, err := e.Next(t.Context(), who, runs.Step{Run: run, ID: "publish", Output: "x"})
	at(t, a, err, "person publish")
	say(e, run, "no", false)
	a, err = e.Next(t.Context(), who, runs.Step{Run: run})
	if at(t, a, err, "person publish"); strings.Contains(a.Text, "asks less") {
		t.Errorf("got %s, want the step's own question", a.Text)
	}
	order(e, runs.Order{Run: run, Action: "rebase"})
	code := say(e, run, "yes", true)
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, Code: code})
	at(t, a, err, "step publish")
	r, err := e.Read(t.Context(), "alice", run)
	if err != nil {
		t.Fatal(err)
	}
	kinds := ""
	for _, ev := range r.Events {
		if ev.Step == "changed definition" || ev.Kind == runs.Rebased {
			kinds += fmt.Sprintf("%s by %s; ", ev.Kind, ev.By)
		}
	}
	if want := "asked by workbench; refused by agent:c; answered by person:test; asked by workbench; coded by person:test; answered by person:code; rebased by person:code; "; kinds != want {
		t.Errorf("got %q, want %q", kinds, want)
	}
	// A question about a file that is not there any more is withdrawn: it was put back, or has changed again.
	for _, again := range []string{text, swap(`"title":"Publish","prompt":"p"`, `"title":"Publish","prompt":"q"`)} {
		for _, rebase := range []bool{false, true} {
			find := finder(t, text)
			e := runs.NewEngine(runs.Options{Find: func(id string) (*definition.Entry, error) { return find(id) }})
			a, err := e.Start(t.Context(), who, "gated", "goal", nil)
			run := at(t, a, err, "step one").Run
			find = finder(t, open)
			at(t, order(e, runs.Order{Run: run, Action: "rebase"}), nil, "person one")
			find = finder(t, again)
			if rebase {
				at(t, order(e, runs.Order{Run: run, Action: "rebase"}), nil, "step one")
			}
			a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "one", Notes: "done"})
			if at(t, a, err, "person publish"); strings.Contains(a.Text, "asks less") {
				t.Errorf("got %s, want the step's own question", a.Text)
			}
			if q, _, err := e.Pending(t.Context(), "alice", run); err != nil || strings.Contains(q.Message, "asks less") {
				t.Errorf("got %q and %v, want the step's own question", q.Message, err)
			}
		}
	}
	// Who goes back before the question has withdrawn it.
	e, run = begin(open)
	asked = order(e, runs.Order{Run: run, Action: "rebase"})
	a = order(e, runs.Order{Run: run, Action: "rewind", To: read1(t, asked, nil).Event - 1})
	at(t, a, nil, "person publish")
	// At a client, and for a file that has changed again since: what the person has seen counts.
	e, run = begin(open)
	client := who
	client.Ask = func(_ context.Context, q runs.Question) (runs.Reply, error) {
		return runs.Reply{State: q.State, Action: "accept", Form: []byte(`{"agree":` + fmt.Sprint(strings.Contains(q.Message, "asks less")) + `}`)}, nil
	}
	a, err = e.Manage(t.Context(), client, runs.Order{Run: run, Action: "rebase"})
	at(t, a, err, "step publish")

	// An agreement is to the step as it was, also where the run goes back behind the rebase.
	e, run = begin(swap(`"title":"Publish","prompt":"p"`, `"title":"Publish","prompt":"Delete all"`))
	say(e, run, "yes", false)
	a, err = e.Next(t.Context(), who, runs.Step{Run: run})
	agreed := at(t, a, err, "step publish").Event
	at(t, order(e, runs.Order{Run: run, Action: "rebase"}), nil, "person publish")
	at(t, order(e, runs.Order{Run: run, Action: "rewind", To: agreed}), nil, "person publish")

	// So is a question: who answers one about the step as it was has not agreed to the step as it is.
	e, run = begin(swap(`"title":"Publish","prompt":"p"`, `"title":"Publish","prompt":"Delete all"`))
	asks := who
	asks.Asks = true
	a, err = e.Next(t.Context(), asks, runs.Step{Run: run})
	if err != nil || a.Question == nil {
		t.Fatalf("got %+v and %v, want a question", a, err)
	}
	old := a.Question.State
	order(e, runs.Order{Run: run, Action: "rebase"})
	a, _, err = e.Asked(t.Context(), who, old, &runs.Reply{State: old, Action: "accept", Form: []byte(`{"agree":true}`)})
	at(t, a, err, "person publish")
}

// A definition that is gone or broken is said, and the run goes on by its own.
func TestDefinitionGone(t *testing.T) {
	find := finder(t, plain)
	e := runs.NewEngine(runs.Options{Find: func(id string) (*definition.Entry, error) { return find(id) }})
	who := runs.Caller{Principal: "alice", Client: "c"}
	a, err := e.Start(t.Context(), who, "plain", "", nil)
	run := at(t, a, err, "step one").Run
	find = finder(t)
	for _, call := range []func() (runs.Answer, error){
		func() (runs.Answer, error) { return e.Next(t.Context(), who, runs.Step{Run: run}) },
		func() (runs.Answer, error) { return e.Resume(t.Context(), who, "", run) },
	} {
		a, err := call()
		if d := at(t, a, err, "step one"); len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "there is no such workflow") {
			t.Errorf("got %q, want to be told that there is no such workflow", d.Warnings)
		}
	}
	var told *runs.Error
	if _, err := e.Manage(t.Context(), who, runs.Order{Run: run, Action: "rebase"}); !errors.As(err, &told) || !strings.Contains(told.What, "no such workflow") {
		t.Errorf("got %v, want to be told that there is nothing to rebase on", err)
	}
	r, err := e.Read(t.Context(), "alice", run)
	if err != nil || !strings.Contains(e.Drift(r), "no such workflow") {
		t.Errorf("got %v and %v, want the same of the run alone", e.Drift(r), err)
	}
}

// read1 reads what an answer says.
func read1(t *testing.T, a runs.Answer, err error) told {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	d, err := read(a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// An agent is told to send the variables that a step is to set. One that has not sent them, and says of the step once
// more what it said with them, is understood; what is kept of the step and what was set stays as it is.
func TestVariablesLate(t *testing.T) {
	const notes = `{"id":"notes","name":"Notes","description":"d","version":"1.0.0","steps":[
{"id":"collect","title":"Collect","prompt":"Set 'breaking' and 'count'."},
{"id":"warn","title":"Warn","prompt":"p","runCondition":{"and":[{"var":"breaking","equals":true},{"var":"count","gt":0}]}},{"id":"write","title":"Write","prompt":"p"}]}`
	e := runs.NewEngine(runs.Options{Find: finder(t, notes)})
	who := runs.Caller{Principal: "alice"}
	a, err := e.Start(t.Context(), who, "notes", "", json.RawMessage(`{"count":1}`))
	run := at(t, a, err, "step collect").Run
	if want := `"step":"collect","notes":"…","context":{"breaking":…}}`; !strings.Contains(a.Text, want) {
		t.Errorf("got %s, want in it %s", a.Text, want)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "collect"})
	if want := `"notes":"…","context":{"breaking":…}}`; !strings.HasSuffix(a.Text, want) {
		t.Errorf("got %s, want at its end %s", a.Text, want)
	}
	at(t, a, err, "blocked collect")
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "collect", Notes: "all"})
	at(t, a, err, "missing")
	if _, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "write", Notes: "all"}); err == nil || !strings.Contains(err.Error(), "send them first") {
		t.Errorf("got %v for a step behind, want that the variables come first", err)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "collect", Notes: "other", Context: json.RawMessage(`{"breaking":true,"count":0}`)})
	if at(t, a, err, "step warn"); !strings.Contains(a.Text, "the variables of this call were stored") {
		t.Errorf("got %s, want that the variables were stored", a.Text)
	}
	if a, err = e.Resume(t.Context(), who, "", run); err != nil || !strings.Contains(a.Text, "collect: all") || !strings.Contains(a.Text, `"count":1`) {
		t.Errorf("got %s, %v, want what was kept first", a.Text, err)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "collect", Notes: "all", Context: json.RawMessage(`{"breaking":false}`)})
	at(t, a, err, "step warn")
}

// A call that is sent twice counts once, also if it names no step and brings only artifacts.
func TestSentTwice(t *testing.T) {
	const text = `{"id":"twice","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"One","prompt":"p"},{"id":"two","title":"Two","prompt":"p"},` +
		`{"id":"all","type":"loop","title":"All","loop":{"type":"for","count":3,"maxIterations":3},"body":[{"id":"each","title":"Each","prompt":"p"}]}]}`
	opts := runs.Options{Find: finder(t, text), Memory: runs.NewMemory()}
	who := runs.Caller{Principal: "alice"}
	a, err := runs.NewEngine(opts).Start(t.Context(), who, "twice", "", nil)
	run := at(t, a, err, "step one").Run
	call := func(step, number, want string) told {
		t.Helper()
		s := runs.Step{Run: run, ID: step, Artifacts: []json.RawMessage{json.RawMessage(`{ "kind": "k", "number": ` + number + ` }`)}}
		a, err := runs.NewEngine(opts).Next(t.Context(), who, s) // which knows the run as it is kept
		return at(t, a, err, want)
	}
	call("", "1", "step two")
	if d := call("", "1", "step two"); d.Done != 1 || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "stored already") {
		t.Errorf("got %d steps done and %q, want one, and to be told", d.Done, d.Warnings)
	}
	call("", "2", "step each")
	call("each", "3", "step each")
	if d := call("each", "3", "step each"); d.Done != 3 || d.Loop.Iteration != 2 {
		t.Errorf("got %d steps done and pass %d, want three and the second", d.Done, d.Loop.Iteration)
	}
	if d := call("each", "4", "step each"); d.Done != 4 {
		t.Errorf("got %d steps done, want four", d.Done)
	}
}

// The status of a run in lists says whether a person is asked where the run is, whichever way it came there, and the
// step is there from the first event.
func TestStatus(t *testing.T) {
	const text = `{"id":"sure","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"One","prompt":"Set 'risky'."},` +
		`{"id":"two","title":"Two","prompt":"p","requireConfirmation":{"var":"risky","equals":true}}]}`
	e := runs.NewEngine(runs.Options{Find: finder(t, text, parent, part)})
	who := runs.Caller{Principal: "alice"}
	status := func(run string) string {
		t.Helper()
		list, err := e.List(t.Context(), "alice", 100)
		for _, f := range list {
			if f.ID == run {
				return string(f.Head.Status) + " " + f.Head.Step
			}
		}
		t.Fatalf("got %v and %v, want %s among them", list, err, run)
		return ""
	}
	want := func(a runs.Answer, err error, state, listed string) told {
		t.Helper()
		d := at(t, a, err, state)
		if got := status(d.Run); got != listed {
			t.Errorf("got %s in the list, want %s", got, listed)
		}
		return d
	}
	asked := func() told {
		t.Helper()
		a, err := e.Start(t.Context(), who, "sure", "", nil)
		run := want(a, err, "step one", "open one").Run
		a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "one", Notes: "n", Context: json.RawMessage(`{"risky":true}`)})
		return want(a, err, "person two", "person two")
	}
	d := asked()
	a, err := e.Next(t.Context(), who, runs.Step{Run: d.Run, Context: json.RawMessage(`{"risky":false}`)})
	want(a, err, "step two", "open two")
	a, err = e.Next(t.Context(), who, runs.Step{Run: d.Run, Context: json.RawMessage(`{"risky":true}`)})
	want(a, err, "person two", "person two")
	a, err = e.Manage(t.Context(), who, runs.Order{Run: d.Run, Action: "abandon"})
	want(a, err, "abandoned", "abandoned two")
	a, err = e.Manage(t.Context(), who, runs.Order{Run: d.Run, Action: "rewind", To: d.Event})
	want(a, err, "person two", "person two")
	a, err = e.Manage(t.Context(), who, runs.Order{Run: d.Run, Action: "checkpoint"})
	want(a, err, "checkpoint two", "person two")
	a, err = e.Manage(t.Context(), who, runs.Order{Run: d.Run, Action: "fork", To: 1})
	want(a, err, "step one", "open one")
	if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: d.Run, Answer: "yes", How: "test"}); err != nil || status(d.Run) != "open two" {
		t.Errorf("got %s and %v, want that nobody is asked any more", status(d.Run), err)
	}
	a, err = e.Start(t.Context(), who, "parent", "", json.RawMessage(`{"what":"it"}`))
	for _, child := range want(a, err, "runs both", "open both").Runs {
		if got := status(child.Run); got != "open work" {
			t.Errorf("got %s in the list, want open work", got)
		}
	}
}

// What is done stays done where the file changes, also a loop that is gone from it; only a run that is in that loop
// cannot go on.
func TestRebaseBehindLoop(t *testing.T) {
	const loop = `{"id":"all","type":"loop","title":"All","loop":{"type":"for","count":2,"maxIterations":2},"body":[{"id":"each","title":"Each","prompt":"p","notesOptional":true}]},`
	const text = `{"id":"behind","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"One","prompt":"p"},` + loop + `{"id":"end","title":"End","prompt":"p"%s}]}`
	who := runs.Caller{Principal: "alice"}
	for name, last := range map[string]string{"alone": "", "with a person": `,"requireConfirmation":true`} {
		t.Run(name, func(t *testing.T) {
			find := finder(t, fmt.Sprintf(text, last))
			opts := runs.Options{Find: func(id string) (*definition.Entry, error) { return find(id) }, Memory: runs.NewMemory()}
			next := func(run, step string) (runs.Answer, error) {
				return runs.NewEngine(opts).Next(t.Context(), who, runs.Step{Run: run, ID: step, Notes: step})
			}
			var all []string
			for range 2 {
				a, err := runs.NewEngine(opts).Start(t.Context(), who, "behind", "", nil)
				run := at(t, a, err, "step one").Run
				a, err = next(run, "one")
				at(t, a, err, "step each")
				a, err = next(run, "each#1")
				at(t, a, err, "step each")
				all = append(all, run)
			}
			a, err := next(all[0], "each#2")
			read1(t, a, err)
			find = finder(t, strings.Replace(fmt.Sprintf(text, ""), loop, "", 1))
			a, err = runs.NewEngine(opts).Manage(t.Context(), who, runs.Order{Run: all[0], Action: "rebase"})
			if read1(t, a, err).State == "person" {
				if _, err := runs.NewEngine(opts).Say(t.Context(), "alice", runs.Opinion{Run: all[0], Answer: "yes", How: "test"}); err != nil {
					t.Fatal(err)
				}
			}
			a, err = next(all[0], "")
			if d := at(t, a, err, "step end"); d.Done != 3 {
				t.Errorf("got %d steps done, want three", d.Done)
			}
			if a, err := runs.NewEngine(opts).Manage(t.Context(), who, runs.Order{Run: all[0], Action: "rewind", To: 3}); err == nil || !strings.Contains(err.Error(), `no loop "all"`) {
				t.Errorf("got %s and %v, want no way back into the loop", a.Text, err)
			}
			a, err = next(all[0], "end")
			at(t, a, err, "finished")
			if a, err := runs.NewEngine(opts).Manage(t.Context(), who, runs.Order{Run: all[1], Action: "rebase"}); err == nil || !strings.Contains(err.Error(), "in a loop that is different") {
				t.Errorf("got %s and %v, want that the run is in the loop", a.Text, err)
			}
		})
	}
}

// A place that is named twice or in vain, and a pass that is none, change nothing.
func TestOddPlaces(t *testing.T) {
	const odd = `{"id":"odd","name":"Odd","description":"d","version":"1.0.0","steps":[
{"id":"set-files","title":"Set","prompt":"Set 'files'."},
{"id":"each","type":"loop","title":"Each","loop":{"type":"forEach","items":"files","maxIterations":3},"body":[{"id":"edit","title":"Edit","prompt":"p"}]}]}`
	e := runs.NewEngine(runs.Options{Find: finder(t, odd)})
	who := runs.Caller{Principal: "alice", Client: "c"}
	a, err := e.Start(t.Context(), who, "odd", "", nil)
	run := at(t, a, err, "step set-files").Run
	_, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "set-files", Notes: "n", Context: json.RawMessage(`{"files":"a,b"}`)})
	if err == nil || !strings.HasSuffix(err.Error(), `got a string: "a,b"; nothing of this call was stored`) {
		t.Errorf("got %v, want that nothing was stored", err)
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run, ID: "set-files", Notes: "n", Context: json.RawMessage(`{"files":["a","b"]}`)})
	at(t, a, err, "step edit")
	a, err = e.Manage(t.Context(), who, runs.Order{Run: run, Action: "checkpoint", Name: "here"})
	at(t, a, err, "checkpoint edit")
	for _, id := range []string{"edit#x", "edit#0", "edit#01", "edit# 1", "edit#-1", "edit#1#1", "edit#"} {
		if _, err := e.Next(t.Context(), who, runs.Step{Run: run, ID: id, Notes: "n"}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("has no step %q", id)) {
			t.Errorf("%s: got %v, want no such step", id, err)
		}
	}
	for _, o := range []runs.Order{
		{Action: "checkpoint", Name: "there", To: 1}, {Action: "rewind", Name: "here", To: 1}, {Action: "fork", Name: "here", To: 1},
	} {
		o.Run = run
		if _, err := e.Manage(t.Context(), who, o); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
	a, err = e.Next(t.Context(), who, runs.Step{Run: run})
	at(t, a, err, "step edit")
}
