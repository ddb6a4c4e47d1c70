package reload

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What was wrong may have been the moment: a file that could not be read is read again, though it does not change.
func TestReloadTriesAgain(t *testing.T) {
	dir := t.TempDir()
	path, next := filepath.Join(dir, "workbench-config.json"), filepath.Join(dir, "next")
	put(t, path, box("a"))
	put(t, next, box("b"))
	f := followFile(t, path)
	var all unix.Rlimit
	do(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &all))
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &all) }()
	few := all
	few.Cur = 3 // what is open stays so
	do(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	err := os.Rename(next, path)
	f.says("was not reloaded", "too many open files")
	do(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &all))
	do(t, err)
	f.becomes("b")
}
