// Package logqueue writes the lines of a log, so that who has something to tell never waits for who is told: a pipe
// that nobody reads, a slow disk, a terminal that was stopped.
//
// Lines go into a bounded queue, from which one goroutine writes them. What finds no room is dropped and counted; how
// many those were is written in their place as soon as there is room.
package logqueue

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// maxQueued is how many bytes wait to be written at most.
const maxQueued = 1 << 20

// Writer takes lines. Its methods may be called from any goroutine.
type Writer struct {
	out  io.Writer
	lost func(n int) []byte
	wake chan struct{} // holds something if there is something to do
	done chan struct{} // closed when nothing more is written
	torn bool          // the last line was written in part; of the goroutine that writes

	mu      sync.Mutex
	lines   [][]byte
	size    int // of lines
	dropped int // lines after those
	closed  bool
}

// New returns a Writer to out, each line with one Write. lost makes the line that says that n lines were dropped.
func New(out io.Writer, lost func(n int) []byte) *Writer {
	w := &Writer{out: out, lost: lost, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go w.run()
	return w
}

// Write takes a line and never waits. It always succeeds.
func (w *Writer) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
	case w.size+len(line) > maxQueued || w.dropped > 0: // after what was dropped, what said so comes first
		w.dropped++
	default:
		w.lines, w.size = append(w.lines, bytes.Clone(line)), w.size+len(line)
	}
	w.ring()
	return len(line), nil
}

func (w *Writer) ring() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run writes until the Writer is closed and what was taken is written.
func (w *Writer) run() {
	defer close(w.done)
	for range w.wake {
		last := w.isClosed() // before what it has taken is looked for
		for w.next() {
		}
		if last {
			return
		}
	}
}

// next writes what waits, and reports whether anything did. What cannot be written is counted as dropped and told when
// something can again.
func (w *Writer) next() bool {
	w.mu.Lock()
	lines, dropped := w.lines, w.dropped
	w.lines, w.size, w.dropped = nil, 0, 0
	w.mu.Unlock()
	for i, line := range lines {
		if !w.put(line) {
			return w.drop(dropped + len(lines) - i)
		}
	}
	if dropped > 0 && !w.put(w.lost(dropped)) {
		return w.drop(dropped)
	}
	return len(lines) > 0
}

// put writes a line, and reports whether all of it was written. What was written of another is a line of its own.
func (w *Writer) put(line []byte) bool {
	if w.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := w.out.Write(line)
	w.torn = err != nil && (w.torn || n > 0) && (n == 0 || line[n-1] != '\n')
	return err == nil
}

// drop counts n lines as dropped, and with them what came meanwhile: it is not to stand before the line that says so.
func (w *Writer) drop(n int) (wrote bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropped += n + len(w.lines)
	w.lines, w.size = nil, 0
	return false
}

func (w *Writer) isClosed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// Close has what was taken written, for as long as wait at most, and reports whether that was done. What comes later is
// dropped. Where writing hangs, its goroutine stays behind.
func (w *Writer) Close(wait time.Duration) bool {
	w.mu.Lock()
	w.closed = true
	w.ring()
	w.mu.Unlock()
	select {
	case <-w.done:
		return true
	case <-time.After(wait):
		return false
	}
}
