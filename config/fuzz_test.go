package config_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/config"
)

// FuzzParse checks that Parse never panics, that what it refuses it refuses with faults of this file, and that what it
// accepts it reads again to the same when written back.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(paths) == 0 {
		f.Fatalf("got %d archives and error %v, want some", len(paths), err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		input := archive.Files[0]
		f.Add(!strings.HasSuffix(input.Name, ".json"), input.Data)
	}
	f.Fuzz(func(t *testing.T, yaml bool, data []byte) {
		name := "/etc/wb/c.json"
		if yaml {
			name = "/etc/wb/c.yaml"
		}
		cfg, err := config.Parse(name, data, environment)
		if err != nil {
			var faults *config.Error
			if !errors.As(err, &faults) || len(faults.Faults) == 0 {
				t.Fatalf("got error %v of type %T, want faults", err, err)
			}
			for _, fault := range faults.Faults {
				if fault.File != name || fault.Message == "" || strings.ContainsAny(fault.String(), "\n\r\x1b\x00") {
					t.Fatalf("got fault %q, want one line of %s", fault, name)
				}
			}
			return
		}
		want := string(encode(t, cfg))
		again, err := config.Parse("/elsewhere/c.json", []byte(want), environment)
		if err != nil {
			t.Fatalf("got error %v for what was accepted:\n%s", err, want)
		}
		if problems := again.Problems(); len(problems) > 0 {
			t.Fatalf("got problems %v, want none where no variables are left", problems)
		}
		if got := string(encode(t, again)); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}
