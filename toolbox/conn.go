package toolbox

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// conn speaks JSON-RPC over a link: it numbers requests, finds the call that a
// reply or a progress notification belongs to, ends calls that take too long,
// and hands on what the server sends of its own accord.
//
// It has no lock of its own: calls, asks and noise each have theirs, and none is held while another is taken or while
// somebody else is called.
type conn struct {
	server *Server
	link   link.Link
	bufs   *sync.Pool // of *[]byte, shared by the servers of a toolbox
	calls  callTable
	asks   askTable
	noise  noise

	over   chan struct{}                   // closed with the connection
	unread atomic.Pointer[account.Account] // where what the server says waits for the client; nil for none
	held   atomic.Int32                    // how many messages do

	listening atomic.Pointer[Call] // the subscription to a modern server
	broken    chan struct{}        // closed when it takes no more messages
	breaking  sync.Once
	brokenBy  error // why, if that is known; set before broken is closed
	hello     hello
	mute      bool // hello.Mute, before there is a hello
}

// maxPooled is the largest buffer kept for reuse.
const maxPooled = 1 << 20

func newConn(s *Server) *conn {
	c := &conn{
		server: s,
		bufs:   &s.box.bufs,
		asks:   askTable{account: s.account, open: make(map[string]*Ask)},
		over:   make(chan struct{}),
		broken: make(chan struct{}),
	}
	c.calls = callTable{
		server:  s,
		held:    func() bool { return c.held.Load() > 0 },
		late:    c.expire,
		pending: make(map[uint64]*Call),
		rested:  time.Now(),
	}
	return c
}

func (c *conn) buffer() *[]byte { return c.bufs.Get().(*[]byte) }

func (c *conn) release(b *[]byte) {
	if cap(*b) <= maxPooled {
		*b = (*b)[:0]
		c.bufs.Put(b)
	}
}

// errNoRoom says that the server has as many calls as it may have.
var errNoRoom = errors.New("no room")

// breakOff has the owner end the connection, for a reason or because it turned
// out to take no more messages.
func (c *conn) breakOff(cause error) {
	c.breaking.Do(func() {
		c.brokenBy = cause
		close(c.broken)
	})
}

// send gives a call its number and writes it. If it fails the server has not
// seen the call, since a message without its newline is none, and the call has
// not ended.
func (c *conn) send(call *Call) error {
	if err := c.calls.add(call); err != nil {
		return err
	}
	call.conn.Store(c)
	b := c.buffer()
	*b = call.message(*b, c.translated(call))
	err := c.link.Send(*b, call.number)
	c.release(b)
	if err == nil {
		c.server.counts.calls.Add(1)
	}
	switch {
	case err == nil && call.ended.Load():
		c.cancel(call, nil, wire.Span{}) // it was cancelled before it had a number
	case err != nil && c.calls.take(call.number) == nil:
		return nil // the connection's end was told to the call already
	}
	return err
}

// end delivers a reply or a loss to the call with that number.
func (c *conn) end(number uint64, m *wire.Message, err error) {
	counts := &c.server.counts
	call, made := c.calls.end(number, m != nil)
	switch {
	case !made:
		counts.unknown.Add(1)
		return
	case call == nil || !call.finish():
		counts.late.Add(1)
		return
	case err != nil:
		counts.lost.Add(1)
	case m.Kind == wire.Failure:
		counts.failures.Add(1)
	}
	call.Handler.Done(m, err)
	c.server.pump()
}

// cancel forgets a call and tells the server.
func (c *conn) cancel(call *Call, raw []byte, id wire.Span) {
	if c.calls.take(call.number) == nil {
		return
	}
	c.server.strayed.Store(time.Now().UnixNano())
	defer c.link.Abandon(call.number)
	if c.link.Nature().OwnStreams && c.hello.Modern {
		return // the end of the request's stream says it (specification 2026-07-28, cancellation)
	}
	b := c.buffer()
	defer c.release(b)
	if raw != nil {
		*b = wire.Splice(*b, raw, c.ofEra(raw, wire.Edit{Span: id, New: strconv.AppendUint(nil, call.number, 10)})...)
	} else {
		*b = append(*b, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`...)
		*b = strconv.AppendUint(*b, call.number, 10)
		*b = append(*b, `}}`...)
	}
	// The link may be gone already: then there is nobody to tell.
	_ = c.link.Send(*b, 0)
}

// close fails all that is pending; later calls fail at once.
func (c *conn) close(err error) {
	lost, first := c.calls.close(err)
	if !first {
		return
	}
	close(c.over)
	asks := c.asks.close()
	for _, call := range lost {
		if call.finish() {
			c.server.counts.lost.Add(1)
			call.Handler.Done(nil, err)
		}
	}
	for _, a := range asks {
		c.server.peer.Withdraw(a, nil)
	}
}

// retire closes the connection to new calls if nothing went on for a time; else
// it returns when that may be so.
func (c *conn) retire(idle time.Duration) (retired bool, again time.Duration) {
	if !c.asks.isEmpty() {
		return false, idle / 8
	}
	return c.calls.retire(idle)
}

func (c *conn) lost(cause error) error {
	return &LostError{Toolbox: c.server.Toolbox, Server: c.server.Name, Cause: foreign.NewError(cause)}
}

// opened has what the server says from now on wait for the client. What servers of
// this process say does not: it is said to the client's own goroutine.
func (c *conn) opened() {
	if !c.link.Nature().Inside {
		c.unread.Store(c.server.box.opts.Unread)
	}
}
