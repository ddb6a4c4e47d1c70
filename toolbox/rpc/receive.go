package rpc

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/mcp-workbench/workbench/internal/awake"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// receiver is the side of a connection that its link knows.
type receiver struct{ *Conn }

// Receive is the link's way in. What is to go on to a client that has much to read waits there, and with it what comes
// after it: nothing more is read from the server. What comes after the end of the connection is for nobody. Meanwhile
// replies may have come that nobody could see: their calls are not late for it.
func (c receiver) Receive(m *wire.Message, id uint64) {
	if c.opts.Counts.InFlight.Load() == 1 { // of several at once none finds the program at rest
		awake.Heard()
	}
	c.backlog.hand(len(m.Raw), c.over, c.Calls.heardAgain, func() { c.hand(m, id) })
}

// hand does with a message what is to be done.
func (c receiver) hand(m *wire.Message, id uint64) {
	switch m.Kind {
	case wire.Result, wire.Failure:
		c.reply(m)
	case wire.Request:
		c.request(m, id)
	case wire.Notification:
		switch {
		case m.IsMethod("notifications/progress"):
			c.progress(m)
		case m.IsMethod("notifications/cancelled") && c.torn(m):
		default:
			c.opts.Owner.Notification(m, c.during(id))
		}
	}
}

func (c receiver) reply(m *wire.Message) {
	token := m.Bytes(m.ID)
	if number, ok := link.Number(token); ok && c.Calls.made(number) {
		c.end(number, m, nil)
		return
	}
	// Some servers echo the number as a string. It is not the id they were given, so it answers nothing; but the caller
	// is told, not left waiting.
	if s, ok := wire.Unquote(token); ok {
		if number, err := strconv.ParseUint(s, 10, 64); err == nil && c.Calls.made(number) {
			c.end(number, nil, c.Loss(fmt.Errorf("answered request %d with another id, %s", number, foreign.NewName(string(token)))))
			return
		}
	}
	c.opts.Counts.Unknown.Add(1)
	c.stray(m.Raw)
}

// stray notes a reply that is to no request.
func (c receiver) stray(line []byte) {
	c.opts.Log.Debug().Int(logkey.Bytes, len(line)).Msg("the server sent a reply to no request")
	c.Calls.stray(&StrayError{Reply: foreign.NewText(string(line[:min(len(line), strayKept)])), at: time.Now()})
}

// maxID is the longest id of a request of a server that is answered, in bytes.
const maxID = 1 << 10

// request takes a request of the server: a ping is answered here, all else is the owner's to answer. It came on the
// stream of request during, if that is not 0.
func (c receiver) request(m *wire.Message, during uint64) {
	id := m.Bytes(m.ID)
	switch {
	case len(id) > maxID:
		c.Noise(m.Raw, fmt.Errorf("request with an id of %d bytes; at most %d are repeated in a reply", len(id), maxID))
	case m.IsMethod("initialize"), m.IsMethod("server/discover"):
		// Clients alone send these: a program that is no server, such as cat, repeats what it reads.
		if number, ok := link.Number(id); ok && c.Calls.made(number) {
			c.end(number, nil, c.Loss(errors.New("sent back what it was sent, which no MCP server does; correct its command")))
			return
		}
		c.Refuse(id, wire.CodeMethodNotFound, "a server makes no handshake with its client")
	case m.IsMethod("ping"):
		_ = c.Write(func(b []byte) []byte { return wire.AppendResult(b, id, []byte("{}")) })
	case c.Hello().Era.AsksInResults():
		// A request of a server whose revision has none is refused. Over HTTP it is not answered, since clients of that
		// revision have no responses either.
		c.opts.Counts.Unknown.Add(1)
		if !c.link.Nature().OwnStreams {
			c.Refuse(id, wire.CodeMethodNotFound, "revision 2026-07-28 has no requests of servers: ask in a result")
		}
	default:
		c.opts.Owner.Request(m, c.during(during))
	}
}

// torn ends a stream of ours that stays open, if that is what the server cancels: by that it says that it ended it
// (specification 2026-07-28, cancellation). It reports whether that is so.
func (c receiver) torn(m *wire.Message) bool {
	number, ok := link.Number(m.Get(m.Params, "requestId"))
	if call := c.Calls.find(number); !ok || call == nil || !call.Open {
		return false
	}
	c.end(number, nil, c.Loss(errors.New("the server ended the subscription")))
	c.link.Abandon(number)
	return true
}

// Subscriber is the handler of the subscription that a notification belongs to; nil if it does not say.
func (c *Conn) Subscriber(m *wire.Message) Handler {
	number, _ := link.Number(m.Get(m.Params, "_meta", eras.Subscription))
	return c.during(number)
}

// during is the handler of the call on whose stream something came, by its number; nil where that is 0 or has ended.
func (c *Conn) during(number uint64) Handler {
	if number == 0 {
		return nil
	}
	if call := c.Calls.find(number); call != nil {
		return call.Handler
	}
	return nil
}

// progress finds the call by its token, which is the call's number.
func (c receiver) progress(m *wire.Message) {
	var out [1]wire.Span
	if !m.Params.Present() || wire.Find(m.Raw, m.Params, []string{"progressToken"}, out[:]) != nil || !out[0].Present() {
		return
	}
	number, ok := link.Number(m.Bytes(out[0]))
	if !ok {
		return
	}
	call := c.Calls.progressed(number)
	if call != nil && call.Token.Present() && !call.ended.Load() {
		call.Handler.Progress(m, out[0])
	}
}

// Noise counts what is not a message; the first lines are kept for the status. A reply that breaks the rules but has an
// id ends its call, and a request that does is refused, so that neither side waits for ever.
func (c receiver) Noise(line []byte, err error) {
	if id := brokenRequest(line, err); id != nil && len(id) <= maxID && !(c.Hello().Era.AsksInResults() && c.link.Nature().OwnStreams) {
		c.Refuse(id, wire.CodeInvalidRequest, err.Error())
	}
	if id, is := looksLikeReply(line, err); is {
		if number, ok := link.Number(id); ok && c.Calls.made(number) {
			c.end(number, nil, c.Loss(fmt.Errorf("its reply is not a valid message: %s", foreign.NewText(err.Error()))))
		} else {
			c.stray(line)
		}
	}
	c.opts.Counts.Noise.Add(1)
	c.noise.add(line)
	c.opts.Log.Debug().Int(logkey.Bytes, len(line)).AnErr(logkey.Err, foreign.NewError(err)).Msg("the server wrote something that is not a message")
}

// TooLong fails the request whose reply was too long; the link lives on.
func (c receiver) TooLong(e *wire.TooLongError) {
	number, ok := link.Number(e.ID())
	switch {
	case e.Method() != "":
	case ok && c.Calls.made(number):
		c.end(number, nil, c.Loss(fmt.Errorf("its reply of %d bytes is over the limit of %d (maxMessage in the configuration)", e.Size, e.Max)))
		return
	case e.Kind() == wire.Result || e.Kind() == wire.Failure:
		c.stray(e.Head)
	}
	c.Noise(nil, e)
}

// Lost is the link's word that a request will get no reply.
func (c receiver) Lost(id uint64, err error) {
	if remote.IsUndone(err) {
		c.end(id, nil, &UndoneError{Failed{c.opts.Toolbox, c.opts.Server, foreign.NewError(err)}})
		return
	}
	c.end(id, nil, c.Loss(err))
}

// Draining is the link's word that it takes no more requests: those that come from now on wait for another connection.
func (c receiver) Draining() {
	c.Calls.Drain()
	c.opts.Owner.Draining()
}
