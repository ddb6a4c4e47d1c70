package definition_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// shared is the folder of material that tests read, beside the repository.
const shared = "../../../shared"

// TestRecordedVerdicts compares with the verdicts that version 0.0.4 of the original system gave on its own files.
func TestRecordedVerdicts(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(shared, "golden", "v004-service.json"))
	if err != nil {
		t.Skipf("no recorded verdicts: %v", err)
	}
	var golden struct {
		Schema []struct {
			File   string
			Valid  bool
			Errors []string
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	for _, g := range golden.Schema {
		t.Run(g.File, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(shared, "workflows", "v004", g.File))
			if err != nil {
				t.Fatal(err)
			}
			_, err = definition.Parse(g.File, data)
			if (err == nil) != g.Valid {
				t.Fatalf("got %v, want valid %v", err, g.Valid)
			}
			if faults := faultsOf(err); len(faults) != len(g.Errors) {
				t.Errorf("got %d faults %v, want %d %v", len(faults), faults, len(g.Errors), g.Errors)
			}
		})
	}
}

// TestRealFiles reads all workflow files of two versions. The invalid ones are known: each breaks the schema of its own
// version, too.
func TestRealFiles(t *testing.T) {
	invalid := map[string]string{
		"v004/spec/examples/invalid-workflow.json":          "/id: must be small letters",
		"v004/spec/examples/ai-task-prompt-workflow.json":   `"version" is missing`,
		"v050/spec/examples/invalid-workflow.json":          "/id: must be small letters",
		"v050/spec/examples/ai-task-prompt-workflow.json":   `"version" is missing`,
		"v050/workflows/documentation-update-workflow.json": "/metaGuidance/12: must have at most 256 characters",
	}
	files := realFiles(t)
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(shared, "workflows", name))
		if err != nil {
			t.Fatal(err)
		}
		w, err := definition.Parse(name, data)
		want, isInvalid := invalid[name]
		switch {
		case isInvalid && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want a fault with %q", name, err, want)
		case !isInvalid && err != nil:
			t.Errorf("%s: got %v, want no fault", name, err)
		case err == nil:
			checkSameJSON(t, name, w.JSON, data)
		}
	}
}

// realFiles lists the workflow files of the corpus.
func realFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"v0*/workflows/*.json", "v0*/workflows/*/*/*.json", "v0*/spec/examples/*.json"} {
		found, err := filepath.Glob(filepath.Join(shared, "workflows", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			name, err := filepath.Rel(filepath.Join(shared, "workflows"), file)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, filepath.ToSlash(name))
		}
	}
	if len(files) == 0 {
		t.Skip("no workflow files beside the repository")
	}
	return files
}

// checkSameJSON compares two texts as documents.
func checkSameJSON(t *testing.T, name string, got, want []byte) {
	t.Helper()
	canonical := func(text []byte) string {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return string(out)
	}
	if g, w := canonical(got), canonical(want); g != w {
		t.Errorf("%s: got %.500s, want %.500s", name, g, w)
	}
}
