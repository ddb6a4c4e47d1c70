package openfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock takes a lock of a file, ours alone or one that is shared, and reports whether it could. The lock ends with the
// file, which no child inherits.
func TryLock(f *os.File, alone bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, lockedByte())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, unlockable(f, err)
}

// ShareLock makes a lock that is ours alone one that is shared: where a file has both, the first to go is the former.
func ShareLock(f *os.File) error {
	if _, err := TryLock(f, false); err != nil {
		return err
	}
	return Unlock(f)
}

// Unlock gives back the lock that the file has, if it has one.
func Unlock(f *os.File) error {
	err := windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedByte())
	if errors.Is(err, windows.ERROR_NOT_LOCKED) {
		return nil
	}
	return unlockable(f, err)
}

// lockedByte is far behind what the file holds, since these locks keep others from reading and writing.
func lockedByte() *windows.Overlapped { return &windows.Overlapped{Offset: 1 << 30} }
