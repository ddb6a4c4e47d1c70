package wiretest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Mark returns an environment entry, KEY=VALUE, that no other test has, for the processes that the test starts and for
// the servers they start. When the test ends, after all it registered later was cleaned up, a process that still
// carries the entry fails the test and is killed. Only Linux shows a process's environment: elsewhere nothing is
// checked.
func Mark(tb testing.TB) string {
	tb.Helper()
	return markFor(tb, grace)
}

// grace is the time that a process has to end once it should.
const grace = 5 * time.Second

// markFor is Mark with another grace.
func markFor(tb testing.TB, grace time.Duration) string {
	tb.Helper()
	mark := "WORKBENCH_TEST_MARK=" + rand.Text()
	tb.Cleanup(func() {
		for _, p := range outlived(mark, grace) {
			tb.Errorf("left running: %v", p)
			if process, err := os.FindProcess(p.PID); err == nil {
				_ = process.Kill() // it may have ended by now
			}
		}
	})
	return mark
}

// Running is a process that carries a mark.
type Running struct {
	PID  int
	Args []string
}

// String gives the process id and the command line.
func (p Running) String() string { return fmt.Sprintf("%d %s", p.PID, strings.Join(p.Args, " ")) }

// Kill ends the one process that carries the mark and has word in its command line, as a crash would, and waits until
// its parent has taken note. It fails the test when there is not exactly one.
func Kill(tb testing.TB, mark, word string) {
	tb.Helper()
	var victims []Running
	for _, p := range Marked(mark) {
		if strings.Contains(p.String(), word) {
			victims = append(victims, p)
		}
	}
	if len(victims) != 1 {
		tb.Fatalf("got processes %v with %q in the command line, want one", victims, word)
	}
	process, err := os.FindProcess(victims[0].PID)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		tb.Fatal(err)
	}
	// A dead process can be signalled until its parent has waited for it.
	if !poll(grace, func() bool { return errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone) }) {
		tb.Fatalf("%v runs on after it was killed", victims[0])
	}
}

// outlived gives the marked processes a moment to end, since the last of them are told to by others that have just
// ended, and returns those that did not.
func outlived(mark string, grace time.Duration) []Running {
	var left []Running
	poll(grace, func() bool { left = Marked(mark); return len(left) == 0 })
	return left
}

// poll asks again and again, since the end of a process that is not ours tells nobody, and reports whether it became so
// in the time of grace.
func poll(grace time.Duration, done func() bool) bool {
	const look = 20 * time.Millisecond
	for deadline := time.Now().Add(grace); !done(); time.Sleep(look) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
