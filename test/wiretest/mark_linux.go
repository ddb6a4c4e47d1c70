package wiretest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Marked returns the processes that carry the entry in their environment, in the order of their ids. One that has ended
// and was not waited for carries none.
func Marked(entry string) []Running {
	folders, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	var found []Running
	for _, folder := range folders {
		environ, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil || !slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(e []byte) bool { return string(e) == entry }) {
			continue // gone, not ours to read, or without the mark
		}
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			continue
		}
		args, err := os.ReadFile(filepath.Join(folder, "cmdline"))
		if err != nil {
			continue
		}
		found = append(found, Running{PID: pid, Args: strings.Split(strings.TrimSuffix(string(args), "\x00"), "\x00")})
	}
	slices.SortFunc(found, func(a, b Running) int { return a.PID - b.PID })
	return found
}
