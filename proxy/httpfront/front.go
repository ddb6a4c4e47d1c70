package httpfront

import (
	"net/http"
	"strings"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/reqbody"
	"github.com/mcp-workbench/workbench/internal/servercard"
	"github.com/mcp-workbench/workbench/internal/unread"
	"github.com/mcp-workbench/workbench/proxy"
)

// Front is the front over streamable HTTP, for both eras: all toolboxes behind the meta tools at /mcp, one of them
// directly at /mcp/{toolbox}, the cards of these, and /healthz, /readyz and /metrics for whoever supervises the
// program. A toolbox that a reload brings is served at /mcp/{toolbox}, and one that it takes away is not found there.
// The front may serve many requests at once. Nothing of it may be used after Serve returned.
type Front struct {
	door     *door
	opts     Options
	guard    guard
	visitors visitors
	pace     *pace
	mcp      *endpoint
	cards    *cards
	commands errands
}

// New makes the front for what a proxy serves; it starts nothing. What the proxy serves directly is at /mcp too. It
// fails if a host or an origin is not one.
func New(root *proxy.Proxy, opts Options) (*Front, error) {
	opts.fill()
	guard, err := newGuard(&opts)
	if err != nil {
		return nil, err
	}
	at := &door{token: []byte(opts.Token), tokens: opts.Tokens, metadata: metadataOf(opts.Resource), log: opts.Logger}
	steady := &pace{count: root.Limited}
	steady.limit.Set(opts.CallsPerMinute)
	return &Front{
		pace:     steady,
		door:     at,
		opts:     opts,
		guard:    guard,
		visitors: visitors{tell: opts.Trail, count: root.TurnedAway, trusted: opts.Proxies, log: refusals{log: opts.Logger}},
		mcp:      &endpoint{root: root, door: at, pace: steady, clients: newClients(&opts, steady), maxBody: opts.MaxBody, life: pulse{every: opts.KeepAlive}},
		cards:    &cards{root: root, door: at, version: opts.Version},
	}, nil
}

// ServeHTTP serves one request.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reqbody.Await(w, r, bodyTime)
	commands := strings.HasPrefix(r.URL.Path, "/commands/") && f.opts.Commands != nil
	if strings.HasPrefix(r.RequestURI, "/") && f.probe(w, r, commands) {
		return
	}
	r = f.visitors.meet(r)
	if err := f.guard.check(r); err != nil {
		if commands {
			err.writePlain(w, r)
			return
		}
		err.write(w, r)
		return
	}
	if f.guard.share(w, r) {
		return
	}
	card, isCard := cardOf(r)
	path := strings.TrimSuffix(r.URL.Path, "/") // people write one too many
	name, mcp := "", path == "/mcp"
	if !mcp {
		name, mcp = strings.CutPrefix(path, "/mcp/")
		mcp = mcp && name != ""
	}
	switch {
	case isCard:
		f.cards.serveCard(w, r, card)
	case mcp:
		f.mcp.serve(w, r, name)
	case r.URL.Path == servercard.CatalogPath:
		f.cards.serveCatalog(w, r)
	case r.URL.Path == "/metrics" && f.opts.Metrics != nil:
		f.serveMetrics(w, r)
	case commands:
		f.serveCommands(w, r)
	case f.opts.Hooks != nil && strings.HasPrefix(r.URL.Path, hooksPath):
		f.opts.Hooks.ServeHTTP(w, r)
	case f.opts.Page != nil && isPage(r.URL.Path):
		f.opts.Page.ServeHTTP(w, r)
	case f.door.metadata != nil && f.door.metadata.paths[r.URL.Path]:
		f.door.metadata.serve(w, r)
	default:
		there := "there is nothing here; the MCP endpoint is /mcp"
		if f.opts.Page != nil {
			there += ", and a page for people is at /ui/"
		}
		refuse(http.StatusNotFound, there).write(w, r)
	}
}

// probe answers a supervisor, and reports whether the request is one's. Supervisors ask by whatever address they have,
// and what they are told is no secret: a name in Host or Origin is not held against them.
func (f *Front) probe(w http.ResponseWriter, r *http.Request, commands bool) bool {
	switch r.URL.Path {
	case "/healthz":
		state(w, r, true)
	case "/readyz":
		state(w, r, !f.mcp.clients.isClosing())
	default:
		return commands && f.opts.CommandsProbe(w, r)
	}
	return true
}

// state answers a question of a supervisor.
func state(w http.ResponseWriter, r *http.Request, well bool) {
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

func (f *Front) serveMetrics(w http.ResponseWriter, r *http.Request) {
	c, err := f.door.authorize(r)
	switch {
	case err != nil:
		err.write(w, r)
	case !c.Admin:
		refuseScope("metrics need admin rights; workbench token create --admin makes a token that has them").write(w, r)
	case r.Method != http.MethodGet:
		refuseMethod("GET").write(w, r)
	default:
		f.opts.Metrics.ServeHTTP(w, r)
	}
}

func (f *Front) serveCommands(w http.ResponseWriter, r *http.Request) {
	c, err := f.door.authorize(r)
	if err == nil && r.Method == http.MethodPost {
		err = f.pace.take(c.Name)
	}
	if err != nil {
		err.writePlain(w, r)
		return
	}
	ctx, done, ok := f.commands.begin(r.Context())
	if !ok {
		refuse(http.StatusServiceUnavailable, "shutting down").writePlain(w, r)
		return
	}
	defer done()
	r = r.WithContext(principal.With(ctx, c.Principal))
	unread.Serve(w, c.Name, func(w http.ResponseWriter) { f.opts.Commands.ServeHTTP(w, r) })
}
