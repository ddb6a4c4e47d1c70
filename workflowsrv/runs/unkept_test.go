package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// While the store cannot be opened, nobody is told that there is no such run: it may be in the store.
func TestUnopenedStoreHidesNoRun(t *testing.T) {
	full := errors.New("the disk is full")
	e := runs.NewEngine(runs.Options{Find: finder(t, plain), Log: func(context.Context) (runs.Log, error) { return nil, full }})
	who := runs.Caller{Principal: "alice"}
	const run = "run-jx4977mkts"
	if _, err := e.Next(t.Context(), who, runs.Step{Run: run}); !errors.Is(err, full) {
		t.Errorf("workflow_next: got %v, want why the store cannot be opened", err)
	}
	if _, err := e.Resume(t.Context(), who, "", run); !errors.Is(err, full) {
		t.Errorf("workflow_resume: got %v, want why the store cannot be opened", err)
	}
	if _, err := e.Read(t.Context(), who.Principal, run); !errors.Is(err, full) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("the resource: got %v, want why the store cannot be opened", err)
	}
	a, err := e.Start(t.Context(), who, "plain", "in memory", nil)
	begun := at(t, a, err, "step one").Run
	if a, err = e.Next(t.Context(), who, runs.Step{Run: begun}); err != nil {
		t.Errorf("a run in memory: got %v", err)
	}
	at(t, a, err, "step one")
}

// What is said while a run waits is kept before it is answered, whatever the run waits for, and so is the way back and
// another definition. While another process calls a tool, it is refused instead.
func TestNothingUnkept(t *testing.T) {
	const text = `{"id":"waits","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"t",%s},{"id":"two","title":"%s","prompt":"p"}]}`
	who := runs.Caller{Principal: "alice"}
	for name, tt := range map[string]struct{ step, state string }{
		"time":    {`"type":"wait","seconds":3600`, "waiting one"},
		"file":    {`"type":"wait","file":"none.txt"`, "waiting one"},
		"request": {`"type":"wait","webhook":true`, "waiting one"},
		"runs":    {`"type":"parallel","parallelDelegations":[{"workflowId":"part"}],"synthesis":{"prompt":"p"}`, "runs one"},
		"tool":    {`"type":"tool","tool":"box/server/tool"`, "person one"},
		"failure": {`"type":"tool","tool":"box/server/tool","arguments":{"a":"{{none}}"}`, "failed one"},
	} {
		t.Run(name, func(t *testing.T) {
			find := finder(t, fmt.Sprintf(text, tt.step, "t"), part)
			log := runs.NewMemory()
			opts := runs.Options{Find: func(id string) (*definition.Entry, error) { return find(id) }, Tools: &desk{results: []string{"", ""}}, Dir: t.TempDir(), Memory: log}.Patient(time.Nanosecond)
			e := runs.NewEngine(opts)
			kept := func(a runs.Answer, err error) *runs.Run {
				t.Helper()
				d := at(t, a, err, tt.state)
				r, err := e.Read(t.Context(), "alice", d.Run)
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Events) != d.Event {
					t.Errorf("got %d events kept, want the %d that were told", len(r.Events), d.Event)
				}
				return r
			}
			run := kept(e.Start(t.Context(), who, "waits", "", nil)).ID
			note := runs.Step{Run: run, Context: json.RawMessage(`{"note":"important"}`)}
			kept(e.Next(t.Context(), who, note))
			r := kept(runs.NewEngine(opts).Resume(t.Context(), who, "", run))
			if !slices.ContainsFunc(r.Events, func(e runs.Event) bool { return e.Kind == runs.Noted && string(e.Context) == string(note.Context) }) {
				t.Errorf("got %v, want the variable among them", r.Events)
			}
			find = finder(t, fmt.Sprintf(text, tt.step, "other"), part)
			kept(e.Manage(t.Context(), who, runs.Order{Run: run, Action: "rebase"}))
			if a, err := runs.NewEngine(opts).Next(t.Context(), who, runs.Step{Run: run}); err != nil || strings.Contains(a.Text, "has changed") {
				t.Errorf("got %s and %v, want the run to go by the present definition", a.Text, err)
			}
			if a, err := e.Manage(t.Context(), who, runs.Order{Run: run, Action: "abandon"}); err != nil {
				t.Errorf("got %s and %v", a.Text, err)
			}
			if name != "runs" && name != "tool" {
				kept(e.Manage(t.Context(), who, runs.Order{Run: run, Action: "rewind", To: len(r.Events)}))
				kept(e.Next(t.Context(), who, runs.Step{Run: run}))
			}
			if name != "tool" {
				return
			}
			a, err := e.Start(t.Context(), who, "waits", "", nil)
			d := at(t, a, err, tt.state)
			if err := log.HoldRun(t.Context(), "alice", d.Run, d.Event, 10*time.Second); err != nil {
				t.Fatal(err)
			}
			for _, call := range []func() (runs.Answer, error){
				func() (runs.Answer, error) {
					return e.Next(t.Context(), who, runs.Step{Run: d.Run, Context: note.Context})
				},
				func() (runs.Answer, error) {
					return e.Manage(t.Context(), who, runs.Order{Run: d.Run, Action: "abandon"})
				},
				func() (runs.Answer, error) {
					return e.Manage(t.Context(), who, runs.Order{Run: d.Run, Action: "rewind", To: 1})
				},
			} {
				var told *runs.Error
				if a, err := call(); !errors.As(err, &told) || !strings.Contains(told.What, "nothing of this call was stored") {
					t.Errorf("got %s and %v, want to be told that nothing was stored", a.Text, err)
				}
			}
			a, err = e.Next(t.Context(), who, runs.Step{Run: d.Run})
			at(t, a, err, "waiting one")
		})
	}
}
