package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Client holds the login to one server. Its methods may be called by several goroutines.
type Client struct {
	settings *Settings
	places   *places
	grants   *grants
	store    *Store
	http     *http.Client
	renewed  func(error)
	told     func(secret string)

	turn chan struct{} // held while the record is renewed

	mu      sync.Mutex
	cut     context.CancelFunc // of the renewal that holds the turn
	loaded  bool
	current record // as last read or written
	failed  failure
	key     *proofKey // as it was read from keyOf
	keyOf   json.RawMessage

	serverNonce nonce
}

// failure is a renewal that did not work, so that who comes with the same token a moment later is told the same.
type failure struct {
	token string
	err   error
	until time.Time
}

// refreshGrace is how long a renewal may still take when the client is closed.
const refreshGrace = 2 * time.Second

// failureRest is how long a renewal that failed for no final reason is not tried again.
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
	guarded := newGuard(opts, named...)
	at := &places{settings: &settings, server: server, http: guarded}
	return &Client{
		settings: &settings,
		places:   at,
		grants:   &grants{settings: &settings, places: at, http: guarded},
		store:    store,
		http:     guarded,
		renewed:  opts.Renewed,
		told:     opts.Told,
		turn:     make(chan struct{}, 1),
		cut:      func() {},
	}, nil
}

// Close gives up a renewal, if it does not end soon: its answer may hold the only token that is good from then on. It
// closes the connections that are kept for another request.
func (c *Client) Close() {
	select {
	case c.turn <- struct{}{}:
	case <-time.After(refreshGrace):
		c.mu.Lock()
		cut := c.cut
		c.mu.Unlock()
		cut()
		c.turn <- struct{}{}
	}
	<-c.turn
	c.http.CloseIdleConnections()
}

// Reload forgets what was read, so that a login that another process did since is seen.
func (c *Client) Reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loaded, c.failed = false, failure{}
}

// Token returns a token to send, renewed if its time is over. It is "" if there is none: the server's answer then says
// what it wants.
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

// Renew returns a token other than used, which the server refused with that challenge: one that was got since, or a new
// one. Of many callers one asks for it and the others wait; what was asked for goes on when its caller leaves, for the
// others and for the next. The error is a [*LoginError] if only a person can get one; what the server wants is noted for
// them.
func (c *Client) Renew(ctx context.Context, used string, wanted Challenge) (string, error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	var token string
	var err error
	done := make(chan struct{})
	go func() { // it ends with its time, or with Close
		defer func() { <-c.turn }()
		defer close(done)
		begun, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*requestTime)
		defer cancel()
		c.mu.Lock()
		c.cut = cancel
		c.mu.Unlock()
		token, err = c.renewal(begun, used, wanted)
	}()
	select {
	case <-done:
		return token, err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// renewal is Renew for who has the turn.
func (c *Client) renewal(ctx context.Context, used string, wanted Challenge) (string, error) {
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
		return c.grants.asItself(ctx, r)
	case r.Access == "" && r.Refresh == "":
		return &LoginError{"there is no login yet"}
	case r.Refresh == "":
		return &LoginError{"the login is no longer accepted"}
	}
	return c.grants.refresh(ctx, r)
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

// Changed reports whether there is a token that may be sent and is not the last one that this client knew: somebody
// logged in.
func (c *Client) Changed() bool {
	r, err := c.read()
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return r.Access != "" && r.Access != c.current.Access
}

// Logout forgets the token, after the authorization server was told that it is not needed any more, if it wants to know
// (RFC 7009). It reports whether there was one. An error of the authorization server does not keep the token.
func (c *Client) Logout(ctx context.Context) (was bool, err error) {
	var told error
	err = c.change(ctx, func(r *record) error {
		was = r.Access != "" || r.Refresh != ""
		if was && r.Revoke != "" {
			told = c.grants.revoke(ctx, r)
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

// read returns what is known of the login, as far as it is of the authorization server that the configuration names: no
// other is shown its client's secret. A token that is not bound to a key is none where it must be.
func (c *Client) read() (record, error) {
	r, err := c.store.read(c.settings.URL)
	c.disown(&r)
	c.tell(&r)
	return r, err
}

// change is that of the store, for a record as read returns it.
func (c *Client) change(ctx context.Context, f func(*record) error) error {
	return c.store.change(ctx, c.settings.URL, func(r *record) error {
		c.disown(r)
		defer c.tell(r)
		return f(r)
	})
}

// tell tells the secrets of a record.
func (c *Client) tell(r *record) {
	if c.told == nil {
		return
	}
	c.told(r.Access)
	c.told(r.Refresh)
	for _, one := range r.Registrations {
		c.told(one.Secret)
	}
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
