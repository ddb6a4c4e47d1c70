package main

import (
	"os"
	"runtime/debug"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestCPUTime puts what is read of a process from outside between two readings of its own clock.
func TestCPUTime(t *testing.T) {
	own := func() time.Duration {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
			t.Fatal(err)
		}
		return time.Duration(ts.Nano())
	}
	before := own()
	got, ok := cpuTime(os.Getpid())
	after := own()
	if !ok || got < before || got > after {
		t.Errorf("got %v, %v, want between %v and %v", got, ok, before, after)
	}
	if _, ok := cpuTime(1 << 22); ok {
		t.Error("got the time of a process that does not exist")
	}
}

func TestResident(t *testing.T) {
	debug.FreeOSMemory()
	before, ok := resident(os.Getpid())
	if !ok {
		t.Fatal("got nothing")
	}
	// The kernel fills it, since the race detector keeps records of its own of what a program writes.
	block, err := unix.Mmap(-1, 0, 64_000_000, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(block)
	after, ok := resident(os.Getpid())
	if grown := after - before; !ok || grown < 50 || grown > 80 {
		t.Errorf("got %v MB more, %v, after %d bytes more", grown, ok, len(block))
	}
	if _, ok := resident(1 << 22); ok {
		t.Error("got the memory of a process that does not exist")
	}
}
