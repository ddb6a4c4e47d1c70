//go:build unix

package faults

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// A program that was stopped, as on a laptop that slept, does not take the time for that of its servers.
func TestFaultB7_Stopped(t *testing.T) {
	let := t.TempDir() + "/let"
	b := newBed(t, "late "+let, setup{sick: entry{"timeouts": entry{"callIdle": "1s"}}})
	id := b.begin("sick", "fault", "{}")
	b.works() // so that the call is under way
	b.signal(syscall.SIGSTOP)
	if err := os.WriteFile(let, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2500 * time.Millisecond) // this is the fault
	b.signal(syscall.SIGCONT)
	b.answers(b.outcome(id), "late")
}
