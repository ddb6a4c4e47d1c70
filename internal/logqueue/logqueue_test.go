package logqueue_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/logqueue"
)

// sink is where lines go; it can hang, or fail.
type sink struct {
	mu     sync.Mutex // held while it hangs
	fail   bool
	failed int
	text   bytes.Buffer
}

func (s *sink) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail {
		s.failed++
		return 0, errors.New("broken")
	}
	return s.text.Write(line)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func lost(n int) []byte { return fmt.Appendf(nil, "lost %d\n", n) }

func TestLinesKeepTheirOrder(t *testing.T) {
	var s sink
	w := logqueue.New(&s, lost)
	var want strings.Builder
	for i := range 1000 {
		line := fmt.Appendf(nil, "line %d\n", i)
		want.Write(line)
		if n, err := w.Write(line); n != len(line) || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
		copy(line, "xxxx") // who writes may use it again
	}
	if !w.Close(time.Minute) {
		t.Error("it is not done")
	}
	_, _ = w.Write([]byte("late\n"))
	if got := s.String(); got != want.String() {
		t.Errorf("got %.300q", got)
	}
}

// Nobody waits for a reader that hangs; what finds no room is counted, and that is told in its place.
func TestReaderHangs(t *testing.T) {
	var s sink
	s.mu.Lock()
	w := logqueue.New(&s, lost)
	line := []byte(strings.Repeat("x", 999) + "\n")
	const lines = 5000
	for range lines {
		_, _ = w.Write(line)
	}
	if w.Close(10 * time.Millisecond) {
		t.Error("it says that all was written")
	}
	s.mu.Unlock()
	if !w.Close(time.Minute) {
		t.Error("it is not done")
	}
	kept, told := 0, 0 // some may have been lost before the first was taken, which is told in its place
	for got := range strings.Lines(s.String()) {
		var n int
		if got == string(line) {
			kept++
		} else if _, err := fmt.Sscanf(got, "lost %d\n", &n); err != nil {
			t.Errorf("got the line %q", got)
		}
		told += n
	}
	if kept+told != lines || kept*len(line) > 2<<20 || kept < 1000 {
		t.Errorf("got %d lines, and that %d were lost, of %d", kept, told, lines)
	}
}

func until(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is not so")
		}
	}
}

// What cannot be written is counted, and told when something can be again.
func TestWriterFails(t *testing.T) {
	s := sink{fail: true}
	w := logqueue.New(&s, lost)
	for range 10 {
		_, _ = w.Write([]byte("lost\n"))
	}
	until(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fail = s.failed == 0
		return !s.fail
	})
	_, _ = w.Write([]byte("one\n")) // has it try, and may be lost itself
	until(t, func() bool { return s.String() != "" })
	_, _ = w.Write([]byte("two\n"))
	w.Close(time.Minute)
	if got := s.String(); !strings.HasPrefix(got, "lost 1") || !strings.HasSuffix(got, "two\n") {
		t.Errorf("got %q, want what was lost, then the next", got)
	}
}

// full is a disk that takes some bytes of a line and no more, until there is room.
type full struct {
	sink
	room int
}

func (f *full) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.room; n >= 0 {
		f.room, f.failed = 0, f.failed+1
		f.text.Write(line[:min(n, len(line))])
		return min(n, len(line)), errors.New("full")
	}
	return f.text.Write(line)
}

// A line of which a part was written is not the beginning of the next one.
func TestTornLine(t *testing.T) {
	f := full{room: 3}
	w := logqueue.New(&f, lost)
	_, _ = w.Write([]byte("one line\n"))
	until(t, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.failed == 0 {
			return false
		}
		f.room = -1
		return true
	})
	_, _ = w.Write([]byte("has it try\n"))
	until(t, func() bool { return len(f.String()) > 3 })
	_, _ = w.Write([]byte("two\n"))
	w.Close(time.Minute)
	if got := f.String(); !strings.HasPrefix(got, "one\nlost 1") && !strings.HasPrefix(got, "one\nlost 2") || !strings.HasSuffix(got, "\ntwo\n") {
		t.Errorf("got %q", got)
	}
}

// once fails the first write, and has something done meanwhile.
type once struct {
	sink
	meanwhile func()
}

func (o *once) Write(line []byte) (int, error) {
	if do := o.meanwhile; do != nil {
		o.meanwhile = nil
		do()
		return 0, errors.New("broken")
	}
	return o.sink.Write(line)
}

// What comes while a write fails is lost with it, which is told though the end came meanwhile; what comes after the end
// is not counted.
func TestWriterFailsAtTheEnd(t *testing.T) {
	var o once
	begin, did := make(chan *logqueue.Writer), make(chan struct{})
	o.meanwhile = func() {
		w := <-begin
		_, _ = w.Write([]byte("meanwhile\n"))
		w.Close(0)
		_, _ = w.Write([]byte("late\n"))
		close(did)
	}
	w := logqueue.New(&o, lost)
	_, _ = w.Write([]byte("one\n"))
	begin <- w
	<-did
	if !w.Close(time.Minute) {
		t.Error("it is not done")
	}
	if got, want := o.String(), "lost 2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
