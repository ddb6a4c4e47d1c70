package definition_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

var update = flag.Bool("update", false, "rewrite what the archives say of their files")

// TestParse runs the cases in testdata/parse: each holds a workflow file and what must be said about it, a fault or a
// warning a line, or nothing. go test -update writes what is said.
func TestParse(t *testing.T) {
	files, err := filepath.Glob("testdata/parse/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(archive.Files); n%2 != 0 {
				t.Fatalf("got %d files, want pairs of a workflow and what is said", n)
			}
			for i := 0; i < len(archive.Files); i += 2 {
				input, want := archive.Files[i], &archive.Files[i+1]
				got := said(definition.Parse(input.Name, input.Data))
				if *update {
					want.Data = []byte(got)
				} else if got != string(want.Data) {
					t.Errorf("%s: got\n%swant\n%s", input.Name, got, want.Data)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// said gives faults and warnings one a line.
func said(w *definition.Workflow, err error) string {
	var b strings.Builder
	var bad *definition.Error
	if errors.As(err, &bad) {
		for _, f := range bad.Faults {
			fmt.Fprintln(&b, "fault", f)
		}
		return b.String()
	}
	for _, f := range w.Warnings {
		fmt.Fprintln(&b, "warning", f)
	}
	return b.String()
}

func TestLimits(t *testing.T) {
	big := `{"id":"big-one","name":"n","description":"` + strings.Repeat("x", definition.MaxFileSize) + `"}`
	deep := `{"id":"deep-one","steps":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`
	// Each alias stands for ten of the one before: a few lines would be 10^9 values.
	var bomb strings.Builder
	bomb.WriteString("id: bomb\nsteps: []\na0: &a0 [x]\n")
	for i := range 9 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	for _, c := range []struct{ name, file, data, want string }{
		{"too big", "w.json", big, "at most 1048576 are read"},
		{"too deep", "w.json", deep, "nested deeper than 100 levels"},
		{"too deep, YAML", "w.yaml", "id: " + strings.Repeat("[", 5000), "YAML"},
		{"alias bomb", "w.yaml", bomb.String(), "more than 200000 values"},
		{"alias of itself", "w.yaml", "id: x\nsteps: &s [*s]\n", "contains itself"},
		{"half written", "w.json", `{"id":"half","steps":[{"id":"a`, "the file ends within it"},
		{"no object", "w.json", `[1]`, "a workflow is an object"},
		{"something else", "package.json", `{"name":"x"}`, "not a workflow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := definition.Parse(c.file, []byte(c.data))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.300v, want a fault with %q", err, c.want)
			}
		})
	}
}

func TestSample(t *testing.T) {
	w, err := definition.Parse("sample.json", definition.Sample())
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Warnings) > 0 {
		t.Errorf("got warnings %v, want none", w.Warnings)
	}
	if got, want := w.StepIDs(), []string{"understand", "plan", "carry-out", "check"}; !slices.Equal(got, want) {
		t.Errorf("got steps %v, want %v", got, want)
	}
}
