package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes a lock of the file in place of the one it has, and reports whether it could.
func tryLock(f *os.File, kind int) (bool, error) {
	handle := windows.Handle(f.Fd())
	// Unlike flock, a second lock does not take the place of the first. Far behind what the file holds, since these
	// locks keep others from reading and writing.
	at := func() *windows.Overlapped { return &windows.Overlapped{Offset: 1 << 30} }
	if err := windows.UnlockFileEx(handle, 0, 1, 0, at()); err != nil && !errors.Is(err, windows.ERROR_NOT_LOCKED) {
		return false, err
	}
	if kind == lockNone {
		return true, nil
	}
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if kind == lockExclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(handle, flags, 0, 1, 0, at())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

func isUnsupported(error) bool { return true }
