package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/internal/shellword"
)

// NewLogin makes what logs in to a remote server, by its configuration and what opts has: Logins, HTTP, whose TLS
// settings hold here too, Environ, Secret and Renewed. It is nil if there are no Logins, or if the server is not remote
// or has a header Authorization.
func NewLogin(cfg config.Server, opts Options) *oauth.Client {
	if opts.Logins == nil || cfg.URL == "" {
		return nil
	}
	for name := range cfg.Headers {
		if strings.EqualFold(name, "Authorization") {
			return nil
		}
	}
	how := oauth.Options{Proxy: proxyOf(opts.Environ), ProxyAnswered: proxyAnswered, Renewed: opts.Renewed, Told: func(secret string) { opts.Masks.Add(secret, mask.Masked) }}
	if t, ok := opts.HTTP.Transport.(*http.Transport); ok {
		how.TLS = t.TLSClientConfig
	}
	login, err := oauth.New(loginSettings(cfg, opts.Secret), opts.Logins, how)
	if err != nil {
		return nil // the server cannot be reached either, and says so
	}
	return login
}

// access is what a server is reached by: its configuration with its secrets, and the login to it.
type access struct {
	*exchange
	cfg   config.Server
	login *oauth.Client // nil if there is none to be had
}

// authorized sends a request with the token of the login, if there is one.
func (a *access) authorized(req *http.Request) (*http.Response, error) {
	if a.login == nil {
		return a.send(req)
	}
	token, err := a.login.Token(req.Context())
	if err != nil {
		return nil, Unreached(err)
	}
	resp, err := a.sendWith(req, token)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		resp, err = a.again(req, resp, token)
	}
	if err == nil && resp.StatusCode == http.StatusForbidden {
		resp, err = a.granted(req, resp)
	}
	return resp, err
}

// granted deals with a response that forbids a request: if that is for want of a scope, and somebody has logged in
// since, the request is sent once more.
func (a *access) granted(req *http.Request, resp *http.Response) (*http.Response, error) {
	for first := true; ; first = false {
		wanted := oauth.ParseChallenge(resp.Header)
		if resp.StatusCode != http.StatusForbidden || wanted.Error != oauth.InsufficientScope {
			return resp, nil
		}
		refused := a.Refusal(resp)
		_ = resp.Body.Close()
		if !first || !a.login.Changed() {
			return nil, a.lacks(req.Context(), refused, wanted)
		}
		a.login.Reload()
		token, err := a.login.Token(req.Context())
		if err != nil {
			return nil, Unreached(err)
		}
		if resp, err = a.sendWith(req, token); err != nil {
			return nil, err
		}
	}
}

// again sends a request once more, whose token was refused.
func (a *access) again(req *http.Request, resp *http.Response, token string) (*http.Response, error) {
	refused := a.Refusal(resp)
	_ = resp.Body.Close()
	wanted := oauth.ParseChallenge(resp.Header)
	if advice := ofProof(wanted, resp.Header); advice != "" && token != "" {
		refused.Advice = advice // which another token would not change
		return nil, refused
	}
	next, err := a.login.Renew(req.Context(), token, wanted)
	switch person, ok := errors.AsType[*oauth.LoginError](err); {
	case ok:
		refused.Advice = person.Why + "; run " + a.command()
		if wanted.Metadata == "" {
			refused.Advice += `, or, if the server wants a key and names no way to log in, give it in "headers" (for example "Authorization": "Bearer ${TOKEN}")`
		}
		return nil, refused
	case err != nil:
		return nil, Unreached(err)
	}
	resp, err = a.sendWith(req, next)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		defer resp.Body.Close()
		refused = a.Refusal(resp)
		refused.Advice = ofProof(oauth.ParseChallenge(resp.Header), resp.Header)
		switch {
		case refused.Advice != "":
		case a.cfg.OAuth.Grant.NeedsNobody():
			refused.Advice = "the server refuses a token that was just issued for it; check the client, scopes and grant of its \"oauth\" in the configuration, or ask whoever runs the server"
		default:
			refused.Advice = "the server refuses a token that was just issued for it; run " + a.command()
		}
		return nil, refused
	}
	return resp, err
}

// ofProof says what to do where it is the proof (DPoP) and not the token that a server refuses; "" where it is not.
func ofProof(wanted oauth.Challenge, h http.Header) string {
	switch wanted.Error {
	case oauth.UseNonce:
		return "the server keeps asking for a nonce in a proof (DPoP) that has its nonce; ask whoever runs it"
	case oauth.InvalidProof:
		if note := oauth.ClockNote(h); note != "" {
			return "the server refuses the proof (DPoP) of the login: " + note
		}
		return "the server refuses the proof (DPoP) of the login; ask whoever runs it"
	}
	return ""
}

// lacks words that a token is not good for a request.
func (a *access) lacks(ctx context.Context, e *StatusError, wanted oauth.Challenge) error {
	scopes := strings.Fields(wanted.Scope)
	had := a.login.Scopes()
	missing := slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return slices.Contains(had, s) })
	switch {
	case len(scopes) > 0 && len(missing) == 0:
		e.Advice = fmt.Sprintf("it wants the scope %q, which the login has: logging in again changes nothing; ask whoever runs the server", wanted.Scope)
		return e
	case a.cfg.OAuth.Grant.NeedsNobody():
		e.Advice = fmt.Sprintf(`it wants the scope %q; add it to "scopes" of its "oauth" in the configuration`, wanted.Scope)
		return e
	}
	e.Advice = fmt.Sprintf("it wants the scope %q; run %s to grant it", wanted.Scope, a.command())
	if err := a.login.Note(ctx, wanted); err != nil {
		e.Advice += fmt.Sprintf(" (%v)", err)
	}
	return e
}

// command is what a person is to run.
func (a *access) command() string {
	return "`workbench login " + shellword.Word(a.opts.Toolbox+"/"+a.opts.Server) + "`"
}

// sendWith makes one HTTP exchange with a token, "" for none. It leaves the request as it is, so that the same may be
// sent again.
func (a *access) sendWith(req *http.Request, token string) (*http.Response, error) {
	return a.told(a.login.Do(a.opts.HTTP, req, token))
}
