package status

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// isPrivate has nothing to say: what is below the user's profile inherits its rights from there.
func isPrivate(string) error { return nil }

// keepPrivate has nothing to do, for the same reason.
func keepPrivate(string, string, syscall.RawConn) error { return nil }

func isRefused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }
