//go:build unix

package child

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitHangup returns when nobody holds the other end of our end of an input, or ours is closed.
func awaitHangup(f *os.File) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	// The poller tells readers of a hangup, also of an end that can only be written to.
	conn.Read(func(uintptr) bool { return outputState(f) == outputEnded })
}

// outputState asks the system about our end of an output.
func outputState(f *os.File) readiness {
	conn, err := f.SyscallConn()
	if err != nil {
		return outputEnded
	}
	state := outputOpen
	err = conn.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for {
			_, err := unix.Poll(poll, 0)
			if err != unix.EINTR {
				break
			}
		}
		switch events := poll[0].Revents; {
		case events&unix.POLLIN != 0:
			state = outputPending
		case events&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0:
			state = outputEnded
		}
	})
	if err != nil {
		return outputEnded
	}
	return state
}
