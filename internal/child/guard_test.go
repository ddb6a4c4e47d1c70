//go:build unix

package child_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/child"
)

func TestGuardIsClosed(t *testing.T) {
	t.Parallel()
	t.Run("unused", func(t *testing.T) {
		g := newGuard(t)
		g.Close()
		if _, err := g.Start(spec("echo")); !errors.Is(err, child.ErrClosed) {
			t.Errorf("Start after Close: got %v, want ErrClosed", err)
		}
	})
	t.Run("with processes", func(t *testing.T) {
		g := newGuard(t)
		polite := mustStart(t, g.Start, spec("echo"))
		family := mustStart(t, g.Start, spec("family", "stay", "setsid", "stubborn"))
		pid := relative(t, family)
		g.Close()
		g.Close()
		for _, pid := range []int{polite.PID(), family.PID(), pid} {
			if alive(pid) {
				t.Errorf("%d is alive after Close", pid)
			}
		}
		if got := waitDone(t, polite); got.Signal != "SIGTERM" {
			t.Errorf("got %v, want SIGTERM", got)
		}
		if got := waitDone(t, family); got.Signal != "SIGKILL" {
			t.Errorf("got %v, want SIGKILL", got)
		}
	})
}

// Whatever is started while the guard is closed is either refused or ended.
func TestGuardIsClosedMeanwhile(t *testing.T) {
	g := newGuard(t)
	var wg sync.WaitGroup
	started := make(chan *child.Process, 1000)
	for range 4 {
		wg.Go(func() {
			for {
				p, err := g.Start(child.Spec{Command: "/bin/cat"})
				if err != nil {
					if !errors.Is(err, child.ErrClosed) {
						t.Errorf("got %v, want ErrClosed", err)
					}
					return
				}
				started <- p
			}
		})
	}
	first := <-started
	g.Close()
	wg.Wait()
	close(started)
	waitDone(t, first)
	stop(t, first, child.Grace{})
	for p := range started {
		waitDone(t, p)
		stop(t, p, child.Grace{})
	}
}

func TestGuardCannotRun(t *testing.T) {
	tests := []struct {
		name string
		argv []string
		text string
	}{
		{"no such program", []string{"/no/such/program"}, "no such file"},
		{"another program", []string{"/bin/sh", "-c", "echo not me >&2"}, `ended unexpectedly: "not me"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := child.NewGuard(test.argv)
			defer g.Close()
			_, err := g.Start(spec("echo"))
			started, ok := errors.AsType[*child.StartError](err)
			if !ok || !strings.HasPrefix(started.Reason, "guard process: ") || !strings.Contains(started.Reason, test.text) {
				t.Errorf("got %v, want a *StartError about the guard with %q", err, test.text)
			}
		})
	}
}

func TestRunGuardByHand(t *testing.T) {
	out, err := exec.Command(os.Args[0], "helper", "guard").CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 {
		t.Errorf("got %v, want exit status 2", err)
	}
	if !strings.Contains(string(out), "not by hand") {
		t.Errorf("got %q", out)
	}
}

// The modes of files that a server makes for others, such as those of a website, are as the user has chosen.
func TestGuardedProcess(t *testing.T) {
	defer unix.Umask(unix.Umask(0o027))
	p := mustStart(t, newGuard(t).Start, child.Spec{Command: "/bin/sh", Args: []string{"-c", "umask; ulimit -c"}})
	if got, want := output(t, p), "0027\n0\n"; got != want {
		t.Errorf("umask and size of core files: got %q, want %q", got, want)
	}
}

// However its owner ends, nothing of what it started is left.
func TestFaultB4B5_OwnerEnds(t *testing.T) {
	t.Parallel()
	kill := func(cmd *exec.Cmd) { unix.Kill(cmd.Process.Pid, unix.SIGKILL) }
	killGroup := func(cmd *exec.Cmd) { unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	terminate := func(cmd *exec.Cmd) { unix.Kill(cmd.Process.Pid, unix.SIGTERM) }
	quit := func(cmd *exec.Cmd) { unix.Kill(cmd.Process.Pid, unix.SIGQUIT) } // a stack dump, as after a panic
	ends := []struct {
		name string
		end  func(*exec.Cmd)
	}{{"killed", kill}, {"group killed", killGroup}, {"terminated", terminate}, {"crashed", quit}}
	shapes := []struct {
		name string
		args []string
	}{
		{"plain", []string{"sleep"}},
		{"stubborn", []string{"stubborn"}},
		{"grandchild", []string{"family", "stay"}},
		{"stubborn grandchild", []string{"family", "stay", "stubborn"}},
		{"grandchild in its own session", []string{"family", "stay", "setsid"}},
		{"stubborn grandchild in its own session", []string{"family", "stay", "setsid", "stubborn"}},
		{"orphan", []string{"family", "stay", "double"}},
		{"orphan in its own session, unmarked", []string{"family", "stay", "double", "setsid", "unmarked"}},
		{"owner of another", []string{"owner", "stubborn"}},
		{"orphan in its own session", []string{"family", "stay", "double", "setsid"}},
	}
	var wg sync.WaitGroup // they spend their time waiting, so that all may run at once
	for _, end := range ends {
		for _, shape := range shapes {
			if seesNoOrphans && strings.HasPrefix(shape.name, "orphan in") {
				continue
			}
			wg.Go(func() {
				t.Run(end.name+"/"+shape.name, func(t *testing.T) {
					cmd, pids := startOwner(t, shape.args...)
					began := time.Now()
					end.end(cmd)
					cmd.Wait()
					waitGone(t, pids...)
					t.Logf("all gone after %v", time.Since(began).Round(time.Millisecond))
				})
			})
		}
	}
	wg.Wait()
}

// A guard that is stopped goes on by itself, also where its owner cannot see to that any more.
func TestFaultG30_GuardIsStopped(t *testing.T) {
	t.Parallel()
	t.Run("while its owner works", func(t *testing.T) {
		t.Parallel()
		g := newGuard(t)
		p := mustStart(t, g.Start, spec("sleep"))
		guard, pid := parent(t, p.PID()), relative(t, p)
		for range 3 {
			unix.Kill(guard, unix.SIGSTOP)
			stop(t, mustStart(t, g.Start, spec("echo")), child.Grace{})
		}
		stop(t, p, child.Grace{})
		if got := waitDone(t, p); got.Signal != "SIGTERM" || alive(pid) {
			t.Errorf("got %v, want SIGTERM by the guard that was there", got)
		}
	})
	t.Run("before its owner is killed", func(t *testing.T) {
		t.Parallel()
		if seesNoOrphans {
			t.Skip("the system tells a guard nothing of the end of its owner")
		}
		cmd, pids := startOwner(t, "family", "stay", "setsid", "stubborn")
		unix.Kill(cmd.Process.Pid, unix.SIGSTOP) // or it would have the guard go on
		unix.Kill(pids[2], unix.SIGSTOP)
		cmd.Process.Kill()
		cmd.Wait()
		waitGone(t, pids...)
	})
}

// startOwner starts an owner of a helper, in a process group of its own, and returns the numbers of the helper, its
// relative and their guard.
func startOwner(t *testing.T, args ...string) (*exec.Cmd, []int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"helper", "owner"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Kill(-cmd.Process.Pid, unix.SIGKILL) })
	lines := bufio.NewScanner(out)
	var pids []int
	for len(pids) < 2 && lines.Scan() {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("the owner says %q", lines.Text())
		}
		pids = append(pids, pid)
	}
	if len(pids) < 2 {
		t.Fatal("the owner ended early")
	}
	return cmd, append(pids, parent(t, pids[0]))
}

func TestFaultB6_GuardIsKilled(t *testing.T) {
	t.Parallel()
	g := newGuard(t)
	var processes []*child.Process
	var pids []int
	for _, args := range [][]string{{"sleep"}, {"stubborn"}, {"family", "stay", "stubborn"}, {"family", "stay", "setsid", "stubborn"}} {
		p := mustStart(t, g.Start, spec(args[0], args[1:]...))
		processes = append(processes, p)
		pids = append(pids, p.PID(), relative(t, p))
	}
	guard := parent(t, processes[0].PID())
	unix.Kill(guard, unix.SIGKILL)
	for _, p := range processes {
		got := waitDone(t, p)
		if got.Code != -1 || got.Asked || got.String() != "killed because its guard process ended" {
			t.Errorf("got %v %+v", got, got)
		}
		stop(t, p, child.Grace{})
	}
	waitGone(t, pids...)
	p := mustStart(t, g.Start, spec("echo"))
	if parent(t, p.PID()) == guard {
		t.Error("the dead guard is still a parent")
	}
	stop(t, p, child.Grace{})
	if got := waitDone(t, p); got.Code != 0 {
		t.Errorf("under another guard: got %v, want exit status 0", got)
	}
}

// The death of a guard is seen by waiting for it: a process that it was just starting may hold its end of the lifeline, and
// hang.
func TestDeathOfALeakyGuard(t *testing.T) {
	t.Parallel()
	g := child.NewGuard([]string{os.Args[0], "helper", "leakyguard"})
	t.Cleanup(g.Close)
	p := mustStart(t, g.Start, spec("sleep"))
	relative(t, p)
	unix.Kill(parent(t, p.PID()), unix.SIGKILL)
	if got := waitDone(t, p); got.String() != "killed because its guard process ended" {
		t.Errorf("got %v", got)
	}
	stop(t, mustStart(t, g.Start, spec("echo")), child.Grace{})
}

// A guard that hangs is killed, and Stop is bounded all the same.
func TestGuardHangs(t *testing.T) {
	g := newGuard(t)
	p := mustStart(t, g.Start, spec("stubborn"))
	relative(t, p)
	guard := parent(t, p.PID())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for unix.Kill(guard, unix.SIGSTOP) == nil { // it is made to go on each time
			time.Sleep(10 * time.Microsecond)
		}
	}()
	stop(t, p, child.Grace{EOF: -1, Term: -1})
	if alive(p.PID()) {
		t.Error("alive after Stop")
	}
	g.Close()
	<-stopped
}

// What one process leaves behind is told from what another does, though all orphans have the same parent then.
func TestCrashLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	if seesNoOrphans {
		t.Skip("cannot be told on this system")
	}
	g := newGuard(t)
	sibling := mustStart(t, g.Start, spec("family", "stay", "double", "setsid"))
	spared := relative(t, sibling)
	crasher := mustStart(t, g.Start, spec("family", "crash", "double", "setsid"))
	pid := relative(t, crasher)
	waitDone(t, crasher)
	waitGone(t, pid)
	stop(t, crasher, child.Grace{})
	if !alive(spared) || !alive(sibling.PID()) {
		t.Error("the sibling, or what it started, is gone")
	}
	stop(t, sibling, child.Grace{EOF: -1})
	if alive(spared) {
		t.Error("an orphan outlived Stop")
	}
}

// A guard ends a process that is in a hurry by itself, and no other.
func TestGuardHurriesOneProcess(t *testing.T) {
	t.Parallel()
	g := newGuard(t)
	stubborn, other := mustStart(t, g.Start, spec("stubborn")), mustStart(t, g.Start, spec("sleep"))
	relative(t, stubborn)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := stubborn.Stop(ctx, child.Grace{EOF: time.Hour, Term: time.Hour}); err != nil {
		t.Error(err)
	}
	if got, want := stubborn.Exit().String(), "killed by signal 9 (SIGKILL)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	select {
	case <-other.Done():
		t.Errorf("the other process has ended too: %v", other.Exit())
	default:
	}
}

// Signals that end programs do not end a guard: whoever sends them to all means its owner.
func TestGuardHeedsNoSignals(t *testing.T) {
	t.Parallel()
	g := newGuard(t)
	p := mustStart(t, g.Start, spec("sleep"))
	relative(t, p)
	guard := parent(t, p.PID())
	for _, sig := range []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGPIPE} {
		if err := unix.Kill(guard, sig); err != nil {
			t.Fatal(err)
		}
	}
	other := mustStart(t, g.Start, spec("exit", "0"))
	if got := waitDone(t, other); got.Code != 0 {
		t.Errorf("got %v", got)
	}
	if parent(t, p.PID()) != guard {
		t.Error("the process has lost its guard")
	}
	select {
	case <-p.Done():
		t.Errorf("the process has ended: %v", p.Exit())
	default:
	}
}

// Time that is short is short for a guard too that is made later: what it starts ends, if it is started at all.
func TestHastenedBeforeTheFirstStart(t *testing.T) {
	t.Parallel()
	g := newGuard(t)
	g.Hasten(child.Grace{EOF: time.Second, Term: time.Millisecond})
	if p, err := g.Start(spec("stubborn")); err == nil {
		waitDone(t, p)
		stop(t, p, child.Grace{})
	}
}
