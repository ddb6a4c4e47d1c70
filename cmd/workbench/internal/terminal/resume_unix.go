//go:build !windows

package terminal

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Resumed is told each time this process goes on after it was stopped, as with Ctrl-Z, until the function is called.
func Resumed() (<-chan os.Signal, func()) {
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, unix.SIGCONT)
	return resumed, func() { signal.Stop(resumed) }
}

// Hide has a terminal not show what is typed, and leaves all else as it is.
func Hide(f *os.File) error {
	state, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	if err != nil {
		return err
	}
	state.Lflag &^= unix.ECHO
	state.Lflag |= unix.ICANON | unix.ISIG
	state.Iflag |= unix.ICRNL
	return unix.IoctlSetTermios(int(f.Fd()), setTermios, state)
}
