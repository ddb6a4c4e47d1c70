// Package footprint gives back memory that a process has needed for a moment only, such as for its start.
//
// A Go program that has just started has most of its own file mapped in, of which it goes on to use a tenth, and a heap
// with what its packages were initialised by. Nobody but the one who looks at the process's size notices either, until
// a machine runs thirty of it.
package footprint

import (
	"runtime/debug"
	"time"
)

// settled is how long after the last call of Busy memory is given back.
const settled = 3 * time.Second

// A Trimmer gives back what is used no more, once things have settled. Its method may be called from any goroutine.
type Trimmer struct{ timer *time.Timer }

// New returns a Trimmer that is busy with the start of the process.
func New() *Trimmer { return &Trimmer{time.AfterFunc(settled, trim)} }

// Busy says that something has begun that needs memory for a moment. It is given back a while after the last of them.
func (t *Trimmer) Busy() { t.timer.Reset(settled) }

func trim() {
	debug.FreeOSMemory()
	forgetProgram()
}
