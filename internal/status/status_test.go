package status_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shortDir is a folder whose path leaves room for the name of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func listen(t *testing.T, dirs ...string) net.Listener {
	t.Helper()
	ln, err := status.Listen(t.Context(), dirs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

// serve answers on a socket until the test ends.
func serve(t *testing.T, ln net.Listener, now func() status.Workbench) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- status.Serve(ctx, ln, now, status.Answers{Approvals: approval.New("")}) }()
	stopped := false
	stop = func() {
		cancel()
		if !stopped {
			stopped = true
			if err := <-ended; err != nil {
				t.Errorf("Serve: got %v, want nil", err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

func TestListenMakesASocketForItsUserAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are kept elsewhere")
	}
	dir := filepath.Join(shortDir(t), "workbench")
	path := listen(t, dir).Addr().String()
	if want := filepath.Join(dir, fmt.Sprint(os.Getpid(), ".sock")); path != want {
		t.Errorf("got the socket %s, want %s", path, want)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, path: 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: got mode %04o, want %04o", path, got, want)
		}
	}
}

// A folder that will not do is passed over, and said if there is no other.
// A socket that was removed, as all is that a user has in XDG_RUNTIME_DIR when he logs out, is made again, and who is
// connected meanwhile stays so.
func TestSocketIsRemoved(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	ln := listen(t, dir)
	now := func() status.Workbench {
		return status.Workbench{PID: 1, RSS: time.Now().UnixNano(), Dir: time.Now().String()}
	}
	ended := make(chan error, 1)
	go func() { ended <- status.Serve(ctx, ln, now, status.Answers{}) }()
	watched, seen := make(chan error, 1), make(chan struct{}, 1)
	go func() {
		watched <- status.Find([]string{dir})[0].Watch(ctx, func(status.Workbench) {
			select {
			case seen <- struct{}{}:
			default:
			}
		})
	}()
	<-seen
	if err := os.Remove(ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != status.ErrRemoved {
		t.Errorf("got %v, want ErrRemoved", err)
	}
	for range 3 {
		<-seen
	}
	cancel()
	<-watched
}

func TestListenChoosesAFolder(t *testing.T) {
	file := filepath.Join(shortDir(t), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := shortDir(t)
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]struct{ dir, says string }{
		"long":             {filepath.Join(shortDir(t), strings.Repeat("x", 100)), "longer than"},
		"a file":           {file, "not a directory"},
		"open to others":   {open, "others can enter"},
		"below what is no": {filepath.Join(file, "below"), "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && name != "long" {
				t.Skip("said in other words")
			}
			if ln, err := status.Listen(t.Context(), []string{bad.dir}); err == nil {
				_ = ln.Close()
				t.Fatalf("got a socket, want an error with %q", bad.says)
			} else if !strings.Contains(err.Error(), bad.says) {
				t.Errorf("got %v, want an error with %q", err, bad.says)
			}
			good := shortDir(t)
			if got := listen(t, bad.dir, good).Addr().String(); filepath.Dir(got) != good {
				t.Errorf("got the socket %s, want one in %s", got, good)
			}
		})
	}
	if _, err := status.Listen(t.Context(), nil); err == nil {
		t.Error("without a folder: got a socket, want an error")
	}
}

// What dead processes left is removed; what lives, or may be about to, is not.
func TestListenRemovesDeadSockets(t *testing.T) {
	dir := shortDir(t)
	long := time.Now().Add(-time.Minute)
	leave := func(name string, dead bool, age time.Time) string {
		path := filepath.Join(dir, name)
		ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		ln.SetUnlinkOnClose(false)
		if dead {
			_ = ln.Close()
		} else {
			t.Cleanup(func() { _ = ln.Close() })
		}
		if err := os.Chtimes(path, age, age); err != nil {
			t.Fatal(err)
		}
		return path
	}
	dead, living, fresh := leave("1.sock", true, long), leave("2.sock", false, long), leave("3.sock", true, time.Now())
	own := leave(fmt.Sprint(os.Getpid(), ".sock"), true, time.Now())
	other := filepath.Join(dir, "notes.sock")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(other, long, long); err != nil {
		t.Fatal(err)
	}
	if got := listen(t, dir).Addr().String(); got != own {
		t.Errorf("got the socket %s, want %s in place of the dead one", got, own)
	}
	if _, err := os.Lstat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the dead socket is there still (%v)", err)
	}
	for _, path := range []string{living, fresh, other} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s was removed: %v", filepath.Base(path), err)
		}
	}
}

func TestGet(t *testing.T) {
	dir := shortDir(t)
	ln := listen(t, dir)
	stop := serve(t, ln, func() status.Workbench { return status.Workbench{PID: 7, Front: status.Front{Config: "c"}} })
	peers := status.Find([]string{filepath.Join(dir, "none"), dir})
	if len(peers) != 1 {
		t.Fatalf("got %d peers, want 1", len(peers))
	}
	w, err := peers[0].Get(t.Context())
	if err != nil || w.PID != 7 || w.Config != "c" {
		t.Errorf("got %+v, %v, want what the other side says", w, err)
	}
	stop()
	if _, err := peers[0].Get(t.Context()); !errors.Is(err, status.ErrGone) {
		t.Errorf("after its end: got %v, want ErrGone", err)
	}
}

// A workbench that was stopped, and takes requests without ever answering, holds nobody up, whatever it is asked.
func TestHangs(t *testing.T) {
	t.Parallel()
	t.Run("its socket", func(t *testing.T) {
		t.Parallel()
		ln := listen(t, shortDir(t))
		p := status.Find([]string{filepath.Dir(ln.Addr().String())})[0]
		_, err := p.Get(t.Context())
		for slow := (*net.OpError)(nil); errors.As(err, &slow) && slow.Op == "dial"; { // not even connected in time
			_, err = p.Get(t.Context())
		}
		wantHanging(t, "Get", err)
	})
	t.Run("all that it is asked", func(t *testing.T) { synctest.Test(t, testHangs) })
}

func wantHanging(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "its process hangs or is stopped") {
		t.Errorf("%s: got %v, want to be told that it hangs", what, err)
	}
}

func testHangs(t *testing.T) {
	p := status.Peer{}.Through(func() net.Conn {
		ours, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		return ours
	})
	var asked sync.WaitGroup
	for name, ask := range map[string]func() error{
		"Get":         func() error { _, err := p.Get(t.Context()); return err },
		"Watch":       func() error { return p.Watch(t.Context(), func(status.Workbench) {}) },
		"Approvals":   func() error { _, err := p.Approvals(t.Context()); return err },
		"Answer":      func() error { return p.Answer(t.Context(), "id", true) },
		"Calls":       func() error { _, err := p.Calls(t.Context(), calls.Filter{}); return err },
		"Call":        func() error { _, err := p.Call(t.Context(), "id"); return err },
		"FollowCalls": func() error { return p.FollowCalls(t.Context(), calls.Filter{}, nil, nil) },
		"Lines":       func() error { return p.Lines(t.Context(), "t", "s", 0, false, nil) },
		"follow":      func() error { return p.Lines(t.Context(), "t", "s", 0, true, nil) },
		"Restart":     func() error { _, err := p.Restart(t.Context(), "t", "s"); return err },
	} {
		asked.Go(func() {
			began := time.Now()
			wantHanging(t, name, ask())
			if waited := time.Since(began); waited > 10*time.Second {
				t.Errorf("%s waited for %s", name, waited)
			}
		})
	}
	asked.Wait()
}

// A watcher hears the state at once and then of each change, but not that the memory is another, and of the end.
func TestWatch(t *testing.T) {
	t.Parallel()
	ln := listen(t, shortDir(t))
	asked := make(chan status.Workbench)
	stop := serve(t, ln, func() status.Workbench { return <-asked })
	said := make(chan status.Workbench, 10)
	ended := make(chan error, 1)
	go func() {
		ended <- status.Find([]string{filepath.Dir(ln.Addr().String())})[0].Watch(t.Context(), func(w status.Workbench) { said <- w })
	}()
	for _, w := range []status.Workbench{{PID: 1, RSS: 1}, {PID: 1, RSS: 2}, {PID: 2, RSS: 3}} {
		asked <- w
	}
	for _, want := range []status.Workbench{{PID: 1, RSS: 1}, {PID: 2, RSS: 3}} {
		if got := <-said; got.PID != want.PID || got.RSS != want.RSS {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	close(asked) // it may be asking
	stop()
	if err := <-ended; !errors.Is(err, status.ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
}

// What answers in a folder that others can enter is not asked, and what any answers is cleaned.
func TestFaultG88_OthersSocket(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are kept elsewhere")
	}
	const hostile = "a\x1b]0;owned\x07\x1b[31mb\u202ec\n"
	now := func() status.Workbench {
		next := time.Now()
		server := status.Server{Name: hostile, State: hostile, Cause: hostile, Advice: hostile, Notes: []string{hostile}, Next: &next}
		boxes := []status.Toolbox{{Name: hostile, Servers: []status.Server{server}}}
		return status.Workbench{Version: hostile, Address: hostile, ConfigProblem: hostile, Reloaded: &status.Reload{Changed: hostile}, Front: status.Front{
			Config: hostile, Shared: boxes, Sessions: []status.Session{{Client: hostile, Version: hostile, Revision: hostile, Direct: hostile, Toolboxes: boxes}},
			Calls: []status.Calls{{Toolbox: hostile, Server: hostile}},
		}}
	}
	dir := filepath.Join(shortDir(t), "workbench")
	serve(t, listen(t, dir), now)
	peers := status.Find([]string{dir})
	if len(peers) != 1 {
		t.Fatalf("got %d peers, want one", len(peers))
	}
	w, err := peers[0].Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	watched := w
	ctx, stop := context.WithCancel(t.Context())
	_ = peers[0].Watch(ctx, func(w status.Workbench) { watched = w; stop() }) // it ends with ctx
	for _, w := range []status.Workbench{w, watched} {
		if w.Sessions[0].Toolboxes[0].Servers[0].Notes[0] != "abc" {
			t.Errorf("got %+v, want it clean", w)
		}
		if text := fmt.Sprintf("%+v %+v", w, w.Reloaded); strings.ContainsAny(text, "\x1b\u202e\x07") {
			t.Errorf("got %q, want no escape in it", text)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if peers := status.Find([]string{dir}); len(peers) != 0 {
		t.Errorf("got %d peers in a folder that others can enter, want none", len(peers))
	}
}
