package proxy

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/principal"
)

// Tokens says whose tokens are.
type Tokens interface {
	// Verify returns who a token stands for. A *principal.DeniedError says
	// that it stands for nobody, and any other error that this cannot be told
	// at present. It may be called many times at once and should be quick.
	Verify(ctx context.Context, token string) (principal.Principal, error)
}

// caller is whom a request comes from.
type caller struct {
	principal.Principal
	token string // what is asked again while a response lasts; "" if it lasts as long as the program
}

// visit is a caller at an endpoint.
type visit struct {
	caller
	front   *Proxy
	address string // of the client
}

func (v *visit) party() party { return party{v.front, v.Name, v.Admin} }

// owner is who may do everything: whoever has the token of the front itself, or
// everybody if there is none.
func owner() caller {
	return caller{Principal: principal.Principal{Name: principal.Default, Admin: true}}
}

// admit asks for the token and who that is.
func (h *HTTP) admit(r *http.Request) (caller, *refusal) {
	if len(h.token) == 0 {
		return owner(), nil
	}
	given := r.Header["Authorization"]
	if len(given) == 0 {
		return caller{}, refuseToken("", "a bearer token is needed in the Authorization header; workbench token prints it")
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	switch {
	case len(given) != 1 || !strings.EqualFold(scheme, "Bearer"):
		return caller{}, refuseToken("invalid_token", "the Authorization header must be there once, with Bearer and a token")
	case subtle.ConstantTimeCompare([]byte(token), h.token) == 1:
		return owner(), nil
	case h.opts.Tokens == nil || token == "":
		return caller{}, refuseToken("invalid_token", "the token is not that of this server; workbench token prints it")
	}
	p, err := h.opts.Tokens.Verify(r.Context(), token)
	var denied *principal.DeniedError
	switch {
	case errors.As(err, &denied):
		return caller{}, refuseToken("invalid_token", denied.Reason)
	case err != nil:
		h.log.Warn().AnErr(logkey.Err, err).Msg("a token cannot be checked")
		no := refuse(http.StatusServiceUnavailable, "the token cannot be checked at present; the log of workbench says why")
		no.header = [2]string{"Retry-After", "5"}
		return caller{}, no
	}
	return caller{p, token}, nil
}

// stays reports whether a caller that was let in still would be. That it cannot
// be told is no reason to break off what is under way.
func (h *HTTP) stays(ctx context.Context, c *caller) bool {
	if c.token == "" {
		return true
	}
	p, err := h.opts.Tokens.Verify(ctx, c.token)
	var denied *principal.DeniedError
	return !errors.As(err, &denied) && (err != nil || p.Name == c.Name)
}

// refuseToken refuses a request for its token (RFC 6750, section 3).
func refuseToken(code, reason string) *refusal {
	no := refuse(http.StatusUnauthorized, reason)
	no.header = [2]string{"WWW-Authenticate", challenge(code, reason)}
	return no
}

// refuseScope refuses what a token is good enough for to be known, but not to do.
func refuseScope(reason string) *refusal {
	no := refuse(http.StatusForbidden, reason)
	no.header = [2]string{"WWW-Authenticate", challenge("insufficient_scope", reason)}
	return no
}

func challenge(code, reason string) string {
	if code == "" {
		return `Bearer realm="workbench"`
	}
	return `Bearer realm="workbench", error="` + code + `", error_description="` + strings.Map(quotable, reason) + `"`
}

// quotable leaves what an error_description may hold.
func quotable(c rune) rune {
	switch {
	case c == '"' || c == '\\':
		return '\''
	case c < ' ' || c > '~':
		return '?'
	}
	return c
}

// front returns what a caller is served at /mcp/{toolbox}, or with "" at /mcp;
// nil if that is nothing. A toolbox that somebody may not use is answered for
// like one that is not there.
func (h *HTTP) front(c *caller, toolbox string) *Proxy {
	direct := toolbox
	if direct == "" {
		direct = h.root.opts.Direct
	}
	switch {
	case direct != "" && !c.May(direct):
		return nil
	case toolbox != "":
		return h.root.serving(toolbox)
	case direct != "" || c.Toolboxes == nil:
		return h.root
	}
	names := append([]string{}, c.Toolboxes...)
	slices.Sort(names)
	return h.root.within(slices.Compact(names))
}
