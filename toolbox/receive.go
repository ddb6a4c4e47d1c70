package toolbox

import (
	"fmt"
	"strconv"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// Receive is the link's way in. What is to go on to a client that has much to read
// waits there, and with it what comes after it: nothing more is read from the
// server. What comes after the end of the connection is for nobody.
func (c *conn) Receive(m *wire.Message, id uint64) {
	unread, size := c.unread.Load(), len(m.Raw)
	if unread.TryAwait(size) || c.hold(unread, size) {
		c.hand(m, id)
		unread.Credit(size)
	}
}

// hold waits for a client that reads slowly; it reports false at the end of the
// connection. Meanwhile replies may have come that nobody could see: their calls
// are not late for it.
func (c *conn) hold(unread *account.Account, size int) bool {
	c.held.Add(1)
	ok := unread.Await(size, c.over)
	c.held.Add(-1)
	c.calls.heardAgain()
	return ok
}

// hand does with a message what is to be done.
func (c *conn) hand(m *wire.Message, id uint64) {
	switch m.Kind {
	case wire.Result, wire.Failure:
		c.reply(m)
	case wire.Request:
		c.request(m, id)
	case wire.Notification:
		c.notification(m)
	}
}

func (c *conn) reply(m *wire.Message) {
	token := m.Bytes(m.ID)
	if number, ok := link.Number(token); ok && c.calls.made(number) {
		c.end(number, m, nil)
		return
	}
	// Some servers echo the number as a string. It is not the id they were
	// given, so it answers nothing; but the caller is told, not left waiting.
	if s, ok := wire.Unquote(token); ok {
		if number, err := strconv.ParseUint(s, 10, 64); err == nil && c.calls.made(number) {
			c.end(number, nil, c.lost(fmt.Errorf("answered request %d with the id %s, which is another", number, foreign.NewName(string(token)))))
			return
		}
	}
	c.server.counts.unknown.Add(1)
	c.stray(m.Raw)
}

func (c *conn) notification(m *wire.Message) {
	method := string(m.Bytes(m.Method))
	switch method {
	case "notifications/progress":
		c.progress(m)
	case "notifications/cancelled":
		var out [1]wire.Span
		if m.Params.Present() && wire.Find(m.Raw, m.Params, []string{"requestId"}, out[:]) == nil && out[0].Present() {
			if a := c.asks.takeID(m.Bytes(out[0])); a != nil {
				c.server.peer.Withdraw(a, m)
			}
		}
	case "notifications/tools/list_changed":
		c.server.reading.ask(c, Tools)
	case "notifications/prompts/list_changed":
		c.server.reading.ask(c, Prompts)
	case "notifications/resources/list_changed":
		c.server.reading.ask(c, Resources)
	default:
		c.server.peer.Notification(c.server, m)
	}
}

// progress finds the call by its token, which is the call's number.
func (c *conn) progress(m *wire.Message) {
	var out [1]wire.Span
	if !m.Params.Present() || wire.Find(m.Raw, m.Params, []string{"progressToken"}, out[:]) != nil || !out[0].Present() {
		return
	}
	number, ok := link.Number(m.Bytes(out[0]))
	if !ok {
		return
	}
	call := c.calls.progressed(number)
	if call != nil && call.Token.Present() && !call.ended.Load() {
		call.Handler.Progress(m, out[0])
	}
}

// Noise counts what is not a message; the first lines are kept for the status.
// A reply that breaks the rules but has an id ends its call.
func (c *conn) Noise(line []byte, err error) {
	if id, is := looksLikeReply(line, err); is {
		if number, ok := link.Number(id); ok && c.calls.made(number) {
			c.end(number, nil, c.lost(fmt.Errorf("its reply is not a valid message: %s", foreign.NewText(err.Error()))))
		} else {
			c.stray(line)
		}
	}
	c.server.counts.noise.Add(1)
	c.noise.add(line)
	c.server.log.Debug().Int(logkey.Bytes, len(line)).AnErr(logkey.Err, foreign.NewError(err)).Msg("the server wrote something that is not a message")
}

// TooLong fails the request whose reply was too long; the link lives on.
func (c *conn) TooLong(e *wire.TooLongError) {
	number, ok := link.Number(e.ID())
	switch {
	case e.Method() != "":
	case ok && c.calls.made(number):
		c.end(number, nil, c.lost(fmt.Errorf("its reply of %d bytes is over the limit of %d (maxMessage in the configuration)", e.Size, e.Max)))
		return
	case e.Kind() == wire.Result || e.Kind() == wire.Failure:
		c.stray(e.Head)
	}
	c.Noise(nil, e)
}

// Broken is the link's word that it serves nobody any more.
func (c *conn) Broken(err error) { c.breakOff(err) }

// Lost is the link's word that a request will get no reply.
func (c *conn) Lost(id uint64, err error) {
	if remote.IsUndone(err) {
		c.end(id, nil, &UndoneError{Toolbox: c.server.Toolbox, Server: c.server.Name, Cause: foreign.NewError(err)})
		return
	}
	c.end(id, nil, c.lost(err))
}

// Retired has the requests that come from now on wait for another connection.
func (c *conn) Retired() {
	c.calls.refuse(errRetired)
	c.server.at.withdraw(c)
}
