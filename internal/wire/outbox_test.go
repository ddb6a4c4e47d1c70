package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// link is two ends of a stream.
type link struct {
	r io.ReadCloser
	w io.WriteCloser
}

// links makes streams of every sort that can be had on this system.
func links() map[string]func(t testing.TB) link {
	all := map[string]func(testing.TB) link{
		"io.Pipe": func(testing.TB) link {
			r, w := io.Pipe()
			return link{r, w}
		},
		"net.Pipe": func(testing.TB) link {
			r, w := net.Pipe()
			return link{r, w}
		},
		"pipe": func(t testing.TB) link {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			return link{r, w}
		},
		"pipe in blocking mode": func(t testing.TB) link {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			w.Fd() // sets it
			return link{r, w}
		},
		"TCP": func(t testing.TB) link {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			w, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			r, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			return link{r, w}
		},
	}
	addSockets(all)
	return all
}

// forEachLink runs a test over every sort of stream. The ends are closed behind it.
func forEachLink(t *testing.T, test func(t *testing.T, l link)) {
	for name, open := range links() {
		t.Run(name, func(t *testing.T) {
			l := open(t)
			defer l.r.Close()
			defer l.w.Close()
			test(t, l)
		})
	}
}

// While the peer reads nothing, Send takes whatever it is given. When the peer reads at last, it finds every message
// whole, and those of each sender in order.
func TestOutboxNeverBlocks(t *testing.T) {
	const senders, each = 4, 400
	forEachLink(t, func(t *testing.T, l link) {
		o := wire.NewOutbox(l.w, 0)
		defer o.Close()
		r := bufio.NewReaderSize(l.r, 1<<20)
		for range 2 { // once more with what the first time left
			var all sync.WaitGroup
			for s := range senders {
				all.Go(func() {
					for i := range each {
						if err := o.Send(message(s, i)); err != nil {
							t.Errorf("sender %d, message %d: %v", s, i, err)
						}
					}
				})
			}
			all.Wait() // more than a megabyte is on its way, and nothing has been read
			expectAll(t, r, senders, each)
			if err := o.Flush(t.Context()); err != nil {
				t.Errorf("got %v when all was read, want no error", err)
			}
		}
	})
}

// expectAll reads all messages of all senders.
func expectAll(t *testing.T, r *bufio.Reader, senders, each int) {
	t.Helper()
	next := make([]int, senders)
	for range senders * each {
		line, err := r.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var s, i int
		if _, err := fmt.Sscanf(string(line), "%d %d", &s, &i); err != nil || s >= senders {
			t.Fatalf("got %.40q…: %v", line, err)
		}
		if want := append(message(s, next[s]), '\n'); !bytes.Equal(line, want) {
			t.Fatalf("got %.40q… of %d bytes, want %.40q… of %d bytes", line, len(line), want, len(want))
		}
		next[s]++
	}
}

// message is message i of sender s; some are longer than a pipe or a socket holds.
func message(s, i int) []byte {
	size := 10 + i*7%3000
	if i%100 == 50 {
		size = 300_000
	}
	return fmt.Appendf(nil, "%d %d %s", s, i, strings.Repeat(string(rune('a'+i%26)), size))
}

// A message handed over is the Outbox's no longer than Send runs.
func TestOutboxKeepsNothing(t *testing.T) {
	forEachLink(t, func(t *testing.T, l link) {
		o := wire.NewOutbox(l.w, 0)
		defer o.Close()
		msg := make([]byte, 100_000, 200_000)
		const count = 20
		for i := range count {
			for j := range msg {
				msg[j] = byte('a' + i)
			}
			if err := o.Send(msg); err != nil {
				t.Fatal(err)
			}
		}
		clear(msg)
		if spare := msg[:cap(msg)][len(msg):]; bytes.IndexByte(spare, '\n') >= 0 {
			t.Error("the spare capacity of the message was written to")
		}
		r := bufio.NewReader(l.r)
		for i := range count {
			line, err := r.ReadBytes('\n')
			if want := bytes.Repeat([]byte{byte('a' + i)}, len(msg)); err != nil || !bytes.Equal(bytes.TrimSuffix(line, []byte("\n")), want) {
				t.Fatalf("message %d: got %.20q…, %v, want %.20q…", i, line, err, want)
			}
		}
	})
}

func TestOutboxLimit(t *testing.T) {
	forEachLink(t, func(t *testing.T, l link) {
		const limit = 1 << 20
		o := wire.NewOutbox(l.w, limit)
		defer o.Close()
		msg := bytes.Repeat([]byte("x"), 9999)
		sent := 0
		for {
			err := o.Offer(msg)
			if err == wire.ErrFull {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if sent++; sent > 5000 {
				t.Fatal("got 50 MB accepted, want a full Outbox")
			}
		}
		if sent*10000 <= limit {
			t.Errorf("got %d bytes accepted, want more than %d", sent*10000, limit)
		}
		ended, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		cancel(cause)
		if err := o.Wait(ended); err != cause {
			t.Errorf("Wait: got %v, want %v", err, cause)
		}
		if err := o.Flush(ended); err != cause {
			t.Errorf("Flush: got %v, want %v", err, cause)
		}
		if err := o.Send(msg); err != nil {
			t.Errorf("Send: got %v, want it accepted", err)
		}

		var reading sync.WaitGroup
		reading.Go(func() { _, _ = io.Copy(io.Discard, l.r) }) // to the end, or until it is closed
		if err := o.Wait(t.Context()); err != nil {
			t.Errorf("Wait: got %v, want no error", err)
		}
		if err := o.Offer(msg); err != nil {
			t.Errorf("Offer: got %v after Wait, want it accepted", err)
		}
		if err := o.Flush(t.Context()); err != nil {
			t.Errorf("Flush: got %v, want no error", err)
		}
		l.w.Close()
		reading.Wait()
	})
}

// A message may fit where its newline does not: a pipe mostly holds this much.
func TestOutboxNewlineLeftOver(t *testing.T) {
	forEachLink(t, func(t *testing.T, l link) {
		o := wire.NewOutbox(l.w, 0)
		defer o.Close()
		first := strings.Repeat("a", 65536)
		for _, msg := range []string{first, "b"} {
			if err := o.Send([]byte(msg)); err != nil {
				t.Fatal(err)
			}
		}
		r := bufio.NewReader(l.r)
		for _, want := range []string{first + "\n", "b\n"} {
			if line, err := r.ReadString('\n'); line != want || err != nil {
				t.Fatalf("got %d bytes, %v, want %d", len(line), err, len(want))
			}
		}
	})
}

// Close frees those who wait, even if the write in progress does not end.
func TestOutboxCloseFreesWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		o := wire.NewOutbox(w, 1)
		for range 3 {
			if err := o.Send([]byte("hello")); err != nil {
				t.Fatal(err)
			}
		}
		freed := make(chan error, 2)
		for _, wait := range []func(context.Context) error{o.Wait, o.Flush} {
			go func() { freed <- wait(context.Background()) }()
		}
		synctest.Wait()
		o.Close()
		for range 2 {
			if err := <-freed; err != wire.ErrClosed {
				t.Errorf("got %v, want %v", err, wire.ErrClosed)
			}
		}
		r.Close()
	})
}

// Close does not wait for a peer that reads nothing, nor leave a goroutine behind if the writer has deadlines.
func TestOutboxCloseWhileBlocked(t *testing.T) {
	forEachLink(t, func(t *testing.T, l link) {
		before := goleak.IgnoreCurrent()
		o := wire.NewOutbox(l.w, 1)
		for range 32 { // more than a system buffers
			if err := o.Send(make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
		}
		var waiting sync.WaitGroup
		for _, wait := range []func(context.Context) error{o.Wait, o.Flush} {
			waiting.Go(func() {
				if err := wait(context.Background()); err != wire.ErrClosed {
					t.Errorf("got %v from a wait, want %v", err, wire.ErrClosed)
				}
			})
		}
		if err := o.Close(); err != nil {
			t.Errorf("got %v, want no error", err)
		}
		<-o.Done()
		waiting.Wait()
		if err := o.Close(); err != nil {
			t.Errorf("got %v from the second Close, want no error", err)
		}
		if !strings.Contains(t.Name(), "blocking") && !strings.Contains(t.Name(), "io.Pipe") {
			goleak.VerifyNone(t, before)
		}
		for name, err := range map[string]error{"Send": o.Send(nil), "Offer": o.Offer(nil), "Err": o.Err()} {
			if err != wire.ErrClosed {
				t.Errorf("%s: got %v, want %v", name, err, wire.ErrClosed)
			}
		}
	})
}

// The peer going away breaks the Outbox, whether it writes directly or not.
func TestOutboxPeerGone(t *testing.T) {
	for _, backlog := range []int{0, 3 << 20} {
		t.Run(fmt.Sprint(backlog, " bytes before"), func(t *testing.T) {
			forEachLink(t, func(t *testing.T, l link) {
				o := wire.NewOutbox(l.w, 0)
				defer o.Close()
				if err := o.Send(make([]byte, backlog)); err != nil {
					t.Fatal(err)
				}
				l.r.Close()
				for o.Err() == nil { // a socket takes a little before it notices
					_ = o.Send([]byte("hello"))
				}
				<-o.Done()
				if err := o.Err(); err == wire.ErrClosed {
					t.Errorf("got %v, want the error of the write", err)
				}
				if got, want := o.Send(nil), o.Err(); got != want {
					t.Errorf("Send: got %v, want %v", got, want)
				}
				o.Close()
				if err := o.Err(); err == wire.ErrClosed {
					t.Errorf("got %v after Close, want the error of the write", err)
				}
			})
		})
	}
}

// What gathers behind a slow write leaves in few large ones.
func TestOutboxCoalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowWriter{gate: make(chan struct{})}
		o := wire.NewOutbox(w, 0)
		var want bytes.Buffer
		for i := range 1000 {
			msg := fmt.Appendf(nil, "message %d", i)
			want.Write(append(msg, '\n'))
			if err := o.Send(msg); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				synctest.Wait() // the first is being written
			}
		}
		close(w.gate)
		if err := o.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w.writes != 2 {
			t.Errorf("got %d writes, want 2", w.writes)
		}
		if !bytes.Equal(w.got.Bytes(), want.Bytes()) {
			t.Errorf("got %d bytes other than the %d sent", w.got.Len(), want.Len())
		}
	})
}

// slowWriter writes nothing until gate is closed.
type slowWriter struct {
	gate   chan struct{}
	got    bytes.Buffer
	writes int
}

func (w *slowWriter) Write(p []byte) (int, error) {
	<-w.gate
	w.writes++
	return w.got.Write(p)
}

func TestOutboxShortWrite(t *testing.T) {
	o := wire.NewOutbox(writeFunc(func(p []byte) (int, error) { return len(p) - 1, nil }), 0)
	if err := o.Send([]byte("a")); err != nil {
		t.Fatal(err)
	}
	<-o.Done()
	if err := o.Err(); err != io.ErrShortWrite {
		t.Errorf("got %v, want %v", err, io.ErrShortWrite)
	}
}

type writeFunc func([]byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

// What long messages wait in is used again, and is not left for the garbage collector to find.
func TestOutboxLeavesNoGarbage(t *testing.T) {
	const rounds, long = 16, 4 << 20
	msg := make([]byte, long)
	o := wire.NewOutbox(writeFunc(func(p []byte) (int, error) { return len(p), nil }), 0)
	defer o.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		if err := o.Send(msg); err != nil {
			t.Fatal(err)
		}
		if err := o.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	// The race detector has a pool forget a part of what it is given.
	if made := after.TotalAlloc - before.TotalAlloc; made > rounds*long*2/3 {
		t.Errorf("%d MiB were allocated for %d messages of %d MiB", made>>20, rounds, long>>20)
	}
}
