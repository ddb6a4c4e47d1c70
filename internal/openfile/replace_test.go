package openfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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

// A loss of power leaves no name without what it leads to: what lies in a file is synced before its name leads there,
// and then the folder with the name. What cannot be synced is not put there.
func TestLasts(t *testing.T) {
	noLink := func(from, to string) error {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: errors.ErrUnsupported}
	}
	for name, put := range map[string]func(path string, data []byte, sync func(*os.File) error) error{
		"Write": openfile.WriteOn,
		"PutNew": func(path string, data []byte, sync func(*os.File) error) error {
			return openfile.PutNewOn(path, data, os.Link, sync)
		},
		"PutNew without links": func(path string, data []byte, sync func(*os.File) error) error {
			return openfile.PutNewOn(path, data, noLink, sync)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, data := filepath.Join(t.TempDir(), "file"), []byte("what is kept")
			broken := errors.New("broken")
			if err := put(path, data, func(*os.File) error { return broken }); !errors.Is(err, broken) {
				t.Errorf("got error %v, want that of the disk", err)
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("got %v, want nothing where nothing was synced", err)
			}
			var synced []os.FileInfo
			err := put(path, data, func(f *os.File) error {
				info, err := f.Stat()
				if there, _ := os.Stat(path); (there != nil) != info.IsDir() {
					t.Errorf("%s was synced when the file was there: %t", f.Name(), there != nil)
				}
				synced = append(synced, info)
				return err
			})
			there, statErr := os.Stat(path)
			if err != nil || statErr != nil {
				t.Fatal(err, statErr)
			}
			want := 2
			if runtime.GOOS == "windows" { // which has no way to sync a folder
				want = 1
			}
			if len(synced) != want || synced[0].Size() != int64(len(data)) || !os.SameFile(synced[0], there) {
				t.Errorf("got %d synced, want %d, and first the file with all that is in it", len(synced), want)
			}
		})
	}
}

// All that is in a folder is synced before the folder gets its name.
func TestSettles(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(openfile.MakeFolder(filepath.Join(dir, "a", "b"), 0o700), openfile.Replace(filepath.Join(dir, "a", "b", "c"), nil)); err != nil {
		t.Fatal(err)
	}
	want := []string{dir, filepath.Join(dir, "a"), filepath.Join(dir, "a", "b"), filepath.Join(dir, "a", "b", "c")}
	if runtime.GOOS == "windows" {
		want = want[3:]
	}
	var got []string
	err := openfile.SettleOn(dir, func(f *os.File) error {
		got = append(got, f.Name())
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
