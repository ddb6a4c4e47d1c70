package filewatch

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	do(t, os.WriteFile(path, []byte(text), 0o600))
}

// A watch ends its waiting for a first look, for a change of what it follows, and for who asks.
func TestWait(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	w := New([]string{filepath.Join(dir, "missing", "file")}, func(err error) { t.Errorf("changes may be missed: %v", err) })
	defer w.Close()
	asks := make(chan struct{}, 1)
	wait := func(why string, want bool) {
		t.Helper()
		asked, err := w.Wait(ctx, asks)
		for want && !asked && err == nil { // a change may be noticed in two steps
			asked, err = w.Wait(ctx, asks)
		}
		if err != nil || asked != want {
			t.Errorf("%s: got %v and %v, want that somebody has asked: %v", why, asked, err, want)
		}
	}
	wait("a first look", false)
	do(t, os.Mkdir(filepath.Join(dir, "missing"), 0o700))
	wait("its folder is there", false)
	put(t, filepath.Join(dir, "missing", "file"), "")
	wait("it is there", false)
	w.Follow([]string{filepath.Join(dir, "other")})
	wait("another file is followed", false)
	put(t, filepath.Join(dir, "other"), "")
	wait("that is there", false)
	asks <- struct{}{}
	wait("somebody asks", true)
	cancel()
	if _, err := w.Wait(ctx, asks); err != context.Canceled {
		t.Errorf("got %v, want the end of the context", err)
	}
}

// Where nothing is told of changes, as on a network file system, they are found all the same.
func TestNothingIsTold(t *testing.T) {
	synctest.Test(t, testNothingIsTold)
}

func testNothingIsTold(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	path := filepath.Join(t.TempDir(), "file")
	w := New([]string{path}, func(err error) { t.Errorf("changes may be missed: %v", err) })
	defer w.Close()
	for _, change := range []func(){
		func() {}, // for the first look
		func() { put(t, path, "") },
		func() { put(t, path, "more") },
		func() { do(t, os.Remove(path)) },
	} {
		_ = w.from.Close()
		w.from = &fsnotify.Watcher{}
		change()
		if _, err := w.Wait(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// A watch goes on where files are made and removed all the time, also in the moment in which it is renewed.
func TestBusyFolder(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	w := New([]string{filepath.Join(dir, "file")}, func(err error) { t.Errorf("changes may be missed: %v", err) })
	defer w.Close()
	busy, stop := context.WithCancel(ctx)
	var others sync.WaitGroup
	others.Go(func() {
		for i := 0; busy.Err() == nil; i++ {
			other := filepath.Join(dir, strconv.Itoa(i%10))
			if err := os.WriteFile(other, nil, 0o600); err != nil {
				t.Error(err)
			}
			_ = os.Remove(other) // a scanner of viruses may have it open
		}
	})
	asks := make(chan struct{}, 1)
	for range 50 {
		asks <- struct{}{}
		for asked := false; !asked; {
			var err error
			if asked, err = w.Wait(ctx, asks); err != nil {
				t.Fatal(err)
			}
		}
	}
	stop()
	others.Wait()
	put(t, filepath.Join(dir, "file"), "")
	if _, err := w.Wait(ctx, asks); err != nil {
		t.Error(err)
	}
}

func TestPlaces(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	do(t, err)
	do(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700))
	put(t, filepath.Join(dir, "a", "b", "file"), "")
	do(t, os.Symlink("b", filepath.Join(dir, "a", "near")))
	do(t, os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "far")))
	do(t, os.Symlink("../far/near/file", filepath.Join(dir, "a", "up")))
	do(t, os.Symlink("circle", filepath.Join(dir, "circle")))
	tests := []struct {
		path string
		want []string
	}{
		{"a/b/file", []string{"a/b/file"}},
		{"a/near/file", []string{"a/near", "a/b/file"}},
		{"far/near/file", []string{"far", "a/near", "a/b/file"}},
		{"a/up", []string{"a/up", "far", "a/near", "a/b/file"}},
		{"a/missing/file", []string{"a/missing"}},
		{"a/b/missing", []string{"a/b/missing"}},
	}
	for _, test := range tests {
		var want []string
		for _, path := range test.want {
			want = append(want, filepath.Join(dir, path))
		}
		if got := places(filepath.Join(dir, test.path)); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", test.path, got, want)
		}
	}
	if got := places(filepath.Join(dir, "circle")); len(got) != maxLinks {
		t.Errorf("a circle: got %d places, want %d", len(got), maxLinks)
	}
}
