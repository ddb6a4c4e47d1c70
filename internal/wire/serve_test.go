package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// echo is an Endpoint that answers every message with itself.
type echo struct {
	send     func([]byte)
	received []string
	onClose  func(ctx context.Context, s *echo) error // nil: Close returns at once
}

func (e *echo) Connect(send func([]byte)) wire.Session {
	e.send = send
	return e
}

func (e *echo) Receive(msg []byte) {
	e.received = append(e.received, string(msg))
	e.send(msg)
}

func (e *echo) Close(ctx context.Context) error {
	if e.onClose == nil {
		return nil
	}
	return e.onClose(ctx, e)
}

func TestServe(t *testing.T) {
	long := strings.Repeat("x", 200)
	const tooLong = `"error":{"code":-32600,"message":"message of %d bytes is longer than the limit of 100 bytes"}}`
	request := `{"jsonrpc":"2.0","id":"q","method":"a","params":{"x":"` + long + `"}}`
	result := `{"jsonrpc":"2.0","id":4,"result":{"x":"` + long + `"}}`
	refusal := func(id, line string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,` + fmt.Sprintf(tooLong, len(line))
	}
	for _, tt := range []struct {
		name, in string
		received []string
		sent     []string
	}{
		{"nothing", "", nil, nil},
		{"lines", "a\r\n\nb\nc", []string{"a", "b", "c"}, []string{"a", "b", "c"}},
		{"request too long", "a\n" + request + "\nb\n", []string{"a", "b"}, []string{"a", refusal(`"q"`, request), "b"}},
		{"something too long", long + "\nb\n", []string{"b"}, []string{refusal("null", long), "b"}},
		// The session hears of an answer that is too long; echo sends it back.
		{"answer too long", result + "\n", []string{refusal("4", result)}, []string{refusal("4", result)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var e echo
			var out bytes.Buffer
			if err := wire.Serve(t.Context(), strings.NewReader(tt.in), &out, &e, wire.ServeOptions{MaxMessage: 100}); err != nil {
				t.Errorf("got %v, want no error", err)
			}
			if !slices.Equal(e.received, tt.received) {
				t.Errorf("received\n%q, want\n%q", e.received, tt.received)
			}
			want := ""
			for _, line := range tt.sent {
				want += line + "\n"
			}
			if out.String() != want {
				t.Errorf("sent\n%s, want\n%s", out.String(), want)
			}
		})
	}
}

// What is in flight when the input ends is answered and reaches the peer.
func TestServeDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := echo{onClose: func(ctx context.Context, e *echo) error {
			select {
			case <-time.After(999 * time.Millisecond):
				e.send([]byte("late answer"))
			case <-ctx.Done():
			}
			return ctx.Err()
		}}
		var out bytes.Buffer
		if err := wire.Serve(t.Context(), strings.NewReader("a"), &out, &e, wire.ServeOptions{}); err != nil {
			t.Errorf("got %v, want no error", err)
		}
		if got, want := out.String(), "a\nlate answer\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// throttled is told by its peer how far it is behind.
type throttled struct {
	echo
	behind func() bool
}

func (s *throttled) Connect(send func([]byte)) wire.Session {
	s.send = send
	return s
}

func (s *throttled) Throttle(behind func() bool, _ *account.Account) { s.behind = behind }

// A peer is behind, for what can be left out, long before nothing more is read from it.
func TestServeThrottles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s throttled
		in, client := io.Pipe()
		peer, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- wire.Serve(t.Context(), in, out, &s, wire.ServeOptions{Limit: 8 << 10}) }()
		for _, step := range []struct {
			say  int // bytes, which come back
			want bool
		}{{1, false}, {1000, false}, {2000, true}} { // of which the first is being written, not queued
			if _, err := io.WriteString(client, strings.Repeat("x", step.say)+"\n"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got := s.behind(); got != step.want {
				t.Errorf("behind after %d more bytes: got %v, want %v", step.say, got, step.want)
			}
		}
		client.Close()
		if all, err := io.ReadAll(io.LimitReader(peer, 3004)); len(all) != 3004 {
			t.Errorf("got %d bytes and %v, want 3004", len(all), err)
		}
		synctest.Wait()
		if s.behind() {
			t.Error("the peer is behind after it has read all")
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Neither a session that does not finish nor a peer that does not read keeps Serve beyond its grace.
func TestServeEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := echo{onClose: func(ctx context.Context, e *echo) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		r, w := io.Pipe()
		start := time.Now()
		if err := wire.Serve(t.Context(), strings.NewReader("a"), w, &e, wire.ServeOptions{Drain: 3 * time.Second}); err != nil {
			t.Errorf("got %v, want no error", err)
		}
		if got, want := time.Since(start), 4500*time.Millisecond; got != want {
			t.Errorf("got an end after %v, want %v: one grace to answer, half of one to send", got, want)
		}
		r.Close() // frees the goroutine that writes
	})
}

// A peer that reads nothing is not given more to answer; when it reads again, all of it comes.
func TestServePausesForSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, size, count = 10_000, 1000, 100
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		var e echo
		served := make(chan error, 1)
		go func() {
			served <- wire.Serve(t.Context(), inR, outW, &e, wire.ServeOptions{Limit: limit})
			outW.Close()
		}()
		go func() {
			for i := range count {
				fmt.Fprintf(inW, "%0*d\n", size-1, i)
			}
			inW.Close()
		}()
		synctest.Wait()
		if got := len(e.received); got < limit/size || got > limit/size+1 {
			t.Errorf("got %d messages taken, want %d or one more", got, limit/size)
		}
		lines := bufio.NewScanner(outR)
		for i := range count {
			if !lines.Scan() || lines.Text() != fmt.Sprintf("%0*d", size-1, i) {
				t.Fatalf("message %d: got %q", i, lines.Text())
			}
		}
		if lines.Scan() {
			t.Errorf("got %q behind the last message", lines.Text())
		}
		if err := <-served; err != nil {
			t.Errorf("got %v, want no error", err)
		}
	})
}

func TestServeStalled(t *testing.T) {
	const limit, size, count = 100_000, 300_000, 3 // each message needs several reads to make room
	for _, tt := range []struct {
		name  string
		every time.Duration // between reads of 32 KiB; 0: none
		want  error
		after time.Duration
	}{
		{"reads nothing", 0, wire.ErrStalled, 30 * time.Second},
		{"reads too slowly", 31 * time.Second, wire.ErrStalled, 30 * time.Second},
		{"reads slowly", 14 * time.Second, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				outR, outW := io.Pipe()
				e := echo{onClose: func(ctx context.Context, _ *echo) error {
					if tt.want != nil { // nobody hears an answer: there is no grace to find one
						<-ctx.Done()
					}
					return ctx.Err()
				}}
				in := strings.Repeat(strings.Repeat("x", size-1)+"\n", count)
				var reading sync.WaitGroup
				var got bytes.Buffer
				if tt.every > 0 {
					reading.Go(func() {
						for buf := make([]byte, 32<<10); ; time.Sleep(tt.every) {
							n, err := outR.Read(buf)
							got.Write(buf[:n])
							if err != nil {
								return
							}
						}
					})
				}
				start := time.Now()
				err := wire.Serve(t.Context(), strings.NewReader(in), outW, &e, wire.ServeOptions{Limit: limit, Drain: time.Hour})
				if took := time.Since(start); err != tt.want || tt.after > 0 && took != tt.after {
					t.Errorf("got %v after %v, want %v after %v", err, took, tt.want, tt.after)
				}
				outW.Close()
				if reading.Wait(); tt.want == nil && got.String() != in {
					t.Errorf("got %d bytes, want the %d sent", got.Len(), len(in))
				}
				outR.Close()
			})
		})
	}
}

// ctx ends Serve although a Read is under way: at once where the input has deadlines, and by leaving the Read behind
// elsewhere.
func TestServeContextEnds(t *testing.T) {
	forEachLink(t, func(t *testing.T, in link) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		outR, outW, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer outR.Close()
		defer outW.Close()
		var e echo
		served := make(chan error, 1)
		go func() { served <- wire.Serve(ctx, in.r, outW, &e, wire.ServeOptions{}) }()
		if _, err := io.WriteString(in.w, "a\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(outR).ReadString('\n'); line != "a\n" || err != nil {
			t.Fatalf("got %q, %v, want the message", line, err)
		}
		cancel(cause)
		if err := <-served; err != cause {
			t.Errorf("got %v, want %v", err, cause)
		}
		in.w.Close() // frees a Read left behind
		if want := []string{"a"}; !slices.Equal(e.received, want) {
			t.Errorf("got %q received, want %q", e.received, want)
		}
	})
}

// A Read that can be interrupted is not left behind.
func TestServeWaitsForRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		in := &slowToEnd{interrupted: make(chan struct{})}
		var out bytes.Buffer
		time.AfterFunc(time.Second, cancel)
		if err := wire.Serve(ctx, in, &out, &echo{}, wire.ServeOptions{}); err != context.Canceled {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		if !in.ended {
			t.Error("Serve returned before the Read it interrupted")
		}
	})
}

// A Read that goes on in spite of its deadline is left behind after all.
func TestServeLeavesDeafRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		start := time.Now()
		time.AfterFunc(time.Second, cancel)
		if err := wire.Serve(ctx, deaf{r}, io.Discard, &echo{}, wire.ServeOptions{}); err != context.Canceled {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		if took, want := time.Since(start), 2*time.Second; took != want {
			t.Errorf("got an end after %v, want %v", took, want)
		}
		w.Close()
	})
}

type deaf struct{ io.Reader }

func (deaf) SetReadDeadline(time.Time) error { return nil }

// slowToEnd has a Read that takes its time to notice the deadline.
type slowToEnd struct {
	interrupted chan struct{}
	ended       bool
}

func (s *slowToEnd) Read([]byte) (int, error) {
	<-s.interrupted
	time.Sleep(time.Second / 2)
	s.ended = true
	return 0, os.ErrDeadlineExceeded
}

func (s *slowToEnd) SetReadDeadline(d time.Time) error {
	if !d.IsZero() {
		close(s.interrupted)
	}
	return nil
}

// What a Read that was left behind brings is not given to a closed session.
func TestServeReceivesNothingAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		inR, inW := io.Pipe()
		var e echo
		var out bytes.Buffer
		served := make(chan error, 1)
		go func() { served <- wire.Serve(ctx, inR, &out, &e, wire.ServeOptions{}) }()
		synctest.Wait()
		cancel()
		if err := <-served; err != context.Canceled {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		io.WriteString(inW, "late\n")
		synctest.Wait()
		if len(e.received) != 0 || out.Len() != 0 {
			t.Errorf("got %q received and %q sent, want nothing", e.received, out.String())
		}
	})
}

// A peer that is gone ends Serve without waiting for answers, though the input goes on.
func TestServePeerGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		gone := errors.New("gone")
		outR.CloseWithError(gone)
		e := echo{onClose: func(ctx context.Context, e *echo) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		go io.WriteString(inW, "a\n")
		start := time.Now()
		if err := wire.Serve(t.Context(), inR, outW, &e, wire.ServeOptions{}); err != gone {
			t.Errorf("got %v, want %v", err, gone)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("got an end after %v, want it at once", took)
		}
		inW.Close()
	})
}

func TestServeInputBreaks(t *testing.T) {
	boom := errors.New("boom")
	in := io.MultiReader(strings.NewReader("a\n"), readFunc(func([]byte) (int, error) { return 0, boom }))
	var e echo
	var out bytes.Buffer
	if err := wire.Serve(t.Context(), in, &out, &e, wire.ServeOptions{}); err != boom {
		t.Errorf("got %v, want %v", err, boom)
	}
	if out.String() != "a\n" {
		t.Errorf("got %q, want what was answered before", out.String())
	}
}

func BenchmarkServe(b *testing.B) {
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- wire.Serve(context.Background(), inR, outW, reflector{}, wire.ServeOptions{}) }()
	msg := append(call(200), '\n')
	buf := make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := inW.Write(msg); err != nil {
			b.Fatal(err)
		}
		if _, err := outR.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
	inW.Close()
	if err := <-done; err != nil {
		b.Error(err)
	}
	inR.Close()
	outR.Close()
	outW.Close()
}

// reflector answers like echo, and remembers nothing.
type reflector struct{}

func (reflector) Connect(send func([]byte)) wire.Session { return reflection(send) }

type reflection func([]byte)

func (r reflection) Receive(msg []byte)        { r(msg) }
func (reflection) Close(context.Context) error { return nil }
