//go:build unix

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes a lock of the file in place of the one it has, and reports whether it could.
func tryLock(f *os.File, kind int) (bool, error) {
	how := unix.LOCK_SH
	switch kind {
	case lockExclusive:
		how = unix.LOCK_EX
	case lockNone:
		how = unix.LOCK_UN
	}
	for {
		switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, err
		}
	}
}

func isReadOnly(err error) bool { return errors.Is(err, unix.EROFS) }

// isUnsupported is for file systems on which folders cannot be synced.
func isUnsupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP)
}
