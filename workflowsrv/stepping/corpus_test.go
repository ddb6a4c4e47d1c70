package stepping_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// shared is the folder of material that tests read, beside the repository.
const shared = "../../../shared"

// TestRecordedTraversals walks the files of version 0.0.4 of the original system with the contexts that were recorded
// there: the same steps in the same order, with prompts of the same length. At the end we differ by rule: where the
// original said complete although conditions on absent variables remain, the answer names these variables.
func TestRecordedTraversals(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(shared, "golden", "v004-service.json"))
	if err != nil {
		t.Skipf("no recorded traversals: %v", err)
	}
	var golden struct {
		Traverse []struct {
			File    string
			Context json.RawMessage
			Steps   []recorded
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	complete, missing := 0, 0
	for _, g := range golden.Traverse {
		w, reason := recordedFile(t, g.File)
		if reason != "" {
			t.Logf("%s: %s", g.File, reason)
			continue
		}
		t.Run(g.File+" "+string(g.Context), func(t *testing.T) {
			r := stepping.Request{Context: object(t, g.Context), PassOver: true}
			got := []recorded{}
			for len(got) <= len(g.Steps) {
				a, err := stepping.Next(t.Context(), w, r)
				if err != nil {
					t.Fatal(err)
				}
				if a.Step == nil {
					if a.IsComplete {
						complete++
					} else {
						missing++
						checkAbsent(t, a.Missing, r.Context)
					}
					got = append(got, recorded{Complete: true, Prompt: "Workflow complete."})
					break
				}
				got = append(got, recorded{ID: a.Step.ID, PromptLen: len(utf16.Encode([]rune(a.Prompt)))})
				r.Completed = append(r.Completed, a.Step.ID)
			}
			if !slices.Equal(got, g.Steps) {
				t.Errorf("got %v, want %v", got, g.Steps)
			}
		})
	}
	if complete == 0 || missing == 0 {
		t.Errorf("got %d walks to the end and %d that name variables, want some of both", complete, missing)
	}
}

type recorded struct {
	ID        string
	PromptLen int
	Complete  bool
	Prompt    string
}

// recordedFile reads a file that a traversal was recorded of, or says why it cannot be compared.
func recordedFile(t *testing.T, name string) (*definition.Workflow, string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(shared, "workflows", "v004", name))
	if err != nil {
		t.Fatal(err)
	}
	switch name {
	case "spec/examples/invalid-workflow.json":
		return nil, "invalid and without steps: the original stepped through it all the same, here it is not offered"
	case "spec/examples/ai-task-prompt-workflow.json":
		// Invalid for want of a version only, so it can still be compared.
		data = bytes.Replace(data, []byte("{"), []byte(`{"version":"0.0.1",`), 1)
	}
	return parse(t, name, data), ""
}

func object(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// checkAbsent makes sure that only variables that are not there are asked for.
func checkAbsent(t *testing.T, missing []stepping.Missing, context map[string]any) {
	t.Helper()
	if len(missing) == 0 {
		t.Error("got neither a step, nor completion, nor a missing variable")
	}
	for _, m := range missing {
		if context[m.Variable] != nil {
			t.Errorf("got %q as missing, but it is %v", m.Variable, context[m.Variable])
		}
		if len(m.Tests) == 0 || len(m.Steps) == 0 {
			t.Errorf("got %+v, want tests and steps", m)
		}
	}
}

// corpus returns every workflow that is at hand: those beside the repository, if they are there, those of the sessions
// in testdata, and the sample.
func corpus(t testing.TB) []*definition.Workflow {
	t.Helper()
	var list []*definition.Workflow
	for _, pattern := range []string{"v0*/workflows/*.json", "v0*/workflows/*/*/*.json", "v0*/spec/examples/*.json"} {
		files, err := filepath.Glob(filepath.Join(shared, "workflows", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if w, err := definition.Parse(file, data); err == nil {
				list = append(list, w)
			}
		}
	}
	for _, archive := range sessions(t) {
		list = append(list, parse(t, archive.Files[0].Name, archive.Files[0].Data))
	}
	list = append(list, parse(t, "sample.json", definition.Sample()))
	return list
}

func (r recorded) String() string {
	if r.Complete {
		return r.Prompt
	}
	return fmt.Sprintf("%s(%d)", r.ID, r.PromptLen)
}
