package child_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/child"
)

const seesNoOrphans = false

// thisProgram is the file that runs, whatever has become of its name.
func thisProgram() string { return "/proc/self/exe" }

// unmark takes from this process what tells a guard where it and its descendants come from.
func unmark() { unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: 1, Max: 1}) }

func parent(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	ppid, err := strconv.Atoi(string(bytes.Fields(stat[bytes.LastIndexByte(stat, ')'):])[2]))
	if err != nil {
		t.Fatal(err)
	}
	return ppid
}

func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	return bytes.Contains(stat[bytes.LastIndexByte(stat, ')'):], []byte(" Z "))
}

func descriptors(t *testing.T, pid int) int {
	t.Helper()
	dir, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(dir)
}

func zombies(t *testing.T, parent int) int {
	t.Helper()
	n := 0
	procs, _ := os.ReadDir("/proc")
	for _, entry := range procs {
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err == nil && bytes.Contains(stat, fmt.Appendf(nil, ") Z %d ", parent)) {
			n++
		}
	}
	return n
}

func TestDescriptors(t *testing.T) {
	leak, err := unix.Dup(0) // not closed on exec, as what an untidy client leaves open for us
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leak)
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		p := mustStart(t, start, child.Spec{Command: "/bin/cat"})
		echo(t, p) // the program is running
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID()))
		if err != nil {
			t.Fatal(err)
		}
		for i, entry := range entries {
			if entry.Name() != strconv.Itoa(i) || i > 2 {
				name, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", p.PID(), entry.Name()))
				t.Errorf("the child has descriptor %s (%s)", entry.Name(), name)
				continue
			}
			info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", p.PID(), i))
			if err != nil {
				t.Fatal(err)
			}
			var pos, flags int
			if _, err := fmt.Sscanf(string(info), "pos: %d\nflags: 0%o\n", &pos, &flags); err != nil {
				t.Fatalf("%v in %q", err, info)
			}
			if flags&unix.O_NONBLOCK != 0 {
				t.Errorf("descriptor %d does not block", i)
			}
		}
	})
}

// echo waits until the process, a cat, answers.
func echo(t *testing.T, p *child.Process) {
	t.Helper()
	p.Stdout().SetReadDeadline(time.Now().Add(patience))
	defer p.Stdout().SetReadDeadline(time.Time{})
	var b [1]byte
	if _, err := p.Stdin().Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Stdout().Read(b[:]); err != nil {
		t.Fatal(err)
	}
}

// Goroutines are counted by goleak once all tests are over.
func TestNothingPilesUp(t *testing.T) {
	const rounds = 50 // in each way; one thing left by each would be seen
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		first := mustStart(t, start, child.Spec{Command: "/bin/cat"}) // what is made once is made then
		holders := map[string]int{"this process": os.Getpid(), "the parent": parent(t, first.PID())}
		before := map[string]int{}
		stop(t, first, child.Grace{})
		for name, pid := range holders {
			before[name] = descriptors(t, pid)
		}
		for range rounds {
			p, err := start(child.Spec{Command: "/bin/cat"})
			if err != nil {
				t.Fatal(err)
			}
			stop(t, p, child.Grace{})
			if exit := p.Exit(); exit.Code != 0 || exit.Signal != "" {
				t.Fatal("cat did not end at EOF:", exit)
			}
		}
		for name, pid := range holders {
			if got := descriptors(t, pid); got != before[name] {
				t.Errorf("descriptors of %s: got %d, want %d as before", name, got, before[name])
			}
			if n := zombies(t, pid); n != 0 {
				t.Errorf("%s has %d zombies", name, n)
			}
		}
	})
}

// A new version installed over the running one must not become its guard.
func TestFaultB20_ProgramIsReplaced(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("cp", os.Args[0], program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(program, "helper", "replaced").CombinedOutput()
	if got, want := string(out), fmt.Sprintln("started"); err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// When the guard cannot do its work either, the system kills what it started itself.
func TestOwnerAndGuardAreKilled(t *testing.T) {
	cmd, pids := startOwner(t, "stubborn")
	unix.Kill(cmd.Process.Pid, unix.SIGSTOP) // so that it does not notice the end of its guard
	unix.Kill(pids[2], unix.SIGKILL)
	unix.Kill(cmd.Process.Pid, unix.SIGKILL)
	cmd.Wait()
	waitGone(t, pids...)
}

// Reading ends soon after a process, also where somebody who is no descendant holds its outputs open.
func TestOutputsHeldByAStranger(t *testing.T) {
	t.Parallel()
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		p := mustStart(t, start, spec("echo"))
		for fd := 1; fd <= 2; fd++ {
			held, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", p.PID(), fd), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = held.Close() }) // after the process was stopped
		}
		_ = p.Stdin().Close()
		waitDone(t, p)
		over := make(chan error, 1)
		go func() {
			_, err := io.ReadAll(p.Stdout())
			over <- errors.Join(err, p.Stop(context.Background(), child.Grace{}))
		}()
		select {
		case err := <-over:
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v, want that a deadline has ended it", err)
			}
		case <-time.After(patience):
			t.Fatal("reading did not end with the process")
		}
	})
}

// The first process of a container reaps what it has got because its parent was killed.
func TestAdopted(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(self, "helper", "orphanage").Output(); err != nil || string(out) != "0" {
		t.Errorf("got %q and %v, want 0 dead children left", out, err)
	}
}

// Somebody who is no descendant may hold the pipes for good, and write without end: that holds nobody up.
func TestOutputOfAnother(t *testing.T) {
	t.Parallel()
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		p := mustStart(t, start, spec("lastwords"))
		line := bytes.Repeat([]byte("noise\n"), 100)
		var writing sync.WaitGroup
		defer writing.Wait()
		for _, fd := range []int{1, 2} {
			pipe, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", p.PID(), fd), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			writing.Go(func() {
				defer pipe.Close()
				for err := error(nil); err == nil; {
					_, err = pipe.Write(line)
				}
			})
		}
		stop(t, p, child.Grace{EOF: time.Hour})
		if len(p.Tail()) == 0 {
			t.Error("got no last words")
		}
	})
}
