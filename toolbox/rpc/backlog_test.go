package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// echoing is a link to a server that answers each request at once.
type echoing struct {
	link.Link
	to link.Receiver
}

func (l *echoing) Begin(r link.Receiver) { l.to = r }
func (l *echoing) Nature() link.Nature   { return link.Nature{} }
func (l *echoing) Abandon(uint64)        {}

func (l *echoing) Tell(msg []byte, _ func(error)) error { return l.Send(msg, 0) }

func (l *echoing) Send(_ []byte, id uint64) error {
	if id == 0 {
		return nil
	}
	var m wire.Message
	if err := wire.Scan(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{}}`, id), &m); err != nil {
		return err
	}
	go l.to.Receive(&m, 0)
	return nil
}

// nobody owns a connection and wants to hear of nothing.
type nobody struct{}

func (nobody) Request(*wire.Message, rpc.Handler)      {}
func (nobody) Notification(*wire.Message, rpc.Handler) {}
func (nobody) Ended()                                  {}
func (nobody) Draining()                               {}
func (nobody) Mismatched()                             {}

// A reply that waits for a client which reads slowly is late by the total time of its call alone.
func TestReplyThatWaitsForTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unread := account.New(10, nil)
		limits := &rpc.Limits{Timeouts: config.Timeouts{CallIdle: time.Second, CallTotal: 10 * time.Second}, MaxInFlight: 1}
		c := rpc.New(&echoing{}, rpc.Options{
			Owner: nobody{}, Counts: new(rpc.Counts), Limits: func() *rpc.Limits { return limits },
			Buffers: new(wire.Buffers),
			Life:    t.Context(), Begin: func(func()) bool { return false },
		})
		c.Begin()
		c.HoldUp(unread)
		defer c.Close(errors.New("over"))
		call := func() <-chan error {
			ended := make(chan error, 1)
			go func() {
				_, err := c.Request(context.Background(), "tools/call", nil)
				ended <- err
			}()
			synctest.Wait()
			return ended
		}

		unread.Keep(11)
		ended := call()
		time.Sleep(5 * time.Second) // five times what a call may take that hears nothing
		if !unread.Held() || len(ended) > 0 {
			t.Fatalf("got an end %v, held %v, want a reply that waits", len(ended) > 0, unread.Held())
		}
		unread.Credit(11)
		if err := <-ended; err != nil {
			t.Errorf("got %v when the client had read", err)
		}

		unread.Keep(11)
		var late *rpc.TimeoutError
		if err := <-call(); !errors.As(err, &late) || late.What != "total" || !strings.Contains(err.Error(), "did not finish within 10s") {
			t.Errorf("got %v, want the total time to be over", err)
		}
	})
}

// counting owns a connection and counts how often it hears that there may be room.
type counting struct {
	nobody
	ended atomic.Int32
}

func (c *counting) Ended() { c.ended.Add(1) }

// busy is a link that takes no message.
type busy struct{ echoing }

func (*busy) Send([]byte, uint64) error { return link.ErrBusy }

type deaf struct{}

func (deaf) Progress(*wire.Message, wire.Span) {}
func (deaf) Done(*wire.Message, error)         {}

// Who waits for the place of a call hears of its end, also where the call never got to the server.
func TestPlaceOfACallThatWasNotMade(t *testing.T) {
	limits := &rpc.Limits{Timeouts: config.Timeouts{CallIdle: time.Minute, CallTotal: time.Minute}, MaxInFlight: 1}
	for name, over := range map[string]link.Link{"cancelled before": new(echoing), "refused by the link": new(busy)} {
		t.Run(name, func(t *testing.T) {
			owner := new(counting)
			c := rpc.New(over, rpc.Options{
				Owner: owner, Counts: new(rpc.Counts), Limits: func() *rpc.Limits { return limits },
				Buffers: new(wire.Buffers), Life: t.Context(), Begin: func(func()) bool { return false },
			})
			c.Begin()
			defer c.Close(errors.New("over"))
			raw := []byte(`{"jsonrpc":"2.0","id":0,"method":"tools/call"}`)
			var m wire.Message
			if err := wire.Scan(raw, &m); err != nil {
				t.Fatal(err)
			}
			call := &rpc.Call{Raw: raw, ID: m.ID, OfClient: true, Handler: deaf{}}
			if name == "cancelled before" {
				call.Cancel(nil, wire.Span{})
			}
			if err := c.Send(call); (err != nil) != (name == "refused by the link") {
				t.Errorf("got %v", err)
			}
			if owner.ended.Load() == 0 {
				t.Error("nobody heard that there is room")
			}
		})
	}
}

// ending is a link whose connection ends while a call is being written.
type ending struct {
	echoing
	conn *rpc.Conn
	err  error // what becomes of the writing
}

func (l *ending) Send([]byte, uint64) error {
	l.conn.Close(errors.New("over"))
	return l.err
}

// told counts how often a call is ended.
type told struct {
	deaf
	times int
	err   error
}

func (h *told) Done(_ *wire.Message, err error) { h.times, h.err = h.times+1, err }

// A call whose connection ends while it is being written is still to be made where it was not written: it is not known
// to be lost. Where it was written, it is.
func TestEndWhileACallIsWritten(t *testing.T) {
	limits := &rpc.Limits{Timeouts: config.Timeouts{CallIdle: time.Minute, CallTotal: time.Minute}, MaxInFlight: 1}
	for name, over := range map[string]*ending{"not written": {err: link.ErrClosed}, "written": {}} {
		t.Run(name, func(t *testing.T) {
			over.conn = rpc.New(over, rpc.Options{
				Owner: nobody{}, Counts: new(rpc.Counts), Limits: func() *rpc.Limits { return limits },
				Buffers: new(wire.Buffers), Life: t.Context(), Begin: func(func()) bool { return false },
			})
			over.conn.Begin()
			raw := []byte(`{"jsonrpc":"2.0","id":0,"method":"tools/call"}`)
			var m wire.Message
			if err := wire.Scan(raw, &m); err != nil {
				t.Fatal(err)
			}
			heard := new(told)
			call := &rpc.Call{Raw: raw, ID: m.ID, OfClient: true, Handler: heard}
			err := over.conn.Send(call)
			if !errors.Is(err, over.err) || call.HasEnded() != (over.err == nil) {
				t.Errorf("Send: got %v and an ended call %v, want %v", err, call.HasEnded(), over.err)
			}
			if over.err == nil && (heard.times != 1 || heard.err == nil) || over.err != nil && heard.times != 0 {
				t.Errorf("the caller was told %d times, last %v", heard.times, heard.err)
			}
		})
	}
}

// closed is a link that was closed.
type closed struct{ echoing }

func (*closed) Send([]byte, uint64) error { return link.ErrClosed }

// A call that was not written is not lost, whenever the connection is closed, and not sent.
func TestEndBesideACallThatIsNotWritten(t *testing.T) {
	limits := &rpc.Limits{Timeouts: config.Timeouts{CallIdle: time.Minute, CallTotal: time.Minute}, MaxInFlight: 1}
	raw := []byte(`{"jsonrpc":"2.0","id":0,"method":"tools/call"}`)
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		t.Fatal(err)
	}
	for range 20000 {
		c := rpc.New(new(closed), rpc.Options{
			Owner: nobody{}, Counts: new(rpc.Counts), Limits: func() *rpc.Limits { return limits },
			Buffers: new(wire.Buffers), Life: t.Context(), Begin: func(func()) bool { return false },
		})
		c.Begin()
		go c.Close(errors.New("over"))
		heard := new(told)
		call := &rpc.Call{Raw: raw, ID: m.ID, OfClient: true, Handler: heard}
		if err := c.Send(call); err == nil || call.HasEnded() || call.IsSent() {
			t.Fatalf("got %v, the call is said to be sent, %v, and the caller was told %v", err, call.IsSent(), heard.err)
		}
	}
}

// slow is a link to a server that answers after five seconds.
type slow struct{ echoing }

func (l *slow) Send(raw []byte, id uint64) error {
	go func() {
		time.Sleep(5 * time.Second)
		_ = l.echoing.Send(raw, id)
	}()
	return nil
}

// The time of a start is timeouts.start: its requests may take longer than the silence that a call may have.
func TestStartIsSilentForLongerThanACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := &rpc.Limits{Timeouts: config.Timeouts{CallIdle: time.Second, CallTotal: 2 * time.Second}, MaxInFlight: 1}
		c := rpc.New(new(slow), rpc.Options{
			Owner: nobody{}, Counts: new(rpc.Counts), Limits: func() *rpc.Limits { return limits },
			Buffers: new(wire.Buffers), Life: t.Context(), Begin: func(func()) bool { return false },
		})
		c.Begin()
		defer c.Close(errors.New("over"))
		start, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := rpc.Consult(start, c, "tools/list", nil, func([]byte) (struct{}, error) { return struct{}{}, nil }); err != nil {
			t.Errorf("a list at the start: %v", err)
		}
		var late *rpc.TimeoutError
		if _, err := c.Request(start, "tools/call", nil); !errors.As(err, &late) || late.What != "idle" {
			t.Errorf("a call: got %v, want that it is too late", err)
		}
		time.Sleep(10 * time.Second) // what is answered late
	})
}

// A server that was left with a call may be at work on it for a while, but not behind its connection. What workbench asks
// to get to know it is no call.
func TestStrays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := &rpc.Limits{Timeouts: config.Timeouts{CallIdle: time.Minute, CallTotal: time.Minute}, MaxInFlight: 1}
		counts := new(rpc.Counts)
		connect := func() *rpc.Conn {
			c := rpc.New(new(slow), rpc.Options{
				Owner: nobody{}, Counts: counts, Limits: func() *rpc.Limits { return limits },
				Buffers: new(wire.Buffers), Life: t.Context(), Begin: func(func()) bool { return false },
			})
			c.Begin()
			return c
		}
		leave := func(c *rpc.Conn, method string) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			if _, err := c.Request(ctx, method, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v, want that it was given up", method, err)
			}
		}
		check := func(when string, want bool) {
			if counts.Strays() != want {
				t.Errorf("%s: got %v, want %v", when, !want, want)
			}
		}
		first := connect()
		leave(first, "server/discover")
		check("after a probe", false)
		leave(first, "tools/call")
		check("after a call", true)
		first.Close(errors.New("over"))
		check("after the end of its connection", false)
		second := connect()
		defer second.Close(errors.New("over"))
		leave(second, "tools/call")
		time.Sleep(59 * time.Second)
		check("59 seconds after a call", true)
		time.Sleep(time.Second)
		check("a minute after a call", false)
	})
}
