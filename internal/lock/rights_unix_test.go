//go:build unix

package lock_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcp-workbench/workbench/internal/lock"
)

// A lock file that other users can write is an error, and nothing of it is agreed to.
func TestFileOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), lock.Name)
	if err := sample().Write(path); err != nil {
		t.Fatal(err)
	}
	if f, err := lock.Open(path).File(); err != nil || len(f.Servers()) == 0 {
		t.Fatalf("its own: got %v, %v", f, err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if f, err := lock.Open(path).File(); err == nil || f != nil {
		t.Errorf("got %v, %v, want an error", f, err)
	}
}
