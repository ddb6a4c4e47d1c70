package child

import "os"

// newPipes makes the pipes for stdin, stdout and stderr: our ends, for which deadlines work, and the child's.
func newPipes() (ours, theirs []*os.File, err error) {
	for fd := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours)
			closeAll(theirs)
			return nil, nil, err
		}
		if fd == 0 {
			ours, theirs = append(ours, w), append(theirs, r)
		} else {
			ours, theirs = append(ours, r), append(theirs, w)
		}
		if fd < 2 {
			widen(r)
		}
	}
	return ours, theirs, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// readiness is what can be said of our end of an output without reading it.
type readiness int

const (
	outputOpen    readiness = iota // empty, and somebody may write
	outputPending                  // something to read
	outputEnded                    // empty, and nobody can write; or closed by us
)
