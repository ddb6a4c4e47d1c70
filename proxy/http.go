package proxy

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/servercard"
)

// HTTPOptions are what serving over HTTP needs besides [Options].
type HTTPOptions struct {
	// Addr is the address that is listened on, with its real port. Requests
	// must name it in Host, or localhost, 127.0.0.1 or [::1] with its port.
	Addr net.Addr
	// Hosts are other names that requests may give in Host: a name alone, for
	// itself and with the port of Addr, or a name with another port.
	Hosts []string
	// Origins are origins that web pages may have, as scheme://host[:port],
	// besides that of the server itself on the loopback names.
	Origins []string
	// Token is what clients must send as a bearer token, and who sends it may do
	// everything; "" lets everybody in, to do so.
	Token string
	// Tokens knows other tokens, and who may do what with them; nil means that
	// there are none.
	Tokens Tokens
	// Resource is told to clients that ask where to log in; nil means that there
	// is no such place.
	Resource *Resource
	// Proxies are those that are believed when they say whom a request is from
	// (X-Forwarded-For).
	Proxies []netip.Prefix
	// TLS makes Serve speak HTTPS; nil means HTTP.
	TLS *tls.Config
	// Metrics answers GET /metrics to those with admin rights; nil means that
	// there are none.
	Metrics http.Handler
	// Commands serves what is below /commands/ for the principal in the
	// context of the request; nil means that there is nothing. CommandsProbe
	// answers those requests to it that are a supervisor's, and reports whether
	// one is. They need no token, so that it says and does the same whatever is
	// there, and starts nothing.
	Commands      http.Handler
	CommandsProbe func(w http.ResponseWriter, r *http.Request) bool
	// Hooks takes what is sent below /hooks/, from anybody: the paths are secrets. nil means that there is nothing.
	Hooks http.Handler
	// Page serves what is at /ui and below; it asks for the viewer's token
	// itself. nil means that there is nothing.
	Page http.Handler

	MaxBody     int           // longest body of a request, in bytes; 0 = 4 MiB
	MaxSessions int           // sessions at a time; 0 = 1024
	MaxConns    int           // connections at a time; 0 = 10,000
	Idle        time.Duration // until a session that nobody uses ends; 0 = 30 min
	ModernIdle  time.Duration // the same for what clients without sessions share; 0 = 15 min
	KeepAlive   time.Duration // between signs of life on a stream that is quiet; 0 = 15 s
	Drain       time.Duration // how long answering may go on at the end; 0 = 10 s
}

func (o *HTTPOptions) fill() {
	set(&o.MaxBody, 4<<20)
	set(&o.MaxSessions, 1024)
	set(&o.MaxConns, 10000)
	set(&o.Idle, 30*time.Minute)
	set(&o.ModernIdle, 15*time.Minute)
	set(&o.KeepAlive, 15*time.Second)
	set(&o.Drain, 10*time.Second)
}

func set[T int | time.Duration](to *T, value T) {
	if *to == 0 {
		*to = value
	}
}

// HTTP is the front over streamable HTTP, for both eras: all toolboxes behind
// the meta tools at /mcp, one of them directly at /mcp/{toolbox}, the cards of
// these, and /healthz, /readyz and /metrics for whoever supervises the program. It may serve many requests at
// once. Nothing of it may be used after Serve returned.
type HTTP struct {
	opts     HTTPOptions
	guard    guard
	token    []byte
	metadata *metadata
	root     *Proxy // at /mcp
	clients  clients
	scopes   atomic.Uint64 // the last one given to an exchange
	timers   sync.Pool     // of *time.Timer
	commands errands
	log      zerolog.Logger
	refusals refusals
}

// NewHTTP makes the front; it starts nothing. With opts.Direct that toolbox is
// the only one served, at /mcp too. It fails if there is no such toolbox, or if
// a host or an origin is not one.
func NewHTTP(cfg *config.Config, opts Options, over HTTPOptions) (*HTTP, error) {
	over.fill()
	h := &HTTP{opts: over, token: []byte(over.Token), metadata: metadataOf(over.Resource), log: opts.Logger, refusals: refusals{log: opts.Logger}}
	var err error
	if h.guard, err = newGuard(&over); err != nil {
		return nil, err
	}
	if h.root, err = New(cfg, opts); err != nil {
		return nil, err
	}
	h.clients.make(h)
	return h, nil
}

// hooksPath begins the paths of HTTPOptions.Hooks.
const hooksPath = "/hooks/"

// ServeHTTP serves one request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	commands := strings.HasPrefix(r.URL.Path, "/commands/") && h.opts.Commands != nil
	if strings.HasPrefix(r.RequestURI, "/") && h.probe(w, r, commands) {
		return
	}
	r = h.known(r)
	if err := h.guard.check(r); err != nil {
		if commands {
			err.writePlain(w, r)
			return
		}
		err.write(w, r)
		return
	}
	card, isCard := cardOf(r)
	name, mcp := "", r.URL.Path == "/mcp"
	if !mcp {
		name, mcp = strings.CutPrefix(r.URL.Path, "/mcp/")
		mcp = mcp && name != ""
	}
	switch {
	case isCard:
		h.serveCard(w, r, card)
	case mcp:
		h.serveMCP(w, r, name)
	case r.URL.Path == servercard.CatalogPath:
		h.serveCatalog(w, r)
	case r.URL.Path == "/metrics" && h.opts.Metrics != nil:
		h.serveMetrics(w, r)
	case commands:
		h.serveCommands(w, r)
	case h.opts.Hooks != nil && strings.HasPrefix(r.URL.Path, hooksPath):
		h.opts.Hooks.ServeHTTP(w, r)
	case h.opts.Page != nil && (r.URL.Path == "/ui" || strings.HasPrefix(r.URL.Path, "/ui/")):
		h.opts.Page.ServeHTTP(w, r)
	case h.metadata != nil && h.metadata.paths[r.URL.Path]:
		h.metadata.serve(w, r)
	default:
		refuse(http.StatusNotFound, "there is nothing here; the MCP endpoint is /mcp").write(w, r)
	}
}

// probe answers a supervisor, and reports whether the request is one's. Supervisors ask by whatever address they have,
// and what they are told is no secret: a name in Host or Origin is not held against them.
func (h *HTTP) probe(w http.ResponseWriter, r *http.Request, commands bool) bool {
	switch r.URL.Path {
	case "/healthz":
		h.state(w, r, true)
	case "/readyz":
		h.state(w, r, !h.clients.isClosing())
	default:
		return commands && h.opts.CommandsProbe(w, r)
	}
	return true
}

// state answers a question of a supervisor.
func (h *HTTP) state(w http.ResponseWriter, r *http.Request, well bool) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		refuseMethod("GET, HEAD").write(w, r)
	case !well:
		refuse(http.StatusServiceUnavailable, "shutting down").write(w, r)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n"))
	}
}

func (h *HTTP) serveMetrics(w http.ResponseWriter, r *http.Request) {
	c, err := h.authorize(r)
	switch {
	case err != nil:
		err.write(w, r)
	case !c.Admin:
		refuseScope("the figures are for those with admin rights; workbench token create --admin makes a token that has them").write(w, r)
	case r.Method != http.MethodGet:
		refuseMethod("GET").write(w, r)
	default:
		h.opts.Metrics.ServeHTTP(w, r)
	}
}

func (h *HTTP) serveCommands(w http.ResponseWriter, r *http.Request) {
	c, err := h.authorize(r)
	if err != nil {
		err.writePlain(w, r)
		return
	}
	ctx, done, ok := h.commands.begin(r.Context())
	if !ok {
		refuse(http.StatusServiceUnavailable, "shutting down").writePlain(w, r)
		return
	}
	defer done()
	h.opts.Commands.ServeHTTP(w, r.WithContext(principal.With(ctx, c.Principal)))
}

func (h *HTTP) serveMCP(w http.ResponseWriter, r *http.Request, toolbox string) {
	c, err := h.authorize(r)
	if err != nil {
		err.write(w, r)
		return
	}
	v := visit{c, h.front(&c, toolbox), visitorOf(r).address}
	if v.front == nil {
		refuse(http.StatusNotFound, fmt.Sprintf("there is no toolbox %q here", foreign.NewName(toolbox))).write(w, r)
		return
	}
	switch r.Method {
	case http.MethodPost:
		err = h.post(w, r, v)
	case http.MethodGet:
		err = h.listen(w, r, v)
	case http.MethodDelete:
		err = h.delete(w, r, v)
	default:
		err = refuseMethod("POST, GET, DELETE")
	}
	if err != nil {
		err.write(w, r)
	}
}

// Calls is the record of what clients have asked for; nil if nothing is recorded.
func (h *HTTP) Calls() *calls.Log { return h.root.Calls() }
