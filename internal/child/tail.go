package child

import (
	"bytes"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

const (
	tailLines = 20
	rawMax    = 8 << 10 // bytes of a line before cleaning; the rest of it is dropped
)

// tail reads stderr to its end and keeps the last lines, and the last that names an error with those behind it,
// tailLines × foreign.MaxText bytes at most.
type tail struct {
	each func(foreign.Text) // may be nil
	hide func(string) string
	done chan struct{}

	taken atomic.Int64 // bytes that were read

	mu     sync.Mutex
	kept   kept
	raw    []byte // the line being written
	resume bool   // a carriage return was seen: what comes next begins the line again
}

// newTail hands each line to a function, which may be nil, as hide leaves it, which may be nil too.
func newTail(each func(foreign.Text), hide func(string) string) *tail {
	if hide == nil {
		hide = func(line string) string { return line }
	}
	return &tail{each: each, hide: hide, done: make(chan struct{}), kept: kept{named: -1}}
}

// readFrom reads until f ends, is closed or reaches its deadline.
func (t *tail) readFrom(f *os.File) {
	defer close(t.done)
	buf := make([]byte, 8<<10)
	for {
		n, err := f.Read(buf)
		t.taken.Add(int64(n))
		t.write(buf[:n])
		if err != nil {
			t.endLine()
			return
		}
	}
}

func (t *tail) write(b []byte) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			t.add(b)
			return
		}
		t.add(b[:i])
		t.endLine()
		b = b[i+1:]
	}
}

// add appends a piece of a line. A carriage return takes the line back to its beginning, as on a terminal: of a
// progress bar only the last state is kept, and of "\r\n" nothing is lost.
func (t *tail) add(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(b) > 0 {
		if b[0] == '\r' {
			t.resume = true
			b = b[1:]
			continue
		}
		if t.resume {
			t.raw, t.resume = t.raw[:0], false
		}
		n := bytes.IndexByte(b, '\r')
		if n < 0 {
			n = len(b)
		}
		t.raw = append(t.raw, b[:min(n, rawMax-len(t.raw))]...)
		b = b[n:]
	}
}

// endLine keeps the line that was written and hands it on. The lock is not held while each runs.
func (t *tail) endLine() {
	t.mu.Lock()
	raw := string(t.raw)
	t.raw, t.resume = t.raw[:0], false
	t.mu.Unlock()
	line := foreign.NewText(t.hide(raw))
	if line.IsEmpty() {
		return
	}
	t.mu.Lock()
	t.kept.add(line)
	t.mu.Unlock()
	if t.each != nil {
		t.each(line)
	}
}

// last returns what is kept.
func (t *tail) last() foreign.Words {
	t.mu.Lock()
	said, raw := t.kept, string(t.raw)
	said.lines = slices.Clone(said.lines)
	t.mu.Unlock()
	if line := foreign.NewText(t.hide(raw)); !line.IsEmpty() {
		said.add(line)
	}
	return said.lines
}

// kept are some lines of many.
type kept struct {
	lines foreign.Words // oldest first
	named int           // which of them is the last that names an error, -1 if none does
	cause foreign.Cause // finds that one
}

// add keeps a line, and drops the oldest if there are too many. Where the last error begins with that, it stays with what
// it is shown with, and one behind goes: a stack may have any number of lines.
func (k *kept) add(line foreign.Text) {
	switch {
	case len(k.lines) < tailLines:
	case k.named >= 0 && k.lines.Begin(k.named) == 0:
		gone := max(k.named+1, foreign.MaxWords)
		k.lines = slices.Delete(k.lines, gone, gone+1)
	default:
		k.lines = slices.Delete(k.lines, 0, 1)
		k.named = max(-1, k.named-1)
	}
	k.named = k.cause.Next(line, len(k.lines), k.named)
	k.lines = append(k.lines, line)
}
