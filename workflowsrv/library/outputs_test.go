package library_test

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// lazy are outputs that claim the work instead of showing it. No criteria may let them pass.
func lazy() []string {
	return []string{
		"Done.",
		"I have carefully completed this step. Everything works and is of high quality, and all requirements are met.",
		"The analysis is complete. I looked at the relevant files and made sure that the change is correct and well tested. Ready for the next step.",
	}
}

// Criteria that a good output fails, or a lazy one passes, teach an agent the wrong thing.
func TestOutputs(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/outputs.txtar")
	if err != nil {
		t.Fatal(err)
	}
	good := map[string]string{}
	for _, file := range archive.Files {
		good[file.Name] = string(file.Data)
	}
	for id, w := range workflows(t) {
		visit(w, func(s *definition.Step) {
			if s.Criteria == nil {
				return
			}
			name := id + "/" + s.ID
			output, ok := good[name]
			if !ok {
				t.Errorf("%s: testdata has no output for it", name)
			}
			delete(good, name)
			check := func(output string) criteria.Verdict {
				return s.Criteria.Check(t.Context(), output, nil, criteria.Options{})
			}
			if got := check(output); !got.Valid() || got.Warnings != nil {
				t.Errorf("%s: a good output fails: %q, warnings %q", name, got.Issues(), got.Warnings)
			}
			for _, output := range lazy() {
				if check(output).Valid() {
					t.Errorf("%s: a lazy output passes: %q", name, output)
				}
			}
		})
	}
	for name := range good {
		t.Errorf("testdata has an output for %s, which has no criteria", name)
	}
}

// BenchmarkCriteria judges a text of 100 KB that nearly fits everywhere by the criteria of each step: a careless
// pattern stands out by orders of magnitude.
func BenchmarkCriteria(b *testing.B) {
	data, err := os.ReadFile("testdata/outputs.txtar")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.ReplaceAll(strings.Repeat(string(data), 100_000/len(data)), ":", ";")
	for id, w := range workflows(b) {
		visit(w, func(s *definition.Step) {
			if s.Criteria == nil {
				return
			}
			b.Run(id+"/"+s.ID, func(b *testing.B) {
				for b.Loop() {
					s.Criteria.Check(b.Context(), text, nil, criteria.Options{})
				}
			})
		})
	}
}
