package library_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/library"
)

// workflows parses every file, and fails on a fault or a warning.
func workflows(t testing.TB) map[string]*definition.Workflow {
	t.Helper()
	names, err := fs.Glob(library.Files(), "*")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*definition.Workflow{}
	for _, name := range names {
		data, err := fs.ReadFile(library.Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := definition.Parse(name, data)
		if err != nil {
			t.Fatal(err)
		}
		for _, warning := range w.Warnings {
			t.Errorf("%s: warning: %s", name, warning)
		}
		if name != w.ID+".json" {
			t.Errorf("%s: the id is %q", name, w.ID)
		}
		all[w.ID] = w
	}
	return all
}

func TestFiles(t *testing.T) {
	all := workflows(t)
	for _, id := range []string{
		"author-workflow", "find-bug", "implement-change", "improve-performance", "investigate-outage",
		"plan-migration", "review-change", "write-documentation", "write-test-suite",
	} {
		if all[id] == nil {
			t.Errorf("%s is missing", id)
		}
		delete(all, id)
	}
	for id := range all {
		t.Errorf("%s has no test", id)
	}
}

// The files keep to the published schema but for what they are chosen by, and each has that.
func TestPublishedSchema(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "workflows", "v050", "spec", "workflow.schema.json")
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("the published schema is absent: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("workflow.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema := c.MustCompile("workflow.schema.json")
	err = fs.WalkDir(library.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(library.Files(), name)
		if err != nil {
			return err
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return err
		}
		file, _ := v.(map[string]any)
		for _, key := range []string{"category", "tags"} {
			if file[key] == nil {
				t.Errorf("%s has no %s", name, key)
			}
			delete(file, key)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A step whose output is checked says so, and every variable that a prompt shows is one that something sets.
func TestCraft(t *testing.T) {
	for id, w := range workflows(t) {
		var prompts strings.Builder
		visit(w, func(s *definition.Step) { prompts.WriteString(s.Prompt) })
		visit(w, func(s *definition.Step) {
			if s.HasValidation != (s.Criteria != nil) {
				t.Errorf("%s/%s: hasValidation is %v, criteria are there: %v", id, s.ID, s.HasValidation, s.Criteria != nil)
			}
			for _, condition := range conditions(t, s) {
				if !strings.Contains(prompts.String(), "`"+condition+"`") {
					t.Errorf("%s/%s: no prompt names the variable `%s`", id, s.ID, condition)
				}
			}
		})
	}
}

// visit calls f for every step, those in loops included.
func visit(w *definition.Workflow, f func(*definition.Step)) {
	for _, s := range w.Steps {
		f(s)
		if s.Loop != nil {
			for _, b := range s.Loop.Body {
				f(b)
			}
		}
	}
}

// conditions gives the variables that decide whether and how often a step comes.
func conditions(t *testing.T, s *definition.Step) []string {
	t.Helper()
	var raw struct {
		Loop struct{ Items string }
	}
	if err := json.Unmarshal(s.JSON, &raw); err != nil {
		t.Fatal(err)
	}
	var names []string
	if raw.Loop.Items != "" {
		names = append(names, raw.Loop.Items)
	}
	tests := s.RunCondition.Vars()
	if s.Loop != nil {
		tests = append(tests, s.Loop.Condition.Vars()...)
	}
	for _, v := range append(tests, s.Confirm.When.Vars()...) {
		names = append(names, v.Name)
	}
	return names
}
