//go:build !windows

package terminal

import "golang.org/x/sys/unix"

// obeys reports whether a terminal obeys escape sequences: each does.
func obeys(uintptr) bool { return true }

// columns is the width of a terminal, 0 if that is not known.
func columns(fd uintptr) int {
	size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
