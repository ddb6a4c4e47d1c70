package toolbox

import (
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// connection is a connection with what its server asks of the client. Its owner goroutine has it; the parts of a server
// know the [rpc.Conn] alone.
type connection struct {
	*rpc.Conn
	server *Server
	asks   askTable
}

// connect makes a connection of a server over a link, which reads from now on.
func connect(s *Server, l link.Link) *connection {
	c := &connection{server: s, asks: askTable{account: s.account, open: make(map[string]*Ask)}}
	c.Conn = rpc.New(l, rpc.Options{
		Toolbox: s.Toolbox,
		Server:  s.Name,
		Client:  s.box.opts.Client,
		Owner:   receiver{c},
		Counts:  &s.counts,
		Limits:  func() *rpc.Limits { return &s.bounds.Load().Limits },
		Buffers: &s.box.bufs,
		Log:     s.log,
		Hide:    func(raw []byte) []byte { return s.hidden.Load().JSON(raw) },
		Life:    s.life,
		Begin:   s.box.tasks.Begin,
	})
	c.Begin()
	return c
}

// close fails all that is pending; later calls fail at once.
func (c *connection) close(err error) {
	if !c.Close(err) {
		return
	}
	for _, a := range c.asks.close() {
		c.server.peer.Withdraw(a, nil)
	}
}

// drainIdle takes no more calls if nothing went on for a time; else it returns when that may be so.
func (c *connection) drainIdle(idle time.Duration) (drains bool, again time.Duration) {
	if !c.asks.isEmpty() {
		return false, idle / 8
	}
	return c.Calls.DrainIdle(idle)
}

// receiver takes what a connection tells its server.
type receiver struct{ c *connection }

func (r receiver) Ended() { r.c.server.pump() }

func (r receiver) Draining() { r.c.server.at.withdraw(r.c.Conn) }

func (r receiver) Mismatched() { r.c.server.reading.ask(r.c.Conn, Tools) }

// Request hands a request of the server to the client.
func (r receiver) Request(m *wire.Message, during rpc.Handler) {
	c, s := r.c, r.c.server
	id := m.Bytes(m.ID)
	size := len(id) + 2*account.Each // the session holds on to it too
	if !s.account.Charge(size) {
		c.Refuse(id, wire.CodeInternal, "too many questions of this server are unanswered")
		return
	}
	a := &Ask{Server: s, For: during, conn: c.Conn, asks: &c.asks, id: string(id), size: size}
	switch added, twice := c.asks.add(a); {
	case added:
		c.Asked()
		s.peer.Request(a, m)
		if withdrawn, word := c.asks.handOver(a); withdrawn { // meanwhile
			s.peer.Withdraw(a, word)
		}
	case twice:
		c.Refuse(id, wire.CodeInvalidRequest, "a request with this id is being answered")
	}
}

func (r receiver) Notification(m *wire.Message, during rpc.Handler) {
	c, s := r.c, r.c.server
	switch string(m.Bytes(m.Method)) {
	case "notifications/cancelled":
		a, now := c.asks.takeID(m.Get(m.Params, "requestId"), m)
		if a != nil {
			c.Answered()
		}
		if now {
			s.peer.Withdraw(a, m)
		}
	case "notifications/tools/list_changed":
		s.reading.ask(c.Conn, Tools)
	case "notifications/prompts/list_changed":
		s.reading.ask(c.Conn, Prompts)
	case "notifications/resources/list_changed":
		s.reading.ask(c.Conn, Resources)
	case "notifications/subscriptions/acknowledged":
		if during == nil {
			during = c.Subscriber(m)
		}
		if s.acknowledged(during) {
			s.reading.anew(c.Conn)
		}
	default:
		s.peer.Notification(s, m, during)
	}
}
