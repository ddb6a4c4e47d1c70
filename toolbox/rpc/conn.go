// Package rpc speaks JSON-RPC to an MCP server over a link: it shakes hands, numbers requests, finds the call that a
// reply or a progress notification belongs to, ends calls that take too long, puts what is said into the terms of the
// server's era, and hands on what the server says of its own accord.
//
//	Call ── Queue            a request on its way: it waits
//	Conn ── Table ── Call    … or is under way
//	  └── link.Link
//	Owner: whose connection it is
//
// A connection is open, draining or ended. One that drains takes no more calls and lives on for those that it has: its
// link says so, or its owner by Drain or DrainIdle of its calls. It has ended after Close, which its owner calls, in
// the end always. Break says that it is to be ended, because the server takes or gives no more messages or for another
// reason; the owner hears of it by Broken, as it hears of the end of the link by that one's Done.
//
// The table alone knows which calls are under way: a call is in it from its number to its end, and whoever takes it out
// ends it. Locks: the table, the queue and the noise have one each; none is held while another is taken, or while a
// handler, the owner or the link is called.
package rpc

import (
	"bytes"
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// Owner is whose connection it is. It is called without a lock held and must not block.
type Owner interface {
	// Request takes a request of the server that is not answered here, to be answered by Write. m is valid only during
	// the call. during is the handler of the call that the request belongs to, nil where the server cannot say that.
	Request(m *wire.Message, during Handler)
	// Notification takes a notification but progress on a call. m is valid only during the call; during is as above.
	Notification(m *wire.Message, during Handler)
	// Ended says that calls have ended: there may be room for others.
	Ended()
	// Draining says that the server has the connection take no more calls.
	Draining()
	// Mismatched says that the server refused a call because its header was made by another definition of the tool.
	Mismatched()
}

// Options are what a connection needs.
type Options struct {
	Toolbox, Server string // whose connection it is, in errors
	Client          Client
	Owner           Owner
	Counts          *Counts
	Limits          func() *Limits // those of this moment
	Buffers         *wire.Buffers
	Log             zerolog.Logger
	Hide            func(json []byte) []byte // takes the secrets of the server out of its errors; nil leaves them as they are
	// Life bounds what is asked of the server besides calls, and Begin runs a task within it.
	Life  context.Context
	Begin func(task func()) bool
}

// Conn is a connection to a server.
type Conn struct {
	writer
	breakage
	Calls *Table // the calls that are under way

	opts    Options
	noise   noise
	backlog backlog
	asking  atomic.Int32  // requests of the server that the client has not answered
	over    chan struct{} // closed with the connection
	hello   atomic.Pointer[Hello]
	self    holder // the connection itself, for its calls
}

// Link is what the connection goes over.
func (c *Conn) Link() link.Link { return c.link }

// Hello is what the server said of itself; nothing until it did. It is replaced and never changed: the server may ask
// while hands are shaken.
func (c *Conn) Hello() *Hello { return c.hello.Load() }

// Cause says why the link is over, once it is.
func (c *Conn) Cause() error {
	cause := c.link.Cause()
	if exit, ok := cause.(*link.ExitError); ok {
		whole := *exit
		whole.Stdout = c.noise.since(time.Time{})
		return &whole
	}
	return cause
}

// Heard returns how many lines the server wrote that were not messages, and the first of them.
func (c *Conn) Heard() (lines int, first []foreign.Text) { return c.noise.heard() }

// Send gives a call its number and writes it. If it fails the server has not seen the call, since a message without its
// newline is none, and the call has not ended.
func (c *Conn) Send(call *Call) error {
	call.stage.Store(writing)
	if err := c.Calls.add(call); err != nil {
		return err
	}
	call.holder.Store(&c.self)
	b := c.buffers.Get()
	*b = call.message(*b, c.Hello().translated(call, c.opts.Client))
	err := c.link.Send(*b, call.number)
	c.buffers.Put(b)
	if err != nil {
		if c.Calls.take(call.number) == nil && call.stage.Load() != left {
			return nil // its end was told to the call already
		}
		call.holder.Store(nil)
		c.opts.Owner.Ended() // another may have waited for its place
		return err
	}
	c.opts.Counts.Calls.Add(1)
	switch {
	case !call.stage.CompareAndSwap(writing, written):
		c.lose(call, c.Calls.why())
	case call.ended.Load():
		c.cancel(call, nil, wire.Span{}) // it was cancelled before it was written
	}
	return nil
}

// Notify writes a client's notification, if it is one of the server's era.
func (c *Conn) Notify(m *wire.Message) error {
	if !c.Hello().Era.Has(string(m.Bytes(m.Method))) {
		return nil
	}
	return c.Write(func(b []byte) []byte { return wire.Splice(b, m.Raw, c.Hello().ofEra(m.Raw, wire.Edit{})...) })
}

// end delivers a reply or a loss to the call with that number.
func (c *Conn) end(number uint64, m *wire.Message, err error) {
	counts := c.opts.Counts
	call, made := c.Calls.end(number, m != nil)
	switch {
	case !made:
		counts.Unknown.Add(1)
		return
	case call == nil || !call.finish():
		counts.Late.Add(1)
		return
	case err != nil:
		counts.Lost.Add(1)
	case m.Kind == wire.Failure:
		counts.Failures.Add(1)
		if code, _ := jsontype.Int(m.Get(m.Error, "code")); code == eras.HeaderMismatch {
			c.opts.Owner.Mismatched()
		}
		m = c.hidden(m)
	}
	call.Handler.Done(m, err)
	c.opts.Owner.Ended()
}

// hidden gives an error of the server without its secrets.
func (c *Conn) hidden(m *wire.Message) *wire.Message {
	if c.opts.Hide == nil {
		return m
	}
	said := m.Bytes(m.Error)
	clean := c.opts.Hide(said)
	if bytes.Equal(clean, said) {
		return m
	}
	other := new(wire.Message)
	for _, clean = range [][]byte{clean, []byte(repeats)} { // a number that is a secret leaves nothing that is JSON
		if wire.Scan(wire.Splice(nil, m.Raw, wire.Edit{Span: m.Error, New: clean}), other) == nil {
			break
		}
	}
	return other
}

// repeats is the error in place of one that cannot be shown without secrets.
const repeats = `{"code":-32603,"message":"the server answered with an error that repeats a secret, and is not shown"}`

// Asked notes that a request of the server waits for the client, until Answered notes that it does no longer. Meanwhile
// the server may be busy with nothing else: that it is silent makes no call late, whichever the request belongs to.
func (c *Conn) Asked() { c.asking.Add(1) }

// Answered notes that a request of the server does not wait for the client any more; it follows each Asked once.
func (c *Conn) Answered() {
	c.Calls.heardAgain() // before a call can be late that had to wait for it
	c.asking.Add(-1)
}

// excused reports whether the server need not be heard: what it says waits for a client that reads slowly, or it waits
// for an answer of its client.
func (c *Conn) excused() bool { return c.backlog.holds() || c.asking.Load() > 0 }

func (c *Conn) era() eras.Era { return c.Hello().Era }

// cancel gives a call up that nobody waits for any more. One that is being written is left to Send, so that the server
// hears of it before.
func (c *Conn) cancel(call *Call, raw []byte, id wire.Span) {
	if call.stage.Load() != written || call.holder.Load() != &c.self {
		return
	}
	c.giveUp(call, raw, id)
	c.opts.Owner.Ended()
}

// giveUp forgets a call and tells the server.
func (c *Conn) giveUp(call *Call, raw []byte, id wire.Span) {
	if c.Calls.take(call.number) == nil {
		return
	}
	if call.OfClient || call.works { // nothing else has a server ask a client
		c.opts.Counts.strayed.Store(&strayed{time.Now(), c.over})
	}
	defer c.link.Abandon(call.number)
	if c.link.Nature().OwnStreams && c.Hello().Era.EndsStreams() {
		return // the end of the request's stream says it (specification 2026-07-28, cancellation)
	}
	// The link may be gone already: then there is nobody to tell.
	_ = c.Write(func(b []byte) []byte {
		number := strconv.AppendUint(nil, call.number, 10)
		if raw != nil {
			return wire.Splice(b, raw, c.Hello().ofEra(raw, wire.Edit{Span: id, New: number})...)
		}
		return wire.AppendNotification(b, "notifications/cancelled", wire.NewObject(nil).Raw("requestId", number).End())
	})
}

// Abort ends the call of a handler, or with nil the only one: the server works on it and waits for what it will not get.
func (c *Conn) Abort(h Handler, cause error) {
	call := c.Calls.of(h)
	if call == nil || !call.finish() {
		return
	}
	c.opts.Counts.Lost.Add(1)
	c.giveUp(call, nil, wire.Span{})
	call.Handler.Done(nil, c.Loss(cause))
	c.opts.Owner.Ended()
}

// Close fails all calls that are under way; later ones fail at once. One that is being written is left to Send, which
// knows whether the server can have seen it. Close reports false if that was done before.
func (c *Conn) Close(err error) bool {
	lost, first := c.Calls.close(err)
	if !first {
		return false
	}
	close(c.over)
	for _, call := range lost {
		c.lose(call, err)
	}
	return true
}

// lose ends a call that gets no reply.
func (c *Conn) lose(call *Call, err error) {
	if call.finish() {
		c.opts.Counts.Lost.Add(1)
		call.Handler.Done(nil, err)
	}
}

// Loss words that a call gets no reply.
func (c *Conn) Loss(cause error) error {
	return &LostError{Failed{c.opts.Toolbox, c.opts.Server, foreign.NewError(cause)}}
}

// HoldUp has what the server says from now on wait for a client that reads slowly, by the account of what it has not
// read. What servers of this process say does not: it is said to the client's own goroutine.
func (c *Conn) HoldUp(unread *account.Account) {
	if !c.link.Nature().Inside {
		c.backlog.unread.Store(unread)
	}
}
