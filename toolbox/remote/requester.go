// Package remote makes the HTTP requests to one remote server: by its headers and the login to it, through the proxies
// of the environment, within its origin, and not while it wants to be left alone. What comes of a request that brought
// no reply is worded here too.
//
//	Requester ── access ── oauth.Client
//	    │           └── exchange
//	    └── gate, one for streams that are asked for and one for all else
//
// A Requester may be used by several goroutines. Its lock and those of the gates are held for a moment each, and never
// two.
package remote

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/config"
)

// Requester makes the HTTP requests of one server. It outlives the links to it.
type Requester struct {
	exchange
	url       string // as it was configured
	gate      gate
	streaming gate // what GET asks for: how many streams a server has says nothing of the calls that it takes
	live      atomic.Pointer[access]

	mu      sync.Mutex
	doubted string // see Doubt
}

// New makes what makes the requests of a server. One whose configuration has secrets is to be given them by Start.
func New(cfg config.Server, opts Options) *Requester {
	r := &Requester{exchange: exchange{opts: opts}, url: cfg.URL}
	r.live.Store(&access{exchange: &r.exchange})
	if cfg.Secrets() == nil {
		r.use(cfg)
	}
	return r
}

// Start has a start of the server make its requests by a configuration with its secrets, and by the tokens that there
// are now. It is called by one goroutine at a time. A nil Requester is that of a server that is not remote.
func (r *Requester) Start(cfg config.Server) {
	if r == nil {
		return
	}
	r.use(cfg)
	if login := r.access().login; login != nil {
		login.Reload()
	}
}

// use has requests be made by a configuration with its secrets.
func (r *Requester) use(cfg config.Server) {
	last := r.access()
	if reflect.DeepEqual(last.cfg, cfg) {
		return
	}
	next := &access{exchange: &r.exchange, cfg: cfg}
	if cfg.URL == r.url { // logins are kept under the url, which is to have no secret then
		next.login = NewLogin(cfg, r.opts)
	}
	r.live.Store(next)
	if last.login != nil {
		last.login.Close()
	}
}

// access is what the server is reached by now.
func (r *Requester) access() *access { return r.live.Load() }

// HasLogin reports whether somebody can log in to the server.
func (r *Requester) HasLogin() bool { return r.access().login != nil }

// URL returns the address of the server.
func (r *Requester) URL() string { return r.access().cfg.URL }

// Close gives up what is kept for further requests.
func (r *Requester) Close() {
	if r == nil {
		return
	}
	if login := r.access().login; login != nil {
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
	for k, v := range r.access().cfg.Headers {
		req.Header.Set(k, v)
	}
	req.Host = req.Header.Get("Host") // net/http sends no other; "" is that of the address
	return req, nil
}

// Do sends a request and returns its response, whatever its status but those that concern credentials and load, which
// are a [*StatusError]. A request whose token is refused is sent once more, with another: nobody has acted on it.
func (r *Requester) Do(req *http.Request) (*http.Response, error) {
	g := &r.gate
	if req.Method == http.MethodGet {
		g = &r.streaming
	}
	if err := g.closed(); err != nil {
		return nil, err
	}
	asked := time.Now()
	resp, err := r.access().authorized(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "" {
		defer resp.Body.Close()
		return nil, g.close(r.Refusal(resp), retryAfter(resp.Header))
	}
	g.open(asked)
	return resp, nil
}

// LoggedIn reports whether somebody has logged in to the server since it refused us.
func (r *Requester) LoggedIn() bool { return r != nil && r.HasLogin() && r.access().login.Changed() }

// Doubt notes that the server refused a request as one of another era would, and reports whether it is to be asked anew
// which it is of: once for a version.
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
