// Package remote makes the HTTP requests to one remote server: by its headers and the login to it, through the proxies of the
// environment, within its origin, and not while it wants to be left alone. What comes of a request that brought no reply is
// worded here too.
//
//	Requester ── login ── oauth.Client
//	    └── gate
//
// A Requester may be used by several goroutines. Its lock and that of the gate are held for a moment each, and never both.
package remote

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/toolbox/launch"
)

// Options are what requests to a server are made with.
type Options struct {
	// Toolbox and Server are its names, for what a person is to run.
	Toolbox, Server string
	HTTP            *http.Client
	// Logins are the tokens for servers that want one; nil means that there are none.
	Logins *oauth.Store
	// Environ is our environment, KEY=VALUE, for the proxies of logins.
	Environ []string
	// Secret runs the programs that print tokens; nil means that there are none.
	Secret func(context.Context, config.Secret) (string, error)
	// Renewed hears that the login was renewed by this process, or why it could not be; nil means nobody does.
	Renewed func(error)
	// Masks are told the tokens.
	Masks *mask.Set
	// Hiding has what the words of the server are to be told without.
	Hiding *atomic.Pointer[launch.Hiding]
}

// Requester makes the HTTP requests of one server. It outlives the links to it.
type Requester struct {
	opts Options
	url  string // as it was configured
	gate gate
	live atomic.Pointer[live]

	mu      sync.Mutex
	doubted string // see Doubt
}

// live is what a remote server is reached by.
type live struct {
	cfg   config.Server // with its secrets
	login *oauth.Client // nil if there is none to be had
}

// New makes what makes the requests of a server. One whose configuration has secrets is to be given them by Start.
func New(cfg config.Server, opts Options) *Requester {
	r := &Requester{opts: opts, url: cfg.URL}
	r.live.Store(new(live))
	if cfg.Secrets() == nil {
		r.use(cfg)
	}
	return r
}

// Start has a start of the server make its requests by a configuration with its secrets, and by the tokens that there are
// now. It is called by one goroutine at a time. A nil Requester is that of a server that is not remote.
func (r *Requester) Start(cfg config.Server) {
	if r == nil {
		return
	}
	r.use(cfg)
	if login := r.login(); login != nil {
		login.Reload()
	}
}

// use has requests be made by a configuration with its secrets.
func (r *Requester) use(cfg config.Server) {
	last := r.live.Load()
	if reflect.DeepEqual(last.cfg, cfg) {
		return
	}
	next := &live{cfg: cfg}
	if cfg.URL == r.url { // logins are kept under the url, which is to have no secret then
		next.login = NewLogin(cfg, r.opts)
	}
	r.live.Store(next)
	if last.login != nil {
		last.login.Close()
	}
}

// login returns the login to the server; nil if there is none to be had.
func (r *Requester) login() *oauth.Client { return r.live.Load().login }

// HasLogin reports whether somebody can log in to the server.
func (r *Requester) HasLogin() bool { return r.login() != nil }

// URL returns the address of the server.
func (r *Requester) URL() string { return r.live.Load().cfg.URL }

// Close gives up what is kept for further requests.
func (r *Requester) Close() {
	if r == nil {
		return
	}
	if login := r.login(); login != nil {
		login.Close()
	}
}

// Request makes a request with the headers of the configuration.
func (r *Requester) Request(ctx context.Context, method, address string, body []byte) (*http.Request, error) {
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil {
		return nil, err
	}
	for k, v := range r.live.Load().cfg.Headers {
		req.Header.Set(k, v)
	}
	return req, nil
}

// Do sends a request and returns its response, whatever its status but those
// that concern credentials and load, which are a [*StatusError]. A request whose
// token is refused is sent once more, with another: nobody has acted on it.
func (r *Requester) Do(req *http.Request) (*http.Response, error) {
	if err := r.gate.closed(); err != nil {
		return nil, err
	}
	resp, err := r.authorized(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "" {
		defer resp.Body.Close()
		return nil, r.gate.close(r.Refusal(resp), retryAfter(resp.Header))
	}
	r.gate.open()
	return resp, nil
}

// send makes one HTTP exchange, redirects included.
func (r *Requester) send(req *http.Request) (*http.Response, error) {
	resp, err := r.opts.HTTP.Do(req)
	if err != nil {
		return nil, r.opts.Hiding.Load().Error(explain(err))
	}
	return resp, nil
}

// Doubt notes that the server refused a request as one of another era would, and reports whether it is to be asked anew which
// it is of: once for a version.
func (r *Requester) Doubt(version string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.doubted != version
	r.doubted = version
	return first
}

// Greeted notes the version that the server was found to have: one that has another than before may be doubted again.
func (r *Requester) Greeted(version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.doubted != version {
		r.doubted = ""
	}
}
