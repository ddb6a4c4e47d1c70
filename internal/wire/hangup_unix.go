//go:build unix

package wire

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// hangup returns what reports whether the peer has closed its end of a pipe or a socket, also where there is something
// left to be read from it; more is an event that says so too. It returns nil where that cannot be known.
func hangup(of any, more int16) func() bool {
	f, ok := of.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	return func() (left bool) {
		_ = raw.Control(func(fd uintptr) {
			at := []unix.PollFd{{Fd: int32(fd), Events: more}}
			n, err := unix.Poll(at, 0)
			left = err == nil && n > 0 && at[0].Revents&(unix.POLLHUP|unix.POLLERR|more) != 0
		})
		return left
	}
}
