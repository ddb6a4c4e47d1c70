package transcript

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// maxWaiting is how many bytes wait to be written at most. What a disk is too slow for is left out.
const maxWaiting = 64 << 20

// Recorder writes a transcript. Its methods may be called by several goroutines, and wait for no disk.
type Recorder struct {
	out   io.Writer
	masks *mask.Set
	times bool
	limit int           // of waiting
	done  chan struct{} // closed when nothing more is written
	wake  chan struct{}

	mu      sync.Mutex
	waiting []byte
	section string // that the last line is in
	last    time.Time
	lost    int // messages that were left out
	closed  bool
	err     error
}

// NewRecorder begins a transcript with prose that says what it is of. Secrets are masked; times has the time between
// messages kept.
func NewRecorder(out io.Writer, prose string, masks *mask.Set, times bool) *Recorder {
	r := &Recorder{out: out, masks: masks, times: times, limit: maxWaiting, done: make(chan struct{}), wake: make(chan struct{}, 1), waiting: []byte(prose + "\n"), last: time.Now()}
	r.signal()
	go r.run()
	return r
}

// Client returns what takes the bytes that the client sends, and Server what takes those of the server.
func (r *Recorder) Client() io.Writer { return &side{r: r, section: client} }

// Server returns what takes the bytes that the server sends.
func (r *Recorder) Server() io.Writer { return &side{r: r, section: server} }

// side divides what one of them sends into messages.
type side struct {
	r       *Recorder
	section string
	line    []byte
	long    bool
}

func (s *side) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		part := b
		if end >= 0 {
			part = b[:end]
		}
		if s.long = s.long || len(s.line)+len(part) > s.r.limit; !s.long {
			s.line = append(s.line, part...)
		}
		if end < 0 {
			break
		}
		s.r.add(s.section, s.line, s.long)
		s.line, s.long = s.line[:0], false
		b = b[end+1:]
	}
	return n, nil
}

// add keeps a line, if it is a message.
func (r *Recorder) add(section string, line []byte, long bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	var m wire.Message
	if !long && wire.Scan(line, &m) != nil {
		r.put(section, append([]byte("# not a message: "), wire.AppendQuote(nil, r.masks.Text(string(line[:min(len(line), 200)])))...))
		return
	}
	clean, _ := r.masks.JSON(line)
	if long {
		clean = nil
	}
	r.put(section, clean)
}

// put has a line written; nil is one that is left out.
func (r *Recorder) put(section string, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if line == nil || len(r.waiting)+len(line) > r.limit || r.err != nil {
		r.lost++
		return
	}
	if section != r.section {
		r.section = section
		r.waiting = append(append(append(r.waiting, opening...), section...), closing...)
	}
	now := time.Now()
	if d := now.Sub(r.last).Round(time.Millisecond); r.times && d > 0 {
		r.waiting = fmt.Appendf(r.waiting, "%s%s\n", sleep, d)
	}
	r.last = now
	r.waiting = append(append(r.waiting, line...), '\n')
	r.signal()
}

func (r *Recorder) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *Recorder) run() {
	defer close(r.done)
	for range r.wake {
		r.mu.Lock()
		some, closed := r.waiting, r.closed
		r.waiting = nil
		r.mu.Unlock()
		if _, err := r.out.Write(some); err != nil {
			r.mu.Lock()
			r.err = err
			r.mu.Unlock()
		}
		if closed {
			return
		}
	}
}

// Exited notes that the server ended by itself.
func (r *Recorder) Exited(status int) { r.put(server, fmt.Appendf(nil, "%s%d", exit, status)) }

// Close has what is left written, for which it waits no longer than that. It returns how many messages are missing, and
// why.
func (r *Recorder) Close(wait time.Duration) (missing int, err error) {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.signal()
	select {
	case <-r.done:
	case <-time.After(wait):
		return r.missing(fmt.Errorf("the disk did not take it within %s", wait))
	}
	return r.missing(nil)
}

func (r *Recorder) missing(err error) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		err = r.err
	}
	return r.lost, err
}
