package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// Rows of runs of workflows that are kept in memory, and in a file on the disk of temporary files: there a call that
// ends a step is one write and one sync.
const (
	nextWhat   = "workflow_next on a run"
	memoryName = "memory"
)

// loopText is a workflow that goes round one step, whose prompt is as long as those of the library.
var loopText = `{"id":"loop","name":"n","description":"d","version":"1.0.0","steps":[{"id":"each","type":"loop","title":"l",` +
	`"loop":{"type":"for","count":950,"maxIterations":1000},"body":[{"id":"once","title":"t","prompt":"` +
	strings.Repeat("Look at the next place and say what you find there. ", 24) + `"}]}]}`

// runs measures calls of workflow_next that end a step, one at a time.
func (b *bench) runs(ctx context.Context) error {
	w, err := definition.Parse("loop.json", []byte(loopText))
	if err != nil {
		return err
	}
	opts := runs.Options{Find: func(string) (*definition.Entry, error) { return &definition.Entry{Workflow: w}, nil }}
	if b.wanted(nextWhat, memoryName) {
		b.say("runs")
		if err := b.stepped(ctx, memoryName, opts); err != nil {
			return err
		}
	}
	if !b.wanted(nextWhat, sqliteName) {
		return nil
	}
	s, err := store.OpenSQLite(ctx, filepath.Join(b.dir, "runs.db"), func(error) {}, store.Options{})
	if err != nil {
		return err
	}
	opts.Log = func(context.Context) (runs.Log, error) { return s, nil }
	return errors.Join(b.stepped(ctx, sqliteName, opts), s.Close())
}

func (b *bench) stepped(ctx context.Context, front string, opts runs.Options) error {
	e := runs.NewEngine(opts)
	who := runs.Caller{Principal: principal, Client: "bench"}
	for range b.series {
		a, err := e.Start(ctx, who, "loop", "measure", nil)
		if err != nil {
			return err
		}
		_, run, _ := strings.Cut(a.Text, `{"run":"`)
		run, _, _ = strings.Cut(run, `"`)
		took := make([]time.Duration, min(b.turns, 900))
		for i := range took {
			began := time.Now()
			a, err := e.Next(ctx, who, runs.Step{Run: run, ID: fmt.Sprintf("once#%d", i+1), Notes: "The tests pass."})
			took[i] = time.Since(began)
			if err == nil && !strings.Contains(a.Text, fmt.Sprintf("once#%d", i+2)) {
				err = fmt.Errorf("workflow_next: got %q, want the next pass", a.Text)
			}
			if err != nil {
				return err
			}
		}
		b.report.row(nextWhat, front).addTimes(took)
	}
	return nil
}
