// Package footprint gives back memory that a process has needed for a moment only, such as for its start.
//
// A Go program that has just started has most of its own file mapped in, of which it goes on to use a tenth, and a heap
// with what its packages were initialised by. Nobody but the one who looks at the process's size notices either, until
// a machine runs thirty of it.
package footprint

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// early is by how much the heap may grow, in percent, before the first collection.
const early = 400

// Start puts off the first collection of a process that has just begun: most of what its start has made is in use
// still, and to look through it would only take time from what it was started for. After the first all is as it was.
func Start() {
	usual := debug.SetGCPercent(early)
	runtime.AddCleanup(new(*int), func(usual int) { debug.SetGCPercent(usual) }, usual)
}

// leastHeap is a heap that the runtime does not collect at a percent of 100; at another percent the size differs in proportion.
const leastHeap = 4 << 20

// Unhurried has the heap grow to some bytes before it is collected, though less of it may be in use: what serves many
// at once makes so much that a small heap would be looked through a hundred times a second. A heap of which more than
// half of these bytes is in use is collected as ever, and so is one for which the user has set GOGC.
func Unhurried(bytes uint64) {
	if os.Getenv("GOGC") == "" {
		runtime.AddCleanup(new(*int), adjust, bytes)
	}
}

// adjust is called after each collection, for the next one.
func adjust(bytes uint64) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := max(100*bytes/max(live[0].Value.Uint64(), 1), 200) - 100
	debug.SetGCPercent(int(min(percent, 100*bytes/leastHeap)))
	runtime.AddCleanup(new(*int), adjust, bytes)
}

// settled is how long after the last call of Busy memory is given back.
const settled = 3 * time.Second

// A Trimmer gives back what is used no more, once things have settled. Its method may be called from any goroutine.
type Trimmer struct{ timer *time.Timer }

// New returns a Trimmer that is busy with the start of the process.
func New() *Trimmer { return &Trimmer{time.AfterFunc(settled, trim)} }

// Busy says that something has begun that needs memory for a moment. It is given back a while after the last of them.
func (t *Trimmer) Busy() { t.timer.Reset(settled) }

// small is a heap through which to look takes more memory than it gives back.
const small = 1 << 20

func trim() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(heap); heap[0].Value.Uint64() > small {
		debug.FreeOSMemory()
	}
	forgetProgram()
}
