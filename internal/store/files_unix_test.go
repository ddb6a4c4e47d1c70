//go:build unix

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/store"
)

// Whatever a link in place of the store leads to keeps its mode, its content and its place.
func TestFaultG55_StoreIsALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other, link := filepath.Join(dir, "other"), filepath.Join(dir, "store.db")
	const text = "a file that everybody reads\n"
	if err := errors.Join(os.WriteFile(other, []byte(text), 0o644), os.Chmod(other, 0o644), os.Symlink("other", link)); err != nil {
		t.Fatal(err)
	}
	var warned []error
	s, err := store.OpenSQLite(t.Context(), link, func(err error) { warned = append(warned, err) }, store.Options{})
	if err == nil {
		closeStore(t, s)
		t.Error("it was opened as a store")
	}
	info, statErr := os.Lstat(other)
	if got, readErr := os.ReadFile(other); errors.Join(statErr, readErr) != nil || info.Mode() != 0o644 || string(got) != text {
		t.Errorf("got %v and %q, %v, %v, want it as it was", info.Mode(), got, statErr, readErr)
	}
	if to, err := os.Readlink(link); err != nil || to != "other" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

// A link to a store, or to where one is to be, is followed; its log and its lock lie beside the store.
func TestLinkedStore(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "store.db")
	target := filepath.Join(t.TempDir(), "kept.db")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	s := openFile(t, link, store.Options{})
	say(t, s, begin(t, s).Conversation, "one")
	if info, err := os.Stat(target); err != nil || info.Mode() != 0o600 {
		t.Errorf("got %v, %v, want a file of ours", info, err)
	}
	if _, err := os.Stat(target + ".lock"); err != nil {
		t.Error(err)
	}
	closeStore(t, s)
	if got := export(t, target, nil); !strings.Contains(got, "said one") {
		t.Errorf("got %.200s, want the turn", got)
	}
}

// A store that others can read is said to be one, and is left as it is: it may be a file of somebody's.
func TestReadableStore(t *testing.T) {
	t.Parallel()
	path := cleanImage(t, t.TempDir())
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	var warned []error
	if _, err := tryExport(t, path, &warned); err != nil || len(warned) != 1 || !strings.Contains(warned[0].Error(), "chmod 600") {
		t.Errorf("got %v and warnings %v, want one of what to do", err, warned)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o644 {
		t.Errorf("got %v, %v, want it as it was", info, err)
	}
}

// A pipe in place of the store, or of what SQLite keeps beside it, is an error at once.
func TestFaultG47_StoreIsAPipe(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".lock"} {
		path := cleanImage(t, t.TempDir())
		_ = os.Remove(path + suffix)
		if err := unix.Mkfifo(path+suffix, 0o600); err != nil {
			t.Fatal(err)
		}
		opened := make(chan struct{})
		go func() {
			defer close(opened)
			if s, err := store.OpenSQLite(t.Context(), path, func(error) {}, store.Options{}); !errors.Is(err, openfile.ErrNotRegular) {
				t.Errorf("%q: got error %v, want that it is not regular", suffix, err)
				if err == nil {
					closeStore(t, s)
				}
			}
		}()
		within(t, "opening with a pipe for "+suffix, opened)
	}
}

// A store that is taken away while it is open stores nothing any more: it would be lost.
func TestTakenAwayWhileOpen(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]bool{"removed": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store.db")
			s := openFile(t, path, store.Options{})
			at := begin(t, s).Conversation
			say(t, s, at, "one")
			if err := os.Rename(path, path+".away"); err != nil {
				t.Fatal(err)
			}
			if replace {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var failed *store.WriteError
			if err := s.Try(t.Context()); !errors.As(err, &failed) || !strings.Contains(err.Error(), "nothing was stored") {
				t.Errorf("got %v, want that nothing was stored", err)
			}
			if err := os.Rename(path+".away", path); err != nil {
				t.Fatal(err)
			}
			say(t, s, at, "two")
		})
	}
}
