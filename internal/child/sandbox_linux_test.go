package child_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/sandbox"
)

// place is where the tries of a sandbox take place.
type place struct {
	request sandbox.Request
	args    []string
}

func newPlace(t *testing.T) place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, folder := range []string{"outside/.ssh", "work", "readable"} {
		if err := os.MkdirAll(in(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"outside/.ssh/id_ed25519": 0o600, "outside/file": 0o666, "readable/file": 0o666, "outside/program": 0o755} {
		if err := os.WriteFile(in(name), []byte("#!/bin/sh\nexit 0\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	short, err := os.MkdirTemp("", "wb") // the path of a socket is to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	listen := func(network, address string) string {
		ln, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ln.Close() })
		return ln.Addr().String()
	}
	leak, err := unix.Open(in("outside/file"), unix.O_RDONLY, 0) // not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	high, err := unix.FcntlInt(uintptr(leak), unix.F_DUPFD, 900)
	unix.Close(leak)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(high) })
	abstract := "@" + filepath.Base(short)
	p := place{
		request: sandbox.Request{Program: os.Args[0], Dir: in("work"), Env: os.Environ(), Home: in("outside"), Own: in("own"), Workspace: true, Read: []string{in("readable")}},
		args: []string{"outside=" + in("outside"), "work=" + in("work"), "readable=" + in("readable"), fmt.Sprint("pid=", os.Getpid()), fmt.Sprint("leak=", high),
			"tcp=" + listen("tcp", "127.0.0.1:0"), "othertcp=" + listen("tcp", "127.0.0.1:0"),
			"unix=" + listen("unix", filepath.Join(short, "s")), "abstract=" + listen("unix", abstract)},
	}
	if err := p.request.Prepare(); err != nil {
		t.Fatal(err)
	}
	return p
}

// attempt has a child try everything, and returns what came of each.
func (p place) attempt(t *testing.T, start func(child.Spec) (*child.Process, error), rules *sandbox.Rules) map[string]string {
	t.Helper()
	s := spec("attempts", p.args...)
	s.Dir, s.Sandbox = p.request.Dir, rules
	proc := mustStart(t, start, s)
	out, err := io.ReadAll(proc.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	waitDone(t, proc)
	stop(t, proc, child.Grace{})
	results := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		name, result, _ := strings.Cut(strings.TrimSpace(line), ": ")
		results[name] = result
	}
	if len(results) < 50 {
		t.Fatalf("got %d results, %q, tail %q", len(results), out, proc.Tail())
	}
	return results
}

// What rules say is allowed or denied by the kernel that runs, whatever is tried.
func TestSandbox(t *testing.T) {
	g := newGuard(t)
	always := []string{
		"read a file of the system", "read what is allowed", "write in the workspace", "make a folder in the workspace",
		"rename between folders of the workspace", "signal itself", "make a pair of sockets", "run a program of the system",
	}
	for _, tt := range []struct {
		name    string
		change  func(*sandbox.Rules, map[string]string)
		allowed []string // besides
	}{
		{"no network", func(*sandbox.Rules, map[string]string) {}, nil},
		{"one port", func(r *sandbox.Rules, at map[string]string) {
			_, port, _ := net.SplitHostPort(at["tcp"])
			var n uint16
			fmt.Sscan(port, &n)
			r.Ports = []uint16{n}
		}, []string{"connect to a port"}},
		{"network", func(r *sandbox.Rules, _ map[string]string) { r.Network = true }, []string{
			"connect to a port", "connect to another port", "listen on a port", "send a datagram", "make a socket of another TCP", "make a socket of the machine",
			"send to another port and so connect", "send a message to another port and so connect", "send messages to another port and so connect",
		}},
		{"sockets of the file system", func(r *sandbox.Rules, _ map[string]string) { r.Unix = true }, []string{"connect to a socket in a folder"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			plan, err := sandbox.NewPlan(p.request)
			if err != nil {
				t.Fatal(err)
			}
			if missing := plan.Rules.Missing(); missing != nil {
				t.Skipf("the kernel lacks %q", missing)
			}
			at := make(map[string]string)
			for _, arg := range p.args {
				name, value, _ := strings.Cut(arg, "=")
				at[name] = value
			}
			tt.change(&plan.Rules, at)
			allowed := make(map[string]bool)
			for _, name := range append(append([]string{}, always...), tt.allowed...) {
				allowed[name] = true
			}
			for name, result := range p.attempt(t, g.Start, &plan.Rules) {
				if got := result == "done"; got != allowed[name] && result != "not known to the system" {
					t.Errorf("%s: got %s, want it allowed: %t", name, result, allowed[name])
				}
			}
			if data, err := os.ReadFile(filepath.Join(at["outside"], "file")); err != nil || len(data) < 5 {
				t.Errorf("a file outside was changed: %q, %v", data, err)
			}
		})
	}
}

// Without rules nearly all of the same tries succeed: that they fail in a sandbox shows something.
func TestSandboxIsTheReason(t *testing.T) {
	p := newPlace(t)
	var denied []string
	for name, result := range p.attempt(t, newGuard(t).Start, nil) {
		if result != "done" {
			denied = append(denied, name+": "+result)
		}
	}
	if len(denied) > 16 {
		t.Errorf("got %d of the tries denied without a sandbox:\n%s", len(denied), strings.Join(denied, "\n"))
	}
}

// The thread that a process was started on lives as long as the process does, and others are started unconfined
// meanwhile.
func TestSandboxBesideOthers(t *testing.T) {
	p := newPlace(t)
	plan, err := sandbox.NewPlan(p.request)
	if err != nil {
		t.Fatal(err)
	}
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		s := spec("echo")
		s.Dir, s.Sandbox = p.request.Dir, &plan.Rules
		confined := mustStart(t, start, s)
		for range 20 {
			free := spec("dir")
			free.Dir = filepath.Dir(p.request.Dir)
			proc := mustStart(t, start, free)
			_ = output(t, proc) // what nobody reads holds the end up
			if got := waitDone(t, proc); got.Code != 0 {
				t.Fatalf("a process without a sandbox: got %v", got)
			}
			stop(t, proc, child.Grace{})
		}
		if !alive(confined.PID()) {
			t.Error("the process in the sandbox is gone")
		}
		stop(t, confined, child.Grace{})
	})
}
