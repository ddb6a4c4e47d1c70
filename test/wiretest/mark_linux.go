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
	// One buffer for all environments, large enough for each: every read looks into the memory of the process anew.
	environ, wanted := bytes.NewBuffer(make([]byte, 0, 64<<10)), []byte("\x00"+entry+"\x00")
	for _, folder := range folders {
		environ.Reset()
		environ.WriteByte(0)
		if file, err := os.Open(filepath.Join(folder, "environ")); err == nil {
			_, _ = environ.ReadFrom(file)
			_ = file.Close()
		}
		if !bytes.Contains(environ.Bytes(), wanted) {
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
