package httpfront

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/principal"
)

// Tokens says whose tokens are.
type Tokens interface {
	// Verify returns who a token stands for. A *principal.DeniedError says that it stands for nobody, and any other
	// error that this cannot be told at present. It may be called many times at once and should be quick.
	Verify(ctx context.Context, token string) (principal.Principal, error)
}

// caller is whom a request comes from.
type caller struct {
	principal.Principal
	token string // what is asked again while a response lasts; "" if it lasts as long as the program
}

// door lets callers in.
type door struct {
	token    []byte // of the front itself; empty if everybody is let in
	tokens   Tokens // nil if there are no others
	metadata *metadata
	log      zerolog.Logger
}

// owner is who may do everything: whoever has the token of the front itself, or everybody if there is none.
func owner() caller {
	return caller{Principal: principal.Principal{Name: principal.Default, Admin: true}}
}

// admit asks for the token and who that is.
func (d *door) admit(r *http.Request) (caller, *refusal) {
	if len(d.token) == 0 {
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
	case subtle.ConstantTimeCompare([]byte(token), d.token) == 1:
		return owner(), nil
	case d.tokens == nil || token == "":
		return caller{}, refuseToken("invalid_token", "the token is not that of this server; workbench token prints it")
	}
	p, err := d.tokens.Verify(r.Context(), token)
	switch denied, ok := errors.AsType[*principal.DeniedError](err); {
	case ok:
		return caller{}, refuseToken("invalid_token", denied.Reason)
	case err != nil:
		d.log.Warn().AnErr(logkey.Err, err).Msg("a token cannot be checked")
		return caller{}, refuse(http.StatusServiceUnavailable, "the token cannot be checked at present; the log of workbench says why").later("5")
	}
	return caller{p, token}, nil
}

// authorize asks for the token and who that is; it says where to get one.
func (d *door) authorize(r *http.Request) (caller, *refusal) {
	c, no := d.admit(r)
	if no == nil {
		welcome(r.Context())
		if v := visitorOf(r); v != nil {
			v.user = c.Name
		}
	}
	if no != nil && no.status == http.StatusUnauthorized && d.metadata != nil {
		no.header[1] += `, resource_metadata="` + d.metadata.address + `"`
	}
	return c, no
}

// stays reports whether a caller that was let in still would be. That it cannot be told is no reason to break off what
// is under way.
func (d *door) stays(ctx context.Context, c *caller) bool {
	if c.token == "" {
		return true
	}
	p, err := d.tokens.Verify(ctx, c.token)
	return !errors.As(err, new(*principal.DeniedError)) && (err != nil || p.Name == c.Name)
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
