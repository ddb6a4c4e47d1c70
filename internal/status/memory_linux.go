package status

import (
	"bytes"
	"os"
	"strconv"
)

// RSS is the memory in use of this process, in bytes; 0 if that is not known.
func RSS() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64) // proc_pid_statm(5): resident
	return pages * int64(os.Getpagesize())
}
