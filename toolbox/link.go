package toolbox

import (
	"context"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// link is one connection to a server: a process, an HTTP session, an endpoint
// in this process. It carries messages and knows nothing of what they mean.
type link interface {
	// Begin has the link read and hand what it reads to r. It is called
	// once, before anything is sent.
	Begin(r receiver)
	// Send writes one message, which is a request with that number or, with
	// 0, anything else. It does not wait for the peer and does not keep msg.
	// What becomes of a request that cannot be delivered after Send returned
	// is told to receiver.Lost.
	Send(msg []byte, id uint64) error
	// Abandon says that nobody waits for the reply to request id any more.
	Abandon(id uint64)
	// Handshaken tells the link the protocol version agreed on, once.
	Handshaken(version string)
	// Done is closed when the peer is gone; Cause then says why.
	Done() <-chan struct{}
	Cause() error
	// Close ends the connection and what is behind it, and waits. The error
	// names what would not stop.
	Close(ctx context.Context) error
	// PID is the process behind the link, or 0.
	PID() int
}

// receiver takes what a link reads. Its methods may be called from several
// goroutines; messages of one stream come in order.
type receiver interface {
	// Receive takes a message, valid only during the call. id is the request
	// on whose own stream it came, 0 where all share one.
	Receive(m *wire.Message, id uint64)
	// Noise takes something that is not a message.
	Noise(line []byte, err error)
	// TooLong takes a message that was thrown away for its size.
	TooLong(err *wire.TooLongError)
	// Broken says that the peer takes or gives no more messages although it is
	// not gone: the link is to be closed.
	Broken(err error)
	// Lost says that request id gets no reply, and why.
	Lost(id uint64, err error)
	// Retired says that the link takes no more requests and ends when those
	// that it has are done: others are for its successor.
	Retired()
}
