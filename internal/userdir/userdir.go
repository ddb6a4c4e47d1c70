// Package userdir finds the folder of the user who runs the program.
package userdir

import (
	"errors"
	"path/filepath"
)

// ErrNone says why there is no place for what is the user's own.
var ErrNone = errors.New("HOME is not set to an absolute path")

// Home returns the folder that HOME names or, where that names none, USERPROFILE; "" if neither is an absolute path. A
// relative one would be another folder wherever the program is started: what anybody has put there would be trusted as
// the user's own, and secrets would be stored in projects.
func Home(lookup func(name string) (string, bool)) string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home, _ := lookup(name); filepath.IsAbs(home) {
			return home
		}
	}
	return ""
}
