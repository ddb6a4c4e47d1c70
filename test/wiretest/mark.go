package wiretest

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// Mark returns an environment entry, KEY=VALUE, that no other test has, for the processes that the test starts and for
// the servers they start. When the test ends, after all it registered later was cleaned up, a process that still carries
// the entry fails the test and is killed. Only Linux shows a process's environment: elsewhere nothing is checked.
func Mark(tb testing.TB) string {
	tb.Helper()
	mark := "WORKBENCH_TEST_MARK=" + rand.Text()
	tb.Cleanup(func() {
		left := outlived(mark)
		for _, p := range left {
			tb.Errorf("left running: %v", p)
			if process, err := os.FindProcess(p.PID); err == nil {
				_ = process.Kill()
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

// outlived waits a moment for the marked processes to end, since the last of them are told to by others that have just
// ended, and returns those that did not.
func outlived(mark string) []Running {
	const grace, look = 5 * time.Second, 20 * time.Millisecond
	deadline := time.Now().Add(grace)
	for {
		left := Marked(mark)
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(look)
	}
}
