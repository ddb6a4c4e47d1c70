package versions_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/versions"
)

func put(text string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(text), nil }
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "none"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A clock that was put back since the last change keeps nobody from the next one, nor from taking both back in their
// order.
func TestFaultG57_ClockIsPutBack(t *testing.T) {
	dir := t.TempDir()
	v, path := versions.New(filepath.Join(dir, "kept")), filepath.Join(dir, "file")
	for i := range 3 {
		if err := v.Change(t.Context(), path, put(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		names, err := filepath.Glob(filepath.Join(dir, "kept", "*", "0*-*-*"))
		if err != nil || len(names) != i+1 {
			t.Fatalf("got the versions %q, %v, want %d", names, err, i+1)
		}
		if last := names[i]; i == 0 {
			folder, name := filepath.Split(last)
			_, rest, _ := strings.Cut(name, "-")
			later := fmt.Sprintf("%020d-%s", time.Now().Add(time.Hour).UnixNano(), rest)
			if err := os.Rename(last, filepath.Join(folder, later)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, want := range []string{"1", "0", "none"} {
		if err := v.Undo(t.Context(), path, false); err != nil || content(t, path) != want {
			t.Fatalf("got %q, %v, want %q", content(t, path), err, want)
		}
	}
}

// A change that cannot be written, as where the disk is full, takes no version away and is not undone.
func TestChangeThatIsNotMade(t *testing.T) {
	dir := t.TempDir()
	v, path := versions.New(filepath.Join(dir, "kept")), filepath.Join(dir, "file")
	for i := range 5 {
		if err := v.Change(t.Context(), path, put(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 7 {
		err := v.Change(t.Context(), path, func([]byte) ([]byte, error) { // a folder that nothing can replace
			return fmt.Append(nil, "lost", i), errors.Join(os.Rename(path, path+".aside"), os.MkdirAll(filepath.Join(path, "folder"), 0o700))
		})
		if err == nil {
			t.Fatal("it was written")
		}
		if err := errors.Join(os.RemoveAll(path), os.Rename(path+".aside", path)); err != nil {
			t.Fatal(err)
		}
	}
	if earlier, err := v.Earlier(path); err != nil || len(earlier) != 5 {
		t.Errorf("got the earlier texts %q, %v", earlier, err)
	}
	for _, want := range []string{"3", "2", "1", "0", "none"} {
		if err := v.Undo(t.Context(), path, false); err != nil || content(t, path) != want {
			t.Fatalf("got %q, %v, want %q", content(t, path), err, want)
		}
	}
}

// Changes are undone one by one, five of them, back to where there was no file if these are all.
func TestUndo(t *testing.T) {
	dir := t.TempDir()
	v, path := versions.New(filepath.Join(dir, "kept")), filepath.Join(dir, "folder", "file")
	for i := range 4 {
		if err := v.Change(t.Context(), path, put(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Change(t.Context(), path, put("3")); err != nil { // the same once more is no change
		t.Fatal(err)
	}
	for _, want := range []string{"2", "1", "0", "none"} {
		if err := v.Undo(t.Context(), path, false); err != nil || content(t, path) != want {
			t.Fatalf("got %q, %v, want %q", content(t, path), err, want)
		}
	}
	if err := v.Undo(t.Context(), path, false); !errors.Is(err, versions.ErrNone) {
		t.Errorf("got error %v, want ErrNone", err)
	}
	for i := range 9 {
		if err := v.Change(t.Context(), path, put(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if texts, err := v.Earlier(path); err != nil || len(texts) != 5 || string(texts[0]) != "7" || string(texts[4]) != "3" {
		t.Errorf("got %q, %v, want the last five", texts, err)
	}
}

// What somebody else wrote is not thrown away.
func TestChangedByHand(t *testing.T) {
	dir := t.TempDir()
	v, path := versions.New(filepath.Join(dir, "kept")), filepath.Join(dir, "file")
	if err := errors.Join(os.WriteFile(path, []byte("mine"), 0o640), os.Chmod(path, 0o640), v.Change(t.Context(), path, put("ours"))); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o640) {
		t.Errorf("got %v, %v, want the mode that the file had", info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("by hand"), 0o640); err != nil {
		t.Fatal(err)
	}
	if texts, err := v.Earlier(path); len(texts) != 0 || err != nil {
		t.Errorf("got %q, %v, want none", texts, err)
	}
	if err := v.Undo(t.Context(), path, false); !errors.Is(err, versions.ErrChanged) || content(t, path) != "by hand" {
		t.Errorf("got %q, %v, want ErrChanged", content(t, path), err)
	}
	if err := v.Undo(t.Context(), path, true); err != nil || content(t, path) != "mine" {
		t.Errorf("got %q, %v", content(t, path), err)
	}
}

// A link that leads to the file stays one.
func TestLink(t *testing.T) {
	dir := t.TempDir()
	link, target := filepath.Join(dir, "link"), filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Skip(err)
	}
	if err := versions.New(filepath.Join(dir, "kept")).Change(t.Context(), link, put("new")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 || content(t, target) != "new" {
		t.Errorf("got %v, %v and %q, want a link and the new text", info, err, content(t, target))
	}
}

// Links that lead to a file which does not exist yet stay, wherever they stand in its path, and undoing takes the file
// away again.
func TestLinkToNothing(t *testing.T) {
	for _, path := range []string{"link", "folder/file", "folder/link", "folder/new/file"} {
		t.Run(path, func(t *testing.T) {
			dir := t.TempDir()
			v, path := versions.New(filepath.Join(dir, "kept")), filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Join(dir, "deep", "down"), 0o700); err != nil {
				t.Fatal(err)
			}
			for link, target := range map[string]string{"link": "deep/new/file", "folder": "deep/down", "deep/down/link": "../file"} {
				if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
					t.Skip(err)
				}
			}
			if err := v.Change(t.Context(), path, put("new")); err != nil || content(t, path) != "new" {
				t.Errorf("got %q, %v, want the new text", content(t, path), err)
			}
			if err := v.Undo(t.Context(), path, false); err != nil || content(t, path) != "none" {
				t.Errorf("got %q, %v, want no file", content(t, path), err)
			}
			for _, link := range []string{"link", "folder", "deep/down/link"} {
				if info, err := os.Lstat(filepath.Join(dir, link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
					t.Errorf("%s: got %v, %v, want a link", link, info, err)
				}
			}
		})
	}
	path := filepath.Join(t.TempDir(), "circle")
	if err := os.Symlink("circle", path); err != nil {
		t.Skip(err)
	}
	if err := versions.New(filepath.Join(t.TempDir(), "kept")).Change(t.Context(), path, put("new")); err == nil {
		t.Error("a link that leads to itself was replaced")
	}
}

// A change that fails, or that several make at once, loses nothing.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			v := versions.New(filepath.Join(dir, "kept")) // as a process of its own has
			err := v.Change(t.Context(), path, func(old []byte) ([]byte, error) { return fmt.Appendf(old, "%d\n", i), nil })
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := strings.Count(content(t, path), "\n"); got != 8 {
		t.Errorf("got %d lines, want 8", got)
	}
	failed := errors.New("failed")
	v := versions.New(filepath.Join(dir, "kept"))
	if err := v.Change(t.Context(), path, func([]byte) ([]byte, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("got error %v", err)
	}
	if err := v.Change(t.Context(), dir, put("x")); err == nil {
		t.Error("a folder was replaced")
	}
}
