//go:build unix

package slots

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/openfile"
)

// flock locks f for this process alone and reports whether that could be done. The lock ends with the file, which no
// child inherits.
func flock(f *os.File) (bool, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case nil:
			return true, nil
		case unix.EWOULDBLOCK:
			return false, nil
		case unix.EINTR:
		default:
			return false, openfile.Advised(&os.PathError{Op: "lock", Path: f.Name(), Err: err})
		}
	}
}
