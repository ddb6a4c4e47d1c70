//go:build unix

package child

import (
	"os"

	"golang.org/x/sys/unix"
)

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
