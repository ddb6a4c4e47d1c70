package status

import "syscall"

// isPrivate has nothing to say: what is below the user's profile inherits its rights from there.
func isPrivate(string) error { return nil }

// keepPrivate has nothing to do, for the same reason.
func keepPrivate(string, string, syscall.RawConn) error { return nil }
