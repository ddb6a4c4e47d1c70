//go:build unix && !linux

package child_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// An orphan in a session of its own has nothing that shows where it came from.
const seesNoOrphans = true

func thisProgram() string { return os.Args[0] }

func unmark() {}

func parent(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.Command("ps", "-o", "ppid=", "-p", fmt.Sprint(pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	ppid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return ppid
}

// isZombie is not asked where init reaps orphans at once.
func isZombie(int) bool { return false }
