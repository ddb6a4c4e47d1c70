package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the processor time that a process has used, all its threads together, those that ended included.
func cpuTime(pid int) (time.Duration, bool) {
	const scheduled = 2 // CPUCLOCK_SCHED: counted in nanoseconds, not in ticks (clock_getcpuclockid(3))
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}

// load says how busy the machine is, with what this program does itself.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	one, _, _ := bytes.Cut(text, []byte{' '})
	return ", load average " + string(one)
}

// resident returns the memory of a process that is in RAM, in MB of 1,000,000 bytes.
func resident(pid int) (float64, bool) { return ofStatus(pid, "VmRSS") }

// anonymous is resident without what is mapped of files, of the program's own above all, which comes and goes.
func anonymous(pid int) (float64, bool) { return ofStatus(pid, "RssAnon") }

// ofStatus returns one of the sizes in /proc/PID/status.
func ofStatus(pid int, key string) (float64, bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	_, rest, _ := bytes.Cut(status, []byte("\n"+key+":"))
	line, _, _ := bytes.Cut(rest, []byte("kB"))
	kib, err := strconv.ParseFloat(string(bytes.TrimSpace(line)), 64)
	return kib * 1024 / 1e6, err == nil
}

// firstChild returns the first process that a process started, of those that there are, or 0.
func firstChild(pid int) int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // a list for each thread
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		first, _, _ := bytes.Cut(children, []byte(" "))
		if child, err := strconv.Atoi(string(first)); err == nil {
			return child
		}
	}
	return 0
}
