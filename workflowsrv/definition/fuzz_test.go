package definition_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// FuzzParse feeds files to the parser: it must not panic, every fault must have a message, and what it accepts it must
// accept again as the JSON that it makes of it.
func FuzzParse(f *testing.F) {
	cases, err := filepath.Glob("testdata/parse/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range cases {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, input := range archive.Files {
			f.Add(input.Data, filepath.Ext(input.Name) == ".yaml")
		}
	}
	f.Add(definition.Sample(), false)
	real, err := filepath.Glob(filepath.Join(shared, "workflows", "v050", "workflows", "examples", "loops", "*.json"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range real {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, false)
		f.Add(data, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, yaml bool) {
		name := "w.json"
		if yaml {
			name = "w.yaml"
		}
		w, err := definition.Parse(name, data)
		if err != nil {
			for _, fault := range faultsOf(err) {
				if fault.Message == "" {
					t.Errorf("got a fault without a message in %v", err)
				}
			}
			if len(faultsOf(err)) == 0 {
				t.Errorf("got %v, want at least one fault", err)
			}
			return
		}
		again, err := definition.Parse("w.json", w.JSON)
		if err != nil {
			t.Fatalf("the JSON of an accepted file: got %v, want none: %s", err, w.JSON)
		}
		if string(again.JSON) != string(w.JSON) {
			t.Errorf("got %s, want %s", again.JSON, w.JSON)
		}
	})
}
