//go:build unix

package openfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock takes a lock of a file, ours alone or one that is shared, and reports whether it could. The lock ends with the
// file, which no child inherits.
func TryLock(f *os.File, alone bool) (bool, error) {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	err := flock(f, how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// ShareLock makes a lock that is ours alone one that is shared.
func ShareLock(f *os.File) error { return flock(f, unix.LOCK_SH|unix.LOCK_NB) }

// Unlock gives a lock back.
func Unlock(f *os.File) error { return flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return unlockable(f, err)
		}
	}
}
