package rpc

import (
	"bytes"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Handler receives what a request brings back. Its methods are called by those who learn of it, mostly the goroutine
// that reads from the server, and must not block.
type Handler interface {
	// Progress hands on a progress notification of this request. token is the span of the progress token in m, to be
	// replaced by the client's.
	Progress(m *wire.Message, token wire.Span)
	// Done ends the request, exactly once unless it was cancelled: m is the reply, a Result or a Failure, valid only
	// during the call; or m is nil and err says why there is none.
	Done(m *wire.Message, err error)
}

// Call is one request on its way to a server. The caller fills the exported fields and gives it away once; no field may
// be changed after.
type Call struct {
	// Raw is the client's message, which need live only until Send returns.
	Raw []byte
	// ID is where its id stands; Token where its progress token stands, if it has one. Both are replaced by the number
	// of this call.
	ID, Token wire.Span
	// Params and Meta are where its params and their _meta stand, if it has them; Era is that of the request. A server
	// of another era is given it in its own terms.
	Params, Meta wire.Span
	Era          eras.Era
	// LogLevel is the level from which on a client with a handshake wants log lines, "" for none. A server of revision
	// 2026-07-28, which no logging/setLevel reaches, is told it with each request.
	LogLevel string
	// Tasks says that the client takes a task for an answer, or that the request is about one. A server of the other
	// era is told that in its own terms.
	Tasks bool
	// Open says that it is a stream that stays open: no time is too long.
	Open bool
	// OfClient says that it is a client's, and counts as in flight.
	OfClient bool
	// Levels says that it sets the log level: what comes after it waits for its reply. Notice says that it is a
	// notification, without a reply.
	Levels, Notice bool
	// Tool or Prompt is what it asks for, by the name under which that is offered; "" if it asks for none. Late says that
	// it has waited for its server, which may have others than when it was made.
	Tool, Prompt string
	Late         bool
	Handler      Handler

	edits   edits
	bounded bool // who makes it bounds its time
	works   bool // it is ours, and calls a tool
	number  uint64
	digits  [20]byte
	holder  atomic.Pointer[holder] // the connection that it was given to last
	stage   atomic.Int32           // how far that is with writing it: writing, written or left
	ended   atomic.Bool            // a reply, a loss or a cancel came first
	waits   atomic.Pointer[Queue]
	queued  time.Time // guarded by the queue's mu

	started, active time.Time // guarded by the mutex of the connection's calls
	// stray is the reply to nobody that came while this call alone waited, due when the call ends for it. Both are
	// guarded by the mutex of the connection's calls.
	stray *StrayError
	due   time.Time
}

// The stages of a call that a connection has: being written, written, and left to [Conn.Send] by a connection that
// ended while it was being written.
const (
	writing int32 = iota
	written
	left
)

// holder is the connection that has a call.
type holder interface {
	cancel(call *Call, raw []byte, id wire.Span)
	era() eras.Era
}

// Edit notes that span of Raw is to be replaced by text, which must live until Send returns.
func (c *Call) Edit(span wire.Span, text []byte) { c.edits.add(wire.Edit{Span: span, New: text}) }

// ServerEra is the era of the server that the request went to, Unknown before that.
func (c *Call) ServerEra() eras.Era {
	if h := c.holder.Load(); h != nil {
		return (*h).era()
	}
	return eras.Unknown
}

// IsSent reports whether a server was given the call.
func (c *Call) IsSent() bool { return c.holder.Load() != nil }

// Waits reports whether the call waits in the queue of its server, which starts or has as many calls as it may.
func (c *Call) Waits() bool { return c.waits.Load() != nil }

// message appends the request as a server is to see it, which the edits put into the terms of its era. The call stays
// as it is, so that it can be made anew; to copy it is a tenth of what a long request costs (60 KB: 3 to 5 of 38 µs).
func (c *Call) message(dst []byte, era []wire.Edit) []byte {
	made := c.edits
	for _, e := range era {
		made.add(e)
	}
	digits := strconv.AppendUint(c.digits[:0], c.number, 10)
	made.add(wire.Edit{Span: c.ID, New: digits})
	if c.Token.Present() {
		made.add(wire.Edit{Span: c.Token, New: digits})
	}
	return wire.Splice(dst, c.Raw, made.sorted()...)
}

// own makes the call independent of the caller's buffers.
func (c *Call) own() {
	c.Raw = bytes.Clone(c.Raw)
	for i := range c.edits.list[:c.edits.n] {
		c.edits.list[i].New = bytes.Clone(c.edits.list[i].New)
	}
}

// Fail ends a call that was not sent.
func (c *Call) Fail(err error) {
	if c.finish() {
		c.Handler.Done(nil, err)
	}
}

// HasEnded reports whether a reply, a loss or a cancel has ended the call.
func (c *Call) HasEnded() bool { return c.ended.Load() }

// finish reports whether the caller is the first to end the call.
func (c *Call) finish() bool { return c.ended.CompareAndSwap(false, true) }

// Cancel gives the call up: Handler hears nothing more, and the server is told once, with the client's params of
// notifications/cancelled if there are any (raw is that notification and id the span of its requestId) or in our words.
func (c *Call) Cancel(raw []byte, id wire.Span) {
	if !c.finish() {
		return
	}
	if q := c.waits.Load(); q != nil {
		q.remove(c)
	}
	if h := c.holder.Load(); h != nil {
		(*h).cancel(c, raw, id)
	}
}
