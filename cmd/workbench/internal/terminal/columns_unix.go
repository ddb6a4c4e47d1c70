//go:build !windows

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns is the width of a terminal, 0 if that is not known.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
