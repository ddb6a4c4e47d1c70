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

// That a person agreed is good for one run, and once; a tool that was called is called again in a fork only if a person agrees.
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
		if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: run, How: "test"}); err != nil {
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
