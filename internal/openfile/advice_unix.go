//go:build unix

package openfile

import (
	"errors"
	"syscall"
)

// isFull reports whether an error says that there is no room, on the disk or of what this user may have there.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// isReadOnly reports whether an error says that nobody can write there.
func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
