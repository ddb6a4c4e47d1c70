//go:build unix

package envfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/envfile"
)

// Variables decide what is run as much as the configuration does: a file that others can change is not read.
func TestFileOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vars.env")
	if err := os.WriteFile(path, []byte("NODE_OPTIONS=--require=/tmp/x.js\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]string{0o640: "", 0o666: "can be written by everybody"} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		vars, err := envfile.Read(path)
		if want == "" && (err != nil || len(vars) != 1) || want != "" && (err == nil || vars != nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%04o: got %v, %v, want %q", mode, vars, err, want)
		}
	}
}
