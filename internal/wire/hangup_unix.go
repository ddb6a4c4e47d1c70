//go:build unix

package wire

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// hangup returns what reports whether the peer has closed its end of a pipe or a socket, also where there is something
// left to be read from it. Of other readers it reports false.
func hangup(in io.Reader) func() bool {
	never := func() bool { return false }
	f, ok := in.(syscall.Conn)
	if !ok {
		return never
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return never
	}
	return func() (left bool) {
		_ = raw.Control(func(fd uintptr) {
			at := []unix.PollFd{{Fd: int32(fd), Events: halfClosed}}
			n, err := unix.Poll(at, 0)
			left = err == nil && n > 0 && at[0].Revents&(unix.POLLHUP|unix.POLLERR|halfClosed) != 0
		})
		return left
	}
}
