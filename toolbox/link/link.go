// Package link carries messages to MCP servers and back: to a process over its standard streams, over HTTP in both of
// its transports, and to a server inside this process. A link knows nothing of what the messages mean but what its
// transport makes it know: which request a message belongs to, and the revision that was agreed on.
//
//	Link ─► Stdio ── Process ── child.Process
//	     ─► HTTP ──┐
//	     ─► SSE ───┴ remote.Requester
//	     ─► Builtin ── wire.Endpoint
//	Receiver: who takes what a link reads
//
// A new transport is one file here, and its line in the table of toolbox that makes links (dial.go).
//
// Over HTTP a message to a server is copied, because Send returns before it is written, and the buffer that it came in
// is used again. A reply is handed on in the buffer that it was read into; a client over HTTP gets a copy of it
// (httpfront), because who read it does not wait for a slow client. An event of a stream is one message: it is handed
// on when it is whole, before the next has come. Most of what a call to a server over HTTP costs is net/http's, and the
// collection of what that allocates.
//
// Locks: each is held for a moment, and none while a receiver or a server is called. posts.mu comes before that of the
// requester, and no other is held while one is taken.
package link

import (
	"context"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Link is one connection to a server: a process, an HTTP session, an endpoint in this process. It carries messages and
// knows nothing of what they mean.
type Link interface {
	// Begin has the link read and hand what it reads to r. It is called once, before anything is sent.
	Begin(r Receiver)
	// Send writes the request of a number. It does not wait for the peer and does not keep msg. What becomes of a
	// request that cannot be delivered after Send returned is told to Receiver.Lost.
	Send(msg []byte, id uint64) error
	// Tell writes any other message in the same way. If it cannot be delivered after Tell returned, and the link lives
	// on, lost is called with the reason. A server that wants to be left alone gets it afterwards.
	Tell(msg []byte, lost func(error)) error
	// Abandon says that nobody waits for the reply to request id any more.
	Abandon(id uint64)
	// Handshaken tells the link the protocol version agreed on, once.
	Handshaken(version string)
	// Usable reports whether a tool of that name and definition may be called over the link.
	Usable(tool string, definition []byte) bool
	// Nature says what is different about links of its kind.
	Nature() Nature
	// Process is the process behind the link; nil if there is none.
	Process() *Process
	// Done is closed when the peer is gone; Cause then says why.
	Done() <-chan struct{}
	Cause() error
	// Close ends the connection and what is behind it, and waits. The error names what would not stop.
	Close(ctx context.Context) error
}

// Nature says what is different about a kind of link. The zero value is one on which all messages share a stream.
type Nature struct {
	// OwnStreams says that each request has a stream of its own. In revision 2026-07-28 the end of that stream is what
	// cancels the request, and no message from here is a response.
	OwnStreams bool
	// Inside says that the server is in this process, and speaks on the goroutine of whoever spoke to it.
	Inside bool
}

// plain is what most links are like; they embed it.
type plain struct{}

func (plain) Abandon(uint64)             {}
func (plain) Handshaken(string)          {}
func (plain) Usable(string, []byte) bool { return true }
func (plain) Nature() Nature             { return Nature{} }
func (plain) Process() *Process          { return nil }

// Receiver takes what a link reads. Its methods may be called from several goroutines; messages of one stream come in
// order.
type Receiver interface {
	// Receive takes a message, valid only during the call. id is the request on whose own stream it came, 0 where all
	// share one.
	Receive(m *wire.Message, id uint64)
	// Noise takes something that is not a message.
	Noise(line []byte, err error)
	// TooLong takes a message that was thrown away for its size.
	TooLong(err *wire.TooLongError)
	// Break says that the peer takes or gives no more messages although it is not gone: the link is to be closed.
	Break(cause error)
	// Lost says that request id gets no reply, and why.
	Lost(id uint64, err error)
	// Draining says that the link takes no more requests and ends when those that it has are done: others are for its
	// successor.
	Draining()
}

// AwaitEnd waits for the end of a link that seems near: a process that dies breaks its pipe before its death is seen.
func AwaitEnd(l Link) {
	wait := time.NewTimer(exitAfterEOF)
	defer wait.Stop()
	select {
	case <-l.Done():
	case <-wait.C:
	}
}
