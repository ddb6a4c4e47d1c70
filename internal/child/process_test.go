//go:build unix

package child_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

// patience bounds every wait of these tests; none of them passes or fails by how long something took below it.
const patience = 2 * time.Minute

// starts are the ways to start a process; each behaviour holds for all of them.
func starts(t *testing.T, test func(t *testing.T, start func(child.Spec) (*child.Process, error))) {
	t.Run("plain", func(t *testing.T) { test(t, child.Start) })
	t.Run("guard", func(t *testing.T) { test(t, newGuard(t).Start) })
}

func newGuard(t *testing.T) *child.Guard {
	g := child.NewGuard([]string{os.Args[0], "helper", "guard"})
	t.Cleanup(g.Close)
	return g
}

func spec(mode string, args ...string) child.Spec {
	return child.Spec{Command: os.Args[0], Args: append([]string{"helper", mode}, args...)}
}

func mustStart(t *testing.T, start func(child.Spec) (*child.Process, error), s child.Spec) *child.Process {
	t.Helper()
	p, err := start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, p, child.Grace{EOF: -1, Term: -1}) })
	return p
}

func stop(t *testing.T, p *child.Process, grace child.Grace) {
	t.Helper()
	if err := p.Stop(t.Context(), grace); err != nil {
		t.Error("Stop:", err)
	}
}

func waitDone(t *testing.T, p *child.Process) child.Exit {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(patience):
		t.Errorf("process %d did not end", p.PID())
	}
	return p.Exit()
}

// output reads stdout to its end, which may be a deadline.
func output(t *testing.T, p *child.Process) string {
	t.Helper()
	b, err := io.ReadAll(p.Stdout())
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("reading stdout:", err)
	}
	return string(b)
}

// relative reads the number that a helper announced.
func relative(t *testing.T, p *child.Process) int {
	t.Helper()
	p.Stdout().SetReadDeadline(time.Now().Add(patience))
	line, err := bufio.NewReader(p.Stdout()).ReadString('\n')
	if err != nil {
		t.Fatal("reading a pid:", err)
	}
	p.Stdout().SetReadDeadline(time.Time{})
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func waitGone(t *testing.T, pids ...int) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		if pids = slices.DeleteFunc(pids, func(pid int) bool { return !alive(pid) }); len(pids) == 0 {
			return
		}
		if time.Now().After(end) {
			for _, pid := range pids {
				unix.Kill(pid, unix.SIGKILL)
			}
			t.Fatalf("still alive: %v", pids)
		}
	}
}

func TestExit(t *testing.T) {
	tests := []struct {
		name         string
		mode, arg    string
		code         int
		signal, text string
	}{
		{"success", "exit", "0", 0, "", "exit status 0"},
		{"failure", "exit", "3", 3, "", "exit status 3"},
		{"killed", "signal", "9", -1, "SIGKILL", "killed by signal 9 (SIGKILL)"},
		{"terminated", "signal", "15", -1, "SIGTERM", "killed by signal 15 (SIGTERM)"},
	}
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				p := mustStart(t, start, spec(test.mode, test.arg))
				got := waitDone(t, p)
				if got.Code != test.code || got.Signal != test.signal || got.Asked || got.At.IsZero() {
					t.Errorf("got %+v, want code %d, signal %q, not asked", got, test.code, test.signal)
				}
				if got.String() != test.text {
					t.Errorf("got %q, want %q", got, test.text)
				}
			})
		}
	})
}

func TestGivenExactly(t *testing.T) {
	t.Setenv("SECRET_OF_OURS", "canary")
	dir, err := os.MkdirTemp("", "child")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(dir)
	tests := []struct {
		name string
		spec child.Spec
		want string
	}{
		{"environment", child.Spec{Args: []string{"helper", "env"}, Env: []string{"B=2", "A=", "C=\xff=x"}}, "B=2\nA=\nC=\xff=x"},
		{"no environment", child.Spec{Args: []string{"helper", "env"}}, ""},
		{"arguments", child.Spec{Args: []string{"helper", "args", "a b", "", "$HOME", "*", "\xfe"}}, `["a b" "" "$HOME" "*" "\xfe"]`},
		{"directory", child.Spec{Args: []string{"helper", "dir"}, Dir: dir}, dir},
	}
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				test.spec.Command = os.Args[0]
				p := mustStart(t, start, test.spec)
				if got := output(t, p); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		}
	})
}

func TestEcho(t *testing.T) {
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		p := mustStart(t, start, spec("echo"))
		sent := strings.Repeat("0123456789abcdef", 1<<16) // a pipe full at least
		go func() {
			io.WriteString(p.Stdin(), sent)
			p.Stdin().Close()
		}()
		if got := output(t, p); got != sent {
			t.Errorf("got %d bytes, want the %d sent", len(got), len(sent))
		}
	})
}

func TestDeadlines(t *testing.T) {
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		p := mustStart(t, start, spec("stubborn"))
		relative(t, p)
		soon := time.Now().Add(10 * time.Millisecond)
		if err := p.Stdin().SetWriteDeadline(soon); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Stdin().Write(make([]byte, 8<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("write to a process that does not read: got %v, want a time-out", err)
		}
		if err := p.Stdout().SetReadDeadline(soon); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Stdout().Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read from a process that does not write: got %v, want a time-out", err)
		}
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	const never = time.Hour
	tests := []struct {
		name   string
		mode   []string
		grace  child.Grace
		signal string
	}{
		{"ends at EOF", []string{"echo"}, child.Grace{EOF: never, Term: never}, ""},
		{"ends at SIGTERM", []string{"sleep"}, child.Grace{EOF: -1, Term: never}, "SIGTERM"},
		{"ignores both", []string{"stubborn"}, child.Grace{EOF: -1, Term: 50 * time.Millisecond}, "SIGKILL"},
		{"defaults", []string{"echo"}, child.Grace{}, ""},
		{"wrapper ends at EOF, server at SIGTERM", []string{"family", "eof"}, child.Grace{EOF: never, Term: never}, ""},
		{"wrapper ends at EOF, server ignores SIGTERM", []string{"family", "eof", "stubborn"}, child.Grace{EOF: never, Term: 50 * time.Millisecond}, ""},
		{"wrapper ends at EOF, server in its own session", []string{"family", "eof", "setsid"}, child.Grace{EOF: never, Term: never}, ""},
		{"grandchild", []string{"family", "stay"}, child.Grace{EOF: -1, Term: never}, "SIGTERM"},
		{"stubborn grandchild", []string{"family", "stay", "stubborn"}, child.Grace{EOF: -1, Term: 50 * time.Millisecond}, "SIGKILL"},
		{"grandchild in its own session", []string{"family", "stay", "setsid"}, child.Grace{EOF: -1, Term: never}, "SIGTERM"},
		{"stubborn grandchild in its own session", []string{"family", "stay", "setsid", "stubborn"}, child.Grace{EOF: -1, Term: 50 * time.Millisecond}, "SIGKILL"},
	}
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				p := mustStart(t, start, spec(test.mode[0], test.mode[1:]...))
				pids := []int{p.PID()}
				if test.mode[0] != "echo" {
					pids = append(pids, relative(t, p))
				}
				stop(t, p, test.grace)
				for _, pid := range pids {
					if alive(pid) {
						t.Errorf("%d is alive after Stop", pid)
					}
				}
				if got := waitDone(t, p); got.Signal != test.signal || !got.Asked {
					t.Errorf("got %+v, want signal %q, asked", got, test.signal)
				}
			})
		}
	})
}

func TestStopIsHurried(t *testing.T) {
	t.Parallel()
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		p := mustStart(t, start, spec("stubborn"))
		relative(t, p)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { stop(t, p, child.Grace{EOF: time.Hour, Term: time.Hour}) })
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.Stop(ctx, child.Grace{EOF: time.Hour, Term: time.Hour}); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if got := waitDone(t, p); got.Signal != "SIGKILL" {
			t.Errorf("got %v, want SIGKILL", got)
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 10 {
					want := strconv.Itoa(10*i + j)
					p, err := start(child.Spec{Command: "/bin/sh", Args: []string{"-c", "read x; echo $x; exit $x"}})
					if err != nil {
						t.Error(err)
						return
					}
					io.WriteString(p.Stdin(), want+"\n")
					if got := output(t, p); got != want+"\n" {
						t.Errorf("got %q, want %q", got, want)
					}
					if got := strconv.Itoa(waitDone(t, p).Code); got != want {
						t.Errorf("exit status: got %s, want %s", got, want)
					}
					stop(t, p, child.Grace{})
				}
			})
		}
		wg.Wait()
	})
}

// A descendant that holds stdout and stderr must not keep the end of the process from being seen.
func TestCrashLeavesNothing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		traits []string
	}{
		{"grandchild", nil},
		{"stubborn grandchild", []string{"stubborn"}},
		{"orphan", []string{"double"}},
		{"grandchild in its own session", []string{"setsid"}},
		{"orphan in its own session", []string{"double", "setsid"}},
	}
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		plain := strings.HasSuffix(t.Name(), "/plain")
		for _, test := range tests {
			if (plain || seesNoOrphans) && slices.Contains(test.traits, "setsid") {
				continue // an orphan by the time anybody looks; finding it takes a guard
			}
			t.Run(test.name, func(t *testing.T) {
				p := mustStart(t, start, spec("family", append([]string{"crash"}, test.traits...)...))
				pid := relative(t, p)
				if got := waitDone(t, p); got.Code != 3 || got.Asked {
					t.Errorf("got %+v, want exit status 3, not asked", got)
				}
				output(t, p) // ends
				waitGone(t, pid)
				stop(t, p, child.Grace{})
				if got := p.Exit(); got.Asked {
					t.Error("Stop after the end must not make it asked for")
				}
			})
		}
	})
}

func TestLastAnswerIsRead(t *testing.T) {
	t.Parallel()
	const size = 60 << 10 // fits into any pipe
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		p := mustStart(t, start, spec("gulp", strconv.Itoa(size)))
		waitDone(t, p)
		got := 0
		for buf := make([]byte, size/10); ; time.Sleep(50 * time.Millisecond) { // a slow reader: 500 ms and more
			n, err := p.Stdout().Read(buf)
			got += n
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if got != size {
			t.Errorf("got %d bytes, want %d", got, size)
		}
	})
}

func TestTail(t *testing.T) {
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		t.Run("of a crash", func(t *testing.T) {
			asked := make(chan struct{})
			s := spec("exit", "7")
			s.StderrLine = func(line foreign.Text) {
				if line.String() == "leaving" {
					<-asked // the rest is read only then
				}
			}
			p := mustStart(t, start, s)
			waitDone(t, p)
			time.AfterFunc(200*time.Millisecond, func() { close(asked) }) // as on a machine with too much to do
			if got := p.Tail(); !slices.Equal(got, words("leaving", "with 7")) {
				t.Errorf("got %q", got)
			}
		})
		t.Run("holds the last words", func(t *testing.T) {
			p := mustStart(t, start, spec("lastwords"))
			stop(t, p, child.Grace{EOF: time.Hour})
			if got := p.Tail(); !slices.Equal(got, words("all saved")) {
				t.Errorf("got %q", got)
			}
		})
	})
}

func words(lines ...string) (w foreign.Words) {
	for _, line := range lines {
		w = append(w, foreign.NewText(line))
	}
	return w
}

func TestFloodOfStderr(t *testing.T) {
	var lines int
	s := spec("flood")
	s.StderrLine = func(foreign.Text) { lines++ }
	p := mustStart(t, newGuard(t).Start, s)
	waitDone(t, p)
	got := p.Tail() // when the end of the flood is still in the pipe
	if len(got) != 20 || len(got[0].String()) != 999 || got[19] != foreign.NewText("over") {
		t.Errorf("got %d lines, want 20, the last of them \"over\"", len(got))
	}
	stop(t, p, child.Grace{})
	if lines != 100_001 {
		t.Errorf("StderrLine: got %d lines, want 100001", lines)
	}
}

// alive reports whether a process of this number runs; one that waits to be reaped does not.
func alive(pid int) bool {
	if err := unix.Kill(pid, 0); err == syscall.ESRCH {
		return false
	}
	return !isZombie(pid)
}

// Once a process has ended nothing can be written to it any more, whether anybody stops it or not.
func TestInputIsClosedAtTheEnd(t *testing.T) {
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		p := mustStart(t, start, spec("exit", "0"))
		waitDone(t, p)
		for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			if _, err := p.Stdin().Write([]byte("x")); errors.Is(err, os.ErrClosed) {
				return
			}
			if time.Now().After(end) {
				t.Fatal("the input of a process that has ended is open still")
			}
		}
	})
}

// What a process has written to stderr before it ended is read to the end, however long its reader takes for it.
func TestLastWordsAreRead(t *testing.T) {
	t.Parallel()
	const lines = 15_000 // more than is read at once, and fit into any pipe
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		ended, all := make(chan struct{}), make(chan struct{})
		n := 0
		s := spec("mutter", strconv.Itoa(lines))
		s.StderrLine = func(foreign.Text) {
			if n++; n == 1 {
				<-ended
				time.Sleep(150 * time.Millisecond) // longer than silence is waited for
			}
			if n == lines {
				close(all)
			}
		}
		p := mustStart(t, start, s)
		waitDone(t, p)
		close(ended)
		select {
		case <-all:
		case <-time.After(patience):
			t.Error("the last words of a process were not read")
		}
	})
}

// A grace without end is one, and no mistake.
func TestEndlessGrace(t *testing.T) {
	t.Parallel()
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		p := mustStart(t, start, spec("lastwords"))
		stop(t, p, child.Grace{EOF: math.MaxInt64, Term: math.MaxInt64 / 2})
		if got := p.Exit(); got.Code != 0 || got.Signal != "" {
			t.Errorf("got %v, want exit status 0", got)
		}
	})
}
