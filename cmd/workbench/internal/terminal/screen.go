// Package terminal sets text for people: in columns, in colours, in lines of a width, and with a last line that shows
// what goes on. It knows no command, and no configuration.
package terminal

import (
	"strconv"

	"github.com/mattn/go-isatty"
)

// file is an *os.File, or what has one.
type file interface{ Fd() uintptr }

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(file)
	return ok && isatty.IsTerminal(f.Fd())
}

// Draws reports whether a stream is a terminal that obeys escape sequences. lookup reads a variable.
func Draws(stream any, lookup func(string) (string, bool)) bool {
	term, _ := lookup("TERM")
	f, ok := stream.(file)
	return ok && term != "dumb" && Is(stream) && obeys(f.Fd())
}

// Width is how many columns a stream has; 0 if it is no terminal. lookup reads a variable.
func Width(stream any, lookup func(string) (string, bool)) int {
	f, ok := stream.(file)
	if !ok || !Is(stream) {
		return 0
	}
	if set, _ := lookup("COLUMNS"); set != "" {
		if n, err := strconv.Atoi(set); err == nil && n > 0 {
			return n
		}
	}
	return columns(f.Fd())
}
