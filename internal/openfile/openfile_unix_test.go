//go:build unix

package openfile_test

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/openfile"
)

// What is no regular file is refused in every way of opening, at once and without being changed.
func TestFaultG47_NotRegular(t *testing.T) {
	dir := t.TempDir()
	kinds := map[string]string{"pipe": dir + "/pipe", "socket": dir + "/socket", "folder": dir + "/folder", "device": "/dev/zero", "link to a pipe": dir + "/link"}
	if err := errors.Join(unix.Mkfifo(kinds["pipe"], 0o600), os.Mkdir(kinds["folder"], 0o700), os.Symlink("pipe", kinds["link to a pipe"])); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("unix", kinds["socket"])
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ways := map[string]func(path string) error{
		"Open":        func(path string) error { _, _, err := openfile.Open(path); return err },
		"Read":        func(path string) error { _, _, err := openfile.Read(path, 10); return err },
		"ReadTrusted": func(path string) error { _, _, err := openfile.ReadTrusted(path, 10); return err },
		"Make":        func(path string) error { _, _, err := openfile.Make(path); return err },
		"Append":      func(path string) error { _, err := openfile.Append(path); return err },
		"Folder":      func(path string) error { return openInFolder(dir, path) },
		"Replace":     func(path string) error { return openfile.Replace(path, nil) },
		"Cache":       func(path string) error { return openfile.Cache(path, nil) },
	}
	for kind, path := range kinds {
		for way, try := range ways {
			if kind == "device" && (way == "Append" || way == "Folder" || way == "Replace" || way == "Cache") || kind == "folder" && way == "Folder" {
				continue // a log may go to a device; a folder has folders in it, and nothing of /dev; and that one is needed
			}
			if err := within(t, way+" of a "+kind, func() error { return try(path) }); !errors.Is(err, openfile.ErrNotRegular) {
				t.Errorf("%s of a %s: got error %v, want that it is not regular", way, kind, err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
				t.Fatalf("%s of a %s: a file is in its place, or nothing (%v)", way, kind, err)
			}
		}
	}
}

func openInFolder(dir, path string) error {
	folder, err := openfile.OpenFolder(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	_, err = fs.ReadFile(folder.FS(), filepath.Base(path))
	if err != nil && strings.HasSuffix(path, "socket") {
		return openfile.ErrNotRegular // the system has a reason of its own
	}
	return err
}

// within fails the test if something waits.
func within(t *testing.T, what string, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s waits", what)
		return nil
	}
}

// A pipe that the caller of the program has handed over is read, and one that nobody writes to holds nothing up.
func TestHandedOver(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := "/dev/fd/" + strconv.Itoa(int(r.Fd()))
	go func() {
		_, _ = io.WriteString(w, "piped")
		_ = w.Close()
	}()
	if got, _, err := openfile.ReadTrusted(path, 10); err != nil || string(got) != "piped" {
		t.Errorf("got %q, %v, want what was written", got, err)
	}
	if got, _, err := openfile.Read(path, 10); err != nil || len(got) != 0 {
		t.Errorf("again: got %q, %v, want nothing", got, err)
	}
}

// What a log goes to may be a device.
func TestAppendToADevice(t *testing.T) {
	f, err := openfile.Append(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}

// What is appended after a line that was written in part is a line of its own.
func TestAppendAfterATornLine(t *testing.T) {
	for before, want := range map[string]string{"": "new\n", "old\n": "old\nnew\n", "old\nto": "old\nto\nnew\n"} {
		path := t.TempDir() + "/log"
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := openfile.Append(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString("new\n")
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("after %q: got %q, %v, want %q", before, got, err, want)
		}
	}
}

// What the group may read or write is as little this user's alone as what everybody may.
func TestPrivate(t *testing.T) {
	path := t.TempDir() + "/file"
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[fs.FileMode]bool{0o600: true, 0o700: true, 0: true, 0o640: false, 0o620: false, 0o604: false, 0o602: false, 0o601: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := openfile.Private(info); got != want {
			t.Errorf("%v: got private %t, want %t", mode, got, want)
		}
	}
}

// The mode of a file that was there stays, also where a link leads to it.
func TestModes(t *testing.T) {
	dir := t.TempDir()
	there, link, fresh := dir+"/there", dir+"/link", dir+"/fresh"
	if err := errors.Join(os.WriteFile(there, []byte("x"), 0o644), os.Chmod(there, 0o644), os.Symlink("there", link)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path string
		made bool
		mode fs.FileMode
	}{{there, false, 0o644}, {link, false, 0o644}, {fresh, true, 0o600}, {fresh, false, 0o600}} {
		f, made, err := openfile.Make(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		info, err := os.Stat(tt.path)
		if err != nil || made != tt.made || info.Mode() != tt.mode {
			t.Errorf("%s: got made %t, mode %v, %v, want %t and %v", tt.path, made, info.Mode(), err, tt.made, tt.mode)
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _, err := openfile.Read(path, 10); err != nil || string(got) != "0123456789" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, _, err := openfile.Read(path, 9); err == nil || !strings.Contains(err.Error(), "at most 9 bytes") {
		t.Errorf("got error %v, want that it is too long", err)
	}
}

// Of two that put a file where none is, the first wins, also where there are no links.
func TestPutNew(t *testing.T) {
	for name, put := range map[string]func(path string, data []byte) error{
		"with links": openfile.PutNew,
		"without links": func(path string, data []byte) error {
			return openfile.PutNewWith(path, data, func(from, to string) error { return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := put(path, []byte("one")); err != nil {
				t.Fatal(err)
			}
			if err := put(path, []byte("two")); !errors.Is(err, fs.ErrExist) {
				t.Errorf("got error %v, want that it is there", err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != "one" {
				t.Errorf("got %q, %v", got, err)
			}
			alone(t, path)
			if err := put(filepath.Join(t.TempDir(), "none", "file"), nil); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("no folder: got error %v", err)
			}
		})
	}
}

// What is there already, be it a file or a link to none, is not written by who wants a new file.
func TestMakeNewTakesNothing(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("kept"), 0o600), os.Symlink(filepath.Join(dir, "none"), link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		if f, err := openfile.MakeNew(path, 0o600); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: got %v and error %v, want fs.ErrExist", path, f, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no file behind the link", err)
	}
}

// Who may not read a file may not run it either.
func TestLetRunWhoMayRead(t *testing.T) {
	for mode, want := range map[fs.FileMode]fs.FileMode{0o600: 0o700, 0o640: 0o750, 0o644: 0o755, 0o604: 0o705} {
		path := filepath.Join(t.TempDir(), "file")
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, mode), openfile.LetRun(path)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%v: got %v, want %v", mode, info.Mode(), want)
		}
	}
}
