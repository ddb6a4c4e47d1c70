package openfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mcp-workbench/workbench/internal/openfile"
)

func TestReplaces(t *testing.T) {
	for name, put := range map[string]func(path string, data []byte) error{"Replace": openfile.Replace, "Cache": openfile.Cache} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte("what was there, and longer"), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"one", "two"} {
				if err := put(path, []byte(want)); err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(path); err != nil || string(got) != want {
					t.Errorf("got %q, %v, want %q", got, err, want)
				}
			}
			if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
				t.Errorf("got %v, %v, want mode 0600", info, err)
			}
			alone(t, path)
		})
	}
}

// What fails leaves the file that was there, and nothing else.
func TestFailures(t *testing.T) {
	failed := errors.New("failed")
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := openfile.Replace(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	err := openfile.Write(path, func(f *os.File) error {
		_, _ = f.WriteString("half")
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("got error %v, want the one of what wrote", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("got %q, %v, want what was there", got, err)
	}
	alone(t, path)

	if err := os.MkdirAll(filepath.Join(dir, "folder", "in it"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := openfile.Replace(filepath.Join(dir, "folder"), nil); err == nil {
		t.Error("a folder was replaced")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, openfile.Prefix+"*")); len(left) > 0 {
		t.Errorf("got %q left over", left)
	}
	if err := openfile.Replace(filepath.Join(dir, "no", "such", "folder"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got error %v, want that the folder is not there", err)
	}
}

// alone fails the test if there is anything beside the file.
func alone(t *testing.T, path string) {
	t.Helper()
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("got %v, %v, want one file", all, err)
	}
}
