package openfile

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isFull reports whether an error says that there is no room, on the disk or of what this user may have there.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// isReadOnly reports whether an error says that nobody can write there.
func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }
