package wire

import (
	"io"
	"syscall"
)

// wide is how much a pipe is to hold that large messages go through, in bytes: four times what it holds by default. It
// is no more because the system makes new pipes smaller for a user all of whose pipes may hold more than 64 MiB.
const wide = 256 << 10

// These are F_SETPIPE_SZ and F_GETPIPE_SZ of linux/fcntl.h.
const (
	setPipeSize = 1031
	getPipeSize = 1032
)

// widen makes a pipe hold more, so that both of its ends wait less often within a large message. It reports false for
// what is no pipe, is wide already or may not grow.
func widen(fd uintptr) bool {
	now, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, getPipeSize, 0)
	if errno != 0 || now >= wide {
		return false
	}
	_, _, errno = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, wide)
	return errno == 0
}

// widenReader does the same for what r reads from.
func widenReader(r io.Reader) {
	f, ok := r.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := f.SyscallConn(); err == nil {
		// A pipe that stays as it is works too.
		_ = raw.Control(func(fd uintptr) { widen(fd) })
	}
}
