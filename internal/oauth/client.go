package oauth

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Settings say which server is logged in to, and how.
type Settings struct {
	// URL is the server's address.
	URL string
	// ClientID and ClientSecret are of a client that was registered by hand.
	// A ClientID that is an https url is that of a client metadata document.
	// Without one this program registers itself.
	ClientID, ClientSecret string
	// PrivateKey reads a private key, in PEM or as a JSON Web Key, that the
	// client signs with in place of showing a secret, each time that it does;
	// nil if it has none. KeyID names the key to the authorization server.
	PrivateKey Source
	KeyID      string
	// Issuer is the authorization server that the client is registered with;
	// "" means the one that the server names.
	Issuer string
	// Scopes are asked for in place of those that the server names first.
	Scopes []string
	// Grant is how a token is got.
	Grant Grant
	// Assertion reads the JSON Web Token that the platform gave this workload:
	// what a token is got for with GrantAssertion, and what the client shows who
	// it is by with GrantCredentials; nil if there is none.
	Assertion Source
	// Identity is who gives what a token is got for with GrantAssertion; nil if
	// that is Assertion.
	Identity *Identity
	// DPoP says that tokens must be bound to a key. Without it those are that
	// the server wants to be.
	DPoP bool
	// Headers go with each request to the server that is made for a login.
	Headers map[string]string
}

// Options are what a client needs of the program around it. The zero value
// works.
type Options struct {
	// Proxy finds the proxy of a request; nil means none.
	Proxy func(*http.Request) (*url.URL, error)
	// TLS is how HTTPS is spoken; nil means with the certificates of the system.
	TLS *tls.Config
	// Resolver looks up names; nil means that of the system.
	Resolver *net.Resolver
	// Renewed hears that this client got a token without a person, or with an
	// error why it did not; nil means nobody does.
	Renewed func(error)
}

// Source reads something that is kept elsewhere, and may be another one each
// time.
type Source func(context.Context) (string, error)

// Grant is the way to a token.
type Grant int

// The grants.
const (
	GrantCode        Grant = iota // a person logs in
	GrantCredentials              // the client acts for itself (RFC 6749, section 4.4)
	GrantAssertion                // somebody else vouches for the client (RFC 7523, section 2.1)
)

// own reports whether no person logs in.
func (g Grant) own() bool { return g != GrantCode }

func (g Grant) String() string {
	switch g {
	case GrantCredentials:
		return "client credentials"
	case GrantAssertion:
		return "an assertion"
	}
	return "a login"
}

// Identity is the provider of identities of an enterprise, which decides who may
// use a server (the extension enterprise-managed authorization).
type Identity struct {
	Issuer                 string
	ClientID, ClientSecret string // of the client that it knows
	Token                  Source // reads the ID token that it gave
}

// LoginError says that a person has to log in.
type LoginError struct{ Why string }

func (e *LoginError) Error() string { return e.Why }

// Client holds the login to one server. Its methods may be called by several
// goroutines.
type Client struct {
	settings Settings
	server   *url.URL
	store    *Store
	http     *http.Client
	renewed  func(error)

	turn chan struct{} // held while the record is renewed

	mu      sync.Mutex
	loaded  bool
	current record // as last read or written
	failed  failure
	key     *proofKey // as it was read from keyOf
	keyOf   json.RawMessage

	serverNonce, issuerNonce nonce
}

// failure is a renewal that did not work, so that who comes with the same token
// a moment later is told the same.
type failure struct {
	token string
	err   error
	until time.Time
}

// refreshGrace is how long a renewal may still take whose caller has gone.
const refreshGrace = 2 * time.Second

// failureRest is how long a renewal that failed for no final reason is not
// tried again.
const failureRest = 5 * time.Second

// New makes the client of a server. It reads and sends nothing.
func New(settings Settings, store *Store, opts Options) (*Client, error) {
	server, err := url.Parse(settings.URL)
	if err != nil || server.Host == "" {
		return nil, errors.New("the server's address is no url")
	}
	named := []string{settings.URL, settings.Issuer}
	if settings.Identity != nil {
		named = append(named, settings.Identity.Issuer)
	}
	return &Client{
		settings: settings,
		server:   server,
		store:    store,
		http:     newGuard(opts, named...),
		renewed:  opts.Renewed,
		turn:     make(chan struct{}, 1),
	}, nil
}

// Close closes the connections that are kept for another request.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Reload forgets what was read, so that a login that another process did since
// is seen.
func (c *Client) Reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loaded, c.failed = false, failure{}
}

// Token returns a token to send, renewed if its time is over. It is "" if there
// is none: the server's answer then says what it wants.
func (c *Client) Token(ctx context.Context) (string, error) {
	r, err := c.load()
	if err != nil {
		return "", err
	}
	if r.usable() {
		return r.Access, nil
	}
	if r.Refresh == "" && !c.settings.Grant.own() {
		return "", nil
	}
	token, err := c.Renew(ctx, r.Access, r.Wanted)
	if errors.As(err, new(*LoginError)) {
		return "", nil
	}
	return token, err
}

// Renew returns a token other than used, which the server refused with that
// challenge: one that was got since, or a new one. Of many callers one asks for
// it and the others wait. The error is a [*LoginError] if only a person can get
// one; what the server wants is noted for them.
func (c *Client) Renew(ctx context.Context, used string, wanted Challenge) (string, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	r, err := c.load()
	if err != nil {
		return "", err
	}
	if r.usable() && r.Access != used {
		return r.Access, nil
	}
	if err := c.failedWith(used); err != nil {
		return "", err
	}
	// A refresh that was begun is not given up at once with the request that
	// needed it: its answer may hold the only token that is good from then on.
	begun, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*requestTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(refreshGrace, cancel) })()
	ctx = begun
	tried := false
	err = c.change(ctx, func(r *record) error {
		defer func() { c.keep(*r) }()
		if r.usable() && r.Access != used {
			return nil // another process was first
		}
		r.Wanted = wanted
		tried = c.settings.Grant.own() || r.Access != "" || r.Refresh != ""
		return c.renew(ctx, r)
	})
	if tried && c.renewed != nil {
		c.renewed(err)
	}
	if err != nil {
		c.mu.Lock()
		c.failed = failure{used, err, time.Now().Add(failureRest)}
		c.mu.Unlock()
		return "", err
	}
	r, err = c.load()
	return r.Access, err
}

// renew gets a token without asking a person.
func (c *Client) renew(ctx context.Context, r *record) error {
	switch {
	case c.settings.Grant.own():
		return c.asItself(ctx, r)
	case r.Access == "" && r.Refresh == "":
		return &LoginError{"there is no login yet"}
	case r.Refresh == "":
		return &LoginError{"the login is not accepted any more"}
	}
	return c.refresh(ctx, r)
}

// failedWith returns why the renewal of a token failed a moment ago.
func (c *Client) failedWith(token string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed.err != nil && c.failed.token == token && time.Now().Before(c.failed.until) {
		return c.failed.err
	}
	return nil
}

// Note keeps what the server wants of the next login.
func (c *Client) Note(ctx context.Context, wanted Challenge) error {
	return c.change(ctx, func(r *record) error {
		r.Wanted = wanted
		c.keep(*r)
		return nil
	})
}

// Scopes returns what the token was asked for or granted with.
func (c *Client) Scopes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current.Scopes
}

// Changed reports whether there is a token that may be sent and is not the last
// one that this client knew: somebody logged in.
func (c *Client) Changed() bool {
	r, err := c.read()
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return r.Access != "" && r.Access != c.current.Access
}

// Logout forgets the token, after the authorization server was told that it is
// not needed any more, if it wants to know (RFC 7009). It reports whether there
// was one. An error of the authorization server does not keep the token.
func (c *Client) Logout(ctx context.Context) (was bool, err error) {
	var told error
	err = c.change(ctx, func(r *record) error {
		was = r.Access != "" || r.Refresh != ""
		if was && r.Revoke != "" {
			told = c.revoke(ctx, r)
		}
		r.forget()
		c.keep(*r)
		return nil
	})
	if told != nil {
		told = fmt.Errorf("the authorization server could not be told: %w", told)
	}
	return was, errors.Join(err, told)
}

// read returns what is known of the login, as far as it is of the authorization
// server that the configuration names: no other is shown its client's secret.
// A token that is not bound to a key is none where it must be.
func (c *Client) read() (record, error) {
	r, err := c.store.read(c.settings.URL)
	c.disown(&r)
	return r, err
}

// change is that of the store, for a record as read returns it.
func (c *Client) change(ctx context.Context, f func(*record) error) error {
	return c.store.change(ctx, c.settings.URL, func(r *record) error {
		c.disown(r)
		return f(r)
	})
}

func (c *Client) disown(r *record) {
	want := c.settings.Issuer
	if want != "" && r.Issuer != "" && !sameIssuer(r.Issuer, want) || c.settings.DPoP && r.Access != "" && !r.Bound {
		r.forget()
	}
}

func (c *Client) load() (record, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.loaded {
		r, err := c.read()
		if err != nil {
			return r, err
		}
		c.current, c.loaded = r, true
	}
	return c.current, nil
}

func (c *Client) keep(r record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current, c.loaded = r, true
}
