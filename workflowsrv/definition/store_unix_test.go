//go:build unix

package definition_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// TestOutside makes sure that no link leads out of a directory, that links inside are followed, and that nothing waits
// for a pipe.
func TestOutside(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "in")
	write(t, filepath.Join(top, "out"), "secret.json", workflow("secret", "outside"))
	write(t, filepath.Join(dir, "below"), "real.json", workflow("real", "inside"))
	for name, target := range map[string]string{
		"inside.json":   filepath.Join("below", "real.json"),
		"relative.json": filepath.Join("..", "out", "secret.json"),
		"absolute.json": filepath.Join(top, "out", "secret.json"),
		"dead.json":     "nowhere.json",
		"loop.json":     "loop.json",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.json"), 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "big.json", strings.Repeat("x", definition.MaxFileSize+1))
	write(t, dir, "locked.json", workflow("locked", "l"))
	if err := os.Chmod(filepath.Join(dir, "locked.json"), 0); err != nil {
		t.Fatal(err)
	}
	got := summary(definition.NewStore(definition.Layers{Dirs: []string{dir}}.Sources()).Catalogue())
	want := `real "inside" config inside.json
invalid config absolute.json "absolute" outside: path escapes from parent
invalid config big.json "big" unreadable: the file has 1048577 bytes; at most 1048576 are read
invalid config dead.json "dead" unreadable: the link leads to nothing
invalid config locked.json "locked" unreadable: permission denied
invalid config loop.json "loop" unreadable: too many levels of symbolic links
invalid config pipe.json "pipe" unreadable: not a regular file
invalid config relative.json "relative" outside: path escapes from parent
`
	if os.Getuid() == 0 {
		// Nothing is locked for root.
		want = strings.Replace(want, "invalid config locked.json \"locked\" unreadable: permission denied\n", "", 1)
		want = "locked \"l\" config locked.json\n" + want
	}
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A file that could not be read is read when that can be done, though nothing else of it has changed.
func TestUnlocked(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("nothing is locked for root")
	}
	dir := t.TempDir()
	write(t, dir, "locked.json", workflow("locked", "l"))
	path, before := filepath.Join(dir, "locked.json"), time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chtimes(path, before, before), os.Chmod(path, 0)); err != nil {
		t.Fatal(err)
	}
	store := definition.NewStore(definition.Layers{Dirs: []string{dir}}.Sources())
	if got, want := summary(store.Catalogue()), "invalid config locked.json \"locked\" unreadable: permission denied\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	want := "locked \"l\" config locked.json\n"
	for end := time.Now().Add(2 * time.Minute); summary(store.Catalogue()) != want; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("got %q, want %q", summary(store.Catalogue()), want)
		}
	}
}
