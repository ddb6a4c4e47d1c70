package slots

import (
	"os"

	"golang.org/x/sys/windows"

	"github.com/mcp-workbench/workbench/internal/openfile"
)

// flock locks f for this process alone and reports whether that could be done. The lock ends with the file, which no
// child inherits.
func flock(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	switch err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped)); err {
	case nil:
		return true, nil
	case windows.ERROR_LOCK_VIOLATION:
		return false, nil
	default:
		return false, openfile.Advised(&os.PathError{Op: "lock", Path: f.Name(), Err: err})
	}
}
