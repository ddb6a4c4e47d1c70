package httpfront

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/trail"
)

// Options are what serving over HTTP needs besides a [proxy.Proxy].
type Options struct {
	// Version is told to clients that read a card.
	Version string
	// Trail hears of requests that are turned away; nil means that nobody wants to know.
	Trail func(trail.Event)
	// Logger takes what goes wrong in the front itself. The zero value is silent.
	Logger zerolog.Logger
	// Addr is the address that is listened on, with its real port. Requests must name it in Host, or localhost,
	// 127.0.0.1 or [::1] with its port.
	Addr net.Addr
	// Hosts are other names that requests may give in Host: a name alone, for itself and with the port of Addr, or a
	// name with another port.
	Hosts []string
	// Origins are origins that web pages may have, as scheme://host[:port], besides that of the server itself on the
	// loopback names.
	Origins []string
	// Token is what clients must send as a bearer token, and who sends it may do everything; "" lets everybody in, to
	// do so.
	Token string
	// Tokens knows other tokens, and who may do what with them; nil means that there are none.
	Tokens Tokens
	// Resource is told to clients that ask where to log in; nil means that there is no such place.
	Resource *Resource
	// Proxies are those that are believed when they say whom a request is from (X-Forwarded-For).
	Proxies []netip.Prefix
	// TLS makes Serve speak HTTPS; nil means HTTP.
	TLS *tls.Config
	// Metrics answers GET /metrics to those with admin rights; nil means that there are none.
	Metrics http.Handler
	// Commands serves what is below /commands/ for the principal in the context of the request; nil means that there is
	// nothing. CommandsProbe answers those requests to it that are a supervisor's, and reports whether one is. They
	// need no token, so that it says and does the same whatever is there, and starts nothing.
	Commands      http.Handler
	CommandsProbe func(w http.ResponseWriter, r *http.Request) bool
	// Hooks takes what is sent below /hooks/, from anybody: the paths are secrets. nil means that there is nothing.
	Hooks http.Handler
	// Page serves what is at /ui and below; it asks for the viewer's token itself. nil means that there is nothing.
	Page http.Handler

	CallsPerMinute int // how many calls each user may make; 0 = any number

	MaxBody     int           // longest body of a request, in bytes; 0 = 4 MiB
	MaxSessions int           // sessions at a time; 0 = 1024
	MaxConns    int           // connections at a time; 0 = 10,000
	Idle        time.Duration // until a session that nobody uses ends; 0 = 30 min
	ModernIdle  time.Duration // the same for what clients without sessions share; 0 = 15 min
	KeepAlive   time.Duration // between signs of life on a stream that is quiet; 0 = 15 s
	Drain       time.Duration // how long answering may go on at the end; 0 = 10 s
}

func (o *Options) fill() {
	o.MaxBody = cmp.Or(o.MaxBody, 4<<20)
	o.MaxSessions = cmp.Or(o.MaxSessions, 1024)
	o.MaxConns = cmp.Or(o.MaxConns, 10000)
	o.Idle = cmp.Or(o.Idle, 30*time.Minute)
	o.ModernIdle = cmp.Or(o.ModernIdle, 15*time.Minute)
	o.KeepAlive = cmp.Or(o.KeepAlive, 15*time.Second)
	o.Drain = cmp.Or(o.Drain, 10*time.Second)
}
