package toolbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/mcp-workbench/workbench/config"
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

// NewLogin makes what logs in to a remote server, by its configuration; nil if
// store is, or if the server is not remote or has a header Authorization. client
// is what the server is spoken to with; its TLS settings hold here too.
func NewLogin(cfg config.Server, store *oauth.Store, client *http.Client, environ []string) *oauth.Client {
	if store == nil || cfg.URL == "" {
		return nil
	}
	for name := range cfg.Headers {
		if strings.EqualFold(name, "Authorization") {
			return nil
		}
	}
	opts := oauth.Options{Proxy: proxyOf(environ)}
	if t, ok := client.Transport.(*http.Transport); ok {
		opts.TLS = t.TLSClientConfig
	}
	login, err := oauth.New(oauth.Settings{
		URL:               cfg.URL,
		ClientID:          cfg.OAuth.ClientID,
		ClientSecret:      cfg.OAuth.ClientSecret,
		Issuer:            cfg.OAuth.Issuer,
		Scopes:            cfg.OAuth.Scopes,
		ClientCredentials: cfg.OAuth.Grant == config.GrantCredentials,
		Headers:           cfg.Headers,
	}, store, opts)
	if err != nil {
		return nil // the server cannot be reached either, and says so
	}
	return login
}

// remote makes the HTTP requests of one server. It outlives the links.
type remote struct {
	server *Server
	client *http.Client
	login  *oauth.Client // nil if there is none to be had
	gate   gate
}

func newRemote(s *Server) *remote {
	opts := s.box.opts
	return &remote{server: s, client: opts.HTTP, login: NewLogin(s.cfg, opts.Logins, opts.HTTP, opts.Environ)}
}

// close gives up what is kept for further requests.
func (r *remote) close() {
	if r != nil && r.login != nil {
		r.login.Close()
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
	for k, v := range r.server.cfg.Headers {
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
		return nil, r.gate.close(statusError(resp), retryAfter(resp.Header))
	}
	r.gate.open()
	return resp, nil
}

// authorized sends a request with the token of the login, if there is one.
func (r *remote) authorized(req *http.Request) (*http.Response, error) {
	if r.login == nil {
		return r.send(req)
	}
	token, err := r.login.Token(req.Context())
	if err != nil {
		return nil, unreachedError{err}
	}
	resp, err := r.send(withToken(req, token))
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		resp, err = r.again(req, resp, token)
	}
	if err == nil && resp.StatusCode == http.StatusForbidden {
		resp, err = r.granted(req, resp)
	}
	return resp, err
}

// granted deals with a response that forbids a request: if that is for want of a
// scope, and somebody has logged in since, the request is sent once more.
func (r *remote) granted(req *http.Request, resp *http.Response) (*http.Response, error) {
	for first := true; ; first = false {
		wanted := oauth.ParseChallenge(resp.Header)
		if resp.StatusCode != http.StatusForbidden || wanted.Error != oauth.InsufficientScope {
			return resp, nil
		}
		refused := statusError(resp)
		_ = resp.Body.Close()
		if !first || !r.login.Changed() {
			return nil, r.lacks(req.Context(), refused, wanted)
		}
		r.login.Reload()
		token, err := r.login.Token(req.Context())
		if err != nil {
			return nil, unreachedError{err}
		}
		if resp, err = r.send(withToken(req, token)); err != nil {
			return nil, err
		}
	}
}

// again sends a request once more, whose token was refused.
func (r *remote) again(req *http.Request, resp *http.Response, token string) (*http.Response, error) {
	refused := statusError(resp)
	_ = resp.Body.Close()
	next, err := r.login.Renew(req.Context(), token, oauth.ParseChallenge(resp.Header))
	var person *oauth.LoginError
	switch {
	case errors.As(err, &person):
		refused.Advice = person.Why + "; run " + r.command()
		return nil, refused
	case err != nil:
		return nil, unreachedError{err}
	}
	resp, err = r.send(withToken(req, next))
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		defer resp.Body.Close()
		refused = statusError(resp)
		refused.Advice = "the server refuses a token that was just got for it; run " + r.command()
		return nil, refused
	}
	return resp, err
}

// lacks words that a token is not good for a request.
func (r *remote) lacks(ctx context.Context, e *StatusError, wanted oauth.Challenge) error {
	scopes := strings.Fields(wanted.Scope)
	had := r.login.Scopes()
	missing := slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return slices.Contains(had, s) })
	switch {
	case len(scopes) > 0 && len(missing) == 0:
		e.Advice = fmt.Sprintf("it wants the scope %q, which the login was for: logging in again changes nothing; ask who runs the server", wanted.Scope)
		return e
	case r.server.cfg.OAuth.Grant == config.GrantCredentials:
		e.Advice = fmt.Sprintf(`it wants the scope %q; add it to "scopes" of its "oauth" in the configuration`, wanted.Scope)
		return e
	}
	e.Advice = fmt.Sprintf("it wants the scope %q; run %s to grant it", wanted.Scope, r.command())
	if err := r.login.Note(ctx, wanted); err != nil {
		e.Advice += fmt.Sprintf(" (%v)", err)
	}
	return e
}

// loggedIn reports whether somebody has logged in to the server since it refused
// us.
func (r *remote) loggedIn() bool { return r != nil && r.login != nil && r.login.Changed() }

// command is what a person is to run.
func (r *remote) command() string {
	return "`workbench login " + shellWord(r.server.Toolbox+"/"+r.server.Name) + "`"
}

// shellWord quotes what shells would not take for one word.
func shellWord(s string) string {
	plain := func(c rune) bool {
		return c == '/' || c == '-' || c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	if strings.ContainsFunc(s, func(c rune) bool { return !plain(c) }) || strings.HasPrefix(s, "-") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// send makes one HTTP exchange, redirects included.
func (r *remote) send(req *http.Request) (*http.Response, error) {
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, explain(err)
	}
	return resp, nil
}

// withToken returns a request of its own, so that the same may be sent twice.
func withToken(req *http.Request, token string) *http.Request {
	if token == "" {
		return req
	}
	req = req.Clone(req.Context())
	if req.GetBody != nil {
		req.Body, _ = req.GetBody() // of bytes in memory
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return req
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
		return fmt.Errorf("redirected to another origin, %s://%s, which is not followed; if that is the server, write it as its url", req.URL.Scheme, req.URL.Host)
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

// doubt notes that a server refused a request as one of another era would, and
// reports whether it is to be asked anew which it is of: once for a version.
func (s *Server) doubt(version string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.doubted != version
	s.doubted = version
	return first
}

// greeted notes the version that a server was found to have: one that has
// another than before may be doubted again.
func (s *Server) greeted(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doubted != version {
		s.doubted = ""
	}
}
