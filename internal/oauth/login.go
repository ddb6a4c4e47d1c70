package oauth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// LoginOptions are what a login needs besides a person.
type LoginOptions struct {
	// Show gives the person the address to open in a browser: https, or http on this machine.
	Show func(address string) error
	// Port is where the browser comes back to, on 127.0.0.1; 0 means the one of the last login, or any.
	Port int
}

// callbackPath is where the browser comes back to.
const callbackPath = "/callback"

// Login has a person log in and keeps what comes of it; where that fails, the login before it stays. It returns the scopes
// that the token was asked for or granted with, and ends with ctx.
func (c *Client) Login(ctx context.Context, opts LoginOptions) (scopes []string, err error) {
	if c.settings.Grant.own() {
		return nil, fmt.Errorf("this server is used with %s, and needs no login", c.settings.Grant)
	}
	r, err := c.read()
	if err != nil {
		return nil, err
	}
	asked, refused, err := c.knock(ctx)
	if err != nil {
		return nil, err
	}
	// What a request was refused for is more than what a server wants at first.
	r.Wanted.Metadata, r.Wanted.DPoP = asked.Metadata, asked.DPoP
	r.Wanted.Scope = strings.Join(union(strings.Fields(r.Wanted.Scope), strings.Fields(asked.Scope)), " ")
	p, err := c.places.discover(ctx, asked.Metadata)
	if err == nil && p.guessed && !refused {
		err = errors.New("the server answers without a login, and names no authorization server: there is nothing to log in to; if it wants a key, give it in \"headers\"")
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(suits(p), c.grants.keeps(&r, p)); err != nil {
		return nil, err
	}
	listener, err := listen(ctx, r.Registrations[p.Issuer], opts.Port)
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	redirect := "http://" + listener.Addr().String() + callbackPath
	reg, err := c.grants.client(ctx, &r, p, redirect)
	if err != nil && p.guessed {
		err = fmt.Errorf("%w; the server names no authorization server: if it wants a key in place of a login, give it in \"headers\"", err)
	}
	if err != nil {
		return nil, err
	}
	scopes = c.grants.firstScopes(&r, p)
	key, err := c.grants.proofKeyFor(&record{Wanted: asked}, p)
	if err != nil {
		return nil, err
	}
	visit := &visit{state: rand.Text(), place: p, came: make(chan url.Values, 1)}
	verifier := oauth2.GenerateVerifier()
	address, err := authorizeURL(p, reg, redirect, visit.state, verifier, scopes, key)
	if err != nil {
		return nil, err
	}
	if err := opts.Show(address); err != nil {
		return nil, err
	}
	code, err := visit.wait(ctx, listener)
	if err != nil {
		return nil, err
	}
	err = c.change(ctx, func(r *record) error {
		c.grants.keep(r, p.Issuer, reg)
		made := *r
		made.forget()
		made.settle(p)
		made.Scopes, made.Key = scopes, key
		err := c.grants.exchange(ctx, &made, reg, url.Values{
			"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirect}, "code_verifier": {verifier},
		})
		if err == nil { // else the login before it, if there was one, is as good as it was
			*r, scopes = made, made.Scopes
		}
		c.keep(*r)
		return err
	})
	return scopes, err
}

// knock sends the server a request without a token, for the challenge in its answer, and reports whether it was
// refused.
func (c *Client) knock(ctx context.Context) (wanted Challenge, refused bool, err error) {
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		var body io.Reader
		if method == http.MethodPost {
			body = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		}
		req, err := http.NewRequestWithContext(ctx, method, c.settings.URL, body)
		if err != nil {
			return Challenge{}, false, err
		}
		for k, v := range c.settings.Headers {
			req.Header.Set(k, v)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := c.http.Do(req)
		if err != nil {
			return Challenge{}, false, plain(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusUnauthorized {
			return ParseChallenge(resp.Header), true, nil
		}
	}
	return Challenge{}, false, nil // it wants one for some requests only, and may have metadata
}

// suits refuses authorization servers that a login is not safe with.
func suits(p *place) error {
	if !slices.Contains(p.Challenges, "S256") {
		return fmt.Errorf("authorization server %s: it does not say that it supports PKCE with S256, without which a login could be stolen", p.Issuer)
	}
	u, err := url.Parse(p.Authorize)
	if err != nil || u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) || u.Host == "" || u.User != nil {
		return fmt.Errorf("authorization server %s: its page for logins, %q, is not an https address", p.Issuer, foreign.NewText(p.Authorize))
	}
	return nil
}

// listen opens the port that the browser comes back to: that of the client's registration, if it has one and nothing
// else has taken it.
func listen(ctx context.Context, kept registration, port int) (net.Listener, error) {
	var config net.ListenConfig
	if u, err := url.Parse(kept.Redirect); err == nil && port == 0 && u.Port() != "" {
		if l, err := config.Listen(ctx, "tcp", "127.0.0.1:"+u.Port()); err == nil {
			return l, nil
		}
	}
	return config.Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(port))
}

// authorizeURL is the address that a person opens. A code that is got for a key is of no use to who has not the key
// (RFC 9449, section 10).
func authorizeURL(p *place, reg registration, redirect, state, verifier string, scopes []string, key json.RawMessage) (string, error) {
	params := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("resource", p.resource)}
	bound, err := readProofKey(key)
	if err != nil {
		return "", err
	}
	if bound != nil {
		thumbprint, err := bound.thumbprint()
		if err != nil {
			return "", err
		}
		params = append(params, oauth2.SetAuthURLParam("dpop_jkt", thumbprint))
	}
	config := oauth2.Config{
		ClientID:    reg.ID,
		RedirectURL: redirect,
		Scopes:      scopes,
		Endpoint:    oauth2.Endpoint{AuthURL: p.Authorize},
	}
	return config.AuthCodeURL(state, params...), nil
}

// visit is the coming back of the browser.
type visit struct {
	state string
	place *place
	came  chan url.Values
}

// wait serves the page that the browser comes back to until it came, and returns the code it brought.
func (v *visit) wait(ctx context.Context, listener net.Listener) (code string, err error) {
	srv := &http.Server{Handler: v, ReadHeaderTimeout: requestTime, MaxHeaderBytes: 32 << 10}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	var answer url.Values
	select {
	case answer = <-v.came:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case err = <-served:
		return "", fmt.Errorf("waiting for the browser: %w", err)
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second) // the page is on its way
	defer cancel()
	if srv.Shutdown(closing) != nil {
		_ = srv.Close()
	}
	<-served
	if err != nil {
		return "", err
	}
	return v.code(answer)
}

// ServeHTTP takes the browser's coming back. What does not have our state is not it, and does not end the login: any
// page may send a browser here.
func (v *visit) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	query := req.URL.Query()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case req.URL.Path != callbackPath || req.Method != http.MethodGet:
		http.Error(w, "Nothing here.", http.StatusNotFound)
		return
	case subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(v.state)) != 1:
		http.Error(w, "This is not the login that workbench waits for.", http.StatusBadRequest)
		return
	}
	select {
	case v.came <- query:
		_, _ = io.WriteString(w, "workbench has the answer and shows the result in its terminal. You can close this page.\n")
	default:
		http.Error(w, "This login is over.", http.StatusGone)
	}
}

// code takes the code from the answer, if it is that of the authorization server that was asked (RFC 9207, section
// 2.4). Of another one nothing is believed, its errors neither.
func (v *visit) code(answer url.Values) (string, error) {
	iss, sent := answer.Get("iss"), answer.Has("iss")
	switch {
	case sent && iss != v.place.Issuer:
		return "", fmt.Errorf("the answer is of %q, and the login was asked of %q: it is not used", foreign.NewText(iss), v.place.Issuer)
	case !sent && v.place.SendsIssuer:
		return "", fmt.Errorf("the answer does not say that it is of %q, which always says so: it is not used", v.place.Issuer)
	case answer.Get("error") != "":
		return "", newRefusal(answer.Get("error"), answer.Get("error_description"))
	case answer.Get("code") == "":
		return "", errors.New("the answer has no code")
	}
	return answer.Get("code"), nil
}
