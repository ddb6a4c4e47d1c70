package stepping_test

import (
	"flag"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

var newest = flag.String("newest", "", "walk every workflow file below this `folder`")

// TestNewest walks the files below a folder that is named by a flag, such as those of the system that the format comes
// from: no warning, and each comes to its end in the order of its file in four ways. Those ways answer what is asked
// for so that conditions hold or do not, and end loops that an artifact decides after one pass or not at all.
func TestNewest(t *testing.T) {
	if *newest == "" {
		t.Skip("no folder is named by -newest")
	}
	var sources []definition.Source
	err := filepath.WalkDir(*newest, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			sources = append(sources, definition.Source{Origin: definition.Config, Dir: path})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	catalogue := definition.NewStore(sources).Catalogue()
	for _, invalid := range catalogue.Invalid {
		t.Logf("not valid: %s: %v", invalid.File, invalid.Faults)
	}
	t.Logf("%d workflows, %d files that are not valid", len(catalogue.Entries), len(catalogue.Invalid))
	for _, e := range catalogue.Entries {
		t.Run(e.ID, func(t *testing.T) {
			for _, w := range e.Warnings {
				// That no text mentions a variable is so, and for the author to see.
				if !strings.HasPrefix(w.Message, "needs the variable") {
					t.Errorf("%s: warning %s", e.File, w)
				}
			}
			values := candidates(e.Workflow)
			for _, holds := range []bool{true, false} {
				for _, stop := range []bool{true, false} {
					walkToEnd(t, e.Workflow, values, holds, stop)
				}
			}
		})
	}
}

// walkToEnd answers what is asked for by its first candidate, or by a value that no test is about, and reports a step
// that comes before one that stands before it.
func walkToEnd(t *testing.T, w *definition.Workflow, values map[string][]any, holds, stop bool) {
	t.Helper()
	caller := &walk{w: w}
	order := w.StepIDs()
	last, said := "", map[string]any{}
	var done []string
	for range longest(w) {
		a, err := caller.next(move{Set: said, Done: done})
		if err != nil {
			t.Fatalf("%v %v: after %s: %v", holds, stop, last, err)
		}
		if a.IsComplete {
			return
		}
		said, done = map[string]any{}, nil
		for _, m := range a.Missing {
			said[m.Variable] = answerTo(m, values, holds)
		}
		if a.Step == nil {
			continue
		}
		again := a.Loop != nil && a.Loop.Iteration > 1
		if last != "" && !again && slices.Index(order, a.Step.ID) <= slices.Index(order, last) {
			t.Errorf("%v %v: %s comes after %s; warnings %q", holds, stop, a.Step.ID, last, a.Warnings)
		}
		if strings.Contains(a.Prompt, "[wr.refs") {
			t.Errorf("%s: the prompt has a reference without its text", a.Step.ID)
		}
		last = a.Step.ID
		done = []string{a.Step.ID}
		if l := a.Loop; l != nil && stop && w.Step(l.ID).Loop.ByArtifact {
			if body := w.Step(l.ID).Loop.Body; body[len(body)-1] == a.Step {
				done = append(done, l.ID)
			}
		}
	}
	t.Errorf("%v %v: no end; the last step is %s", holds, stop, last)
}

func answerTo(m stepping.Missing, values map[string][]any, holds bool) any {
	for _, test := range m.Tests {
		switch {
		case test.Operator == "type" && test.Value == "an array":
			return []any{map[string]any{"name": "a"}, map[string]any{"name": "b"}}
		case test.Operator == "type":
			return 2
		case test.Operator == "truthy":
			return holds
		}
	}
	if list := values[m.Variable]; holds && len(list) > 0 {
		if some, ok := list[0].([]any); ok && len(some) > 0 && m.Tests[0].Operator == "in" {
			return some[0]
		}
		return list[0]
	}
	return "nothing that is asked for"
}
