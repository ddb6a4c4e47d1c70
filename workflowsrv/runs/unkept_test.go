package runs_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mcp-workbench/workbench/internal/store"
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
