package toolbox

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
)

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

// authorized sends a request with the token of the login, if there is one.
func (r *remote) authorized(req *http.Request) (*http.Response, error) {
	if r.login() == nil {
		return r.send(req)
	}
	token, err := r.login().Token(req.Context())
	if err != nil {
		return nil, unreachedError{err}
	}
	resp, err := r.send(r.withToken(req, token))
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
		refused := r.server.statusError(resp)
		_ = resp.Body.Close()
		if !first || !r.login().Changed() {
			return nil, r.lacks(req.Context(), refused, wanted)
		}
		r.login().Reload()
		token, err := r.login().Token(req.Context())
		if err != nil {
			return nil, unreachedError{err}
		}
		if resp, err = r.send(r.withToken(req, token)); err != nil {
			return nil, err
		}
	}
}

// again sends a request once more, whose token was refused.
func (r *remote) again(req *http.Request, resp *http.Response, token string) (*http.Response, error) {
	refused := r.server.statusError(resp)
	_ = resp.Body.Close()
	next, err := r.login().Renew(req.Context(), token, oauth.ParseChallenge(resp.Header))
	var person *oauth.LoginError
	switch {
	case errors.As(err, &person):
		refused.Advice = person.Why + "; run " + r.command()
		if wanted := oauth.ParseChallenge(resp.Header); wanted.Metadata == "" {
			refused.Advice += `, or, if the server wants a key and names no way to log in, give it in "headers" (for example "Authorization": "Bearer ${TOKEN}")`
		}
		return nil, refused
	case err != nil:
		return nil, unreachedError{err}
	}
	resp, err = r.send(r.withToken(req, next))
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		defer resp.Body.Close()
		refused = r.server.statusError(resp)
		refused.Advice = "the server refuses a token that was just got for it; run " + r.command()
		return nil, refused
	}
	return resp, err
}

// lacks words that a token is not good for a request.
func (r *remote) lacks(ctx context.Context, e *StatusError, wanted oauth.Challenge) error {
	scopes := strings.Fields(wanted.Scope)
	had := r.login().Scopes()
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
	if err := r.login().Note(ctx, wanted); err != nil {
		e.Advice += fmt.Sprintf(" (%v)", err)
	}
	return e
}

// loggedIn reports whether somebody has logged in to the server since it refused
// us.
func (r *remote) loggedIn() bool { return r != nil && r.login() != nil && r.login().Changed() }

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

// withToken returns a request of its own, so that the same may be sent twice.
func (r *remote) withToken(req *http.Request, token string) *http.Request {
	r.server.box.opts.Masks.Add(token, mask.Masked)
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
