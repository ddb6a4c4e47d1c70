package toolbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// connectTime bounds the making of a connection to a remote server, and then
// the agreement on TLS.
const connectTime = 10 * time.Second

// keptConns is how many connections to one host are kept for the next calls.
const keptConns = 64

// RemoteClient makes a client for remote servers, which toolboxes may share.
// Proxies are those of environ, KEY=VALUE (HTTPS_PROXY, HTTP_PROXY, NO_PROXY),
// and never for this machine itself.
func RemoteClient(environ []string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:               proxyOf(environ),
		DialContext:         (&net.Dialer{Timeout: connectTime}).DialContext,
		TLSHandshakeTimeout: connectTime,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: keptConns,
		IdleConnTimeout:     90 * time.Second,
	}}
}

// proxyOf finds the proxy of a request by variables of an environment.
func proxyOf(environ []string) func(*http.Request) (*url.URL, error) {
	lookup := func(names ...string) string {
		for _, name := range names {
			for _, entry := range slices.Backward(environ) {
				if v, ok := strings.CutPrefix(entry, name+"="); ok && v != "" {
					return v
				}
			}
		}
		return ""
	}
	find := (&httpproxy.Config{
		HTTPProxy:  lookup("HTTP_PROXY", "http_proxy"),
		HTTPSProxy: lookup("HTTPS_PROXY", "https_proxy"),
		NoProxy:    lookup("NO_PROXY", "no_proxy"),
	}).ProxyFunc()
	return func(req *http.Request) (*url.URL, error) { return find(req.URL) }
}

// remote makes the HTTP requests of one server. It outlives the links.
type remote struct {
	server *Server
	client *http.Client
	gate   gate
	live   atomic.Pointer[live]
}

// live is what a remote server is reached by.
type live struct {
	cfg   config.Server // with its secrets
	login *oauth.Client // nil if there is none to be had
}

func newRemote(s *Server) *remote {
	r := &remote{server: s, client: s.box.opts.HTTP}
	r.live.Store(new(live))
	if s.cfg.Secrets() == nil {
		r.use(s.cfg)
	}
	return r
}

// use has requests be made by a configuration with its secrets. It is called by
// one goroutine at a time.
func (r *remote) use(cfg config.Server) {
	last := r.live.Load()
	if reflect.DeepEqual(last.cfg, cfg) {
		return
	}
	next := &live{cfg: cfg}
	if opts := r.server.box.opts; cfg.URL == r.server.cfg.URL { // logins are kept under the url, which is to have no secret then
		var renewed func(error)
		if opts.Login != nil {
			renewed = func(err error) { opts.Login(r.server.Toolbox, r.server.Name, err) }
		}
		next.login = newLogin(cfg, opts, renewed)
	}
	r.live.Store(next)
	if last.login != nil {
		last.login.Close()
	}
}

// login returns the login to the server; nil if there is none to be had.
func (r *remote) login() *oauth.Client { return r.live.Load().login }

// url returns the address of the server.
func (r *remote) url() string { return r.live.Load().cfg.URL }

// close gives up what is kept for further requests.
func (r *remote) close() {
	if r == nil {
		return
	}
	if login := r.login(); login != nil {
		login.Close()
	}
}

// request makes a request with the headers of the configuration.
func (r *remote) request(ctx context.Context, method, address string, body []byte) (*http.Request, error) {
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

// do sends a request and returns its response, whatever its status but those
// that concern credentials and load, which are a [*StatusError]. A request whose
// token is refused is sent once more, with another: nobody has acted on it.
func (r *remote) do(req *http.Request) (*http.Response, error) {
	if err := r.gate.closed(); err != nil {
		return nil, err
	}
	resp, err := r.authorized(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "" {
		defer resp.Body.Close()
		return nil, r.gate.close(r.server.statusError(resp), retryAfter(resp.Header))
	}
	r.gate.open()
	return resp, nil
}

// send makes one HTTP exchange, redirects included.
func (r *remote) send(req *http.Request) (*http.Response, error) {
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, r.server.hidden.Load().Error(explain(err))
	}
	return resp, nil
}

// maxRedirects bounds how often a remote server sends us on.
const maxRedirects = 5

// sameOrigin lets a remote server send us on within its origin only: the
// headers of the configuration, credentials among them, and the messages are
// meant for no other.
func sameOrigin(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host:
		return fmt.Errorf("redirected to another origin, %s, which is not followed; if that is the server, write it as its url", foreign.NewName(req.URL.Scheme+"://"+req.URL.Host))
	case req.Method != first.Method:
		return fmt.Errorf("redirected from %s to %s, which would lose the message", first.Method, req.Method)
	case len(via) > maxRedirects:
		return fmt.Errorf("redirected more than %d times", maxRedirects)
	}
	return nil
}

// scanLoose reads a message that may hold line breaks between its tokens.
func scanLoose(data []byte, m *wire.Message) error {
	data = bytes.TrimSpace(data)
	if bytes.IndexByte(data, '\n') >= 0 || bytes.IndexByte(data, '\r') >= 0 {
		data = wire.Compact(nil, data)
	}
	return wire.Scan(data, m)
}
