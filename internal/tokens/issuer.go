package tokens

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mcp-workbench/workbench/internal/principal"
)

// IssuerOptions say whose JSON Web Tokens are trusted.
type IssuerOptions struct {
	Name     string // in the claim iss, to the letter
	Audience string // that must be among those of the claim aud
	// KeysURL is the address of a JWK Set, KeysFile a file with one, or with PEM blocks. One of them is needed.
	KeysURL, KeysFile string
	// Algorithms are those that tokens may be signed with (RFC 7518 and 8037). Keys are public ones, so that none with
	// a shared secret is any use.
	Algorithms []string
	// Client reads KeysURL; nil means http.DefaultClient.
	Client *http.Client
}

// Issuer says who tokens of an issuer stand for. It may be used by several goroutines.
type Issuer struct {
	name   string
	keys   keyring
	parser *jwt.Parser
}

// NewIssuer trusts an issuer. Nothing is read before the first token is there.
func NewIssuer(opts IssuerOptions) *Issuer {
	i := &Issuer{name: opts.Name, parser: jwt.NewParser(
		jwt.WithValidMethods(opts.Algorithms), jwt.WithIssuer(opts.Name), jwt.WithAudience(opts.Audience),
		jwt.WithExpirationRequired(), jwt.WithLeeway(leeway), jwt.WithStrictDecoding())}
	if opts.KeysFile != "" {
		i.keys.load = fromFile(opts.KeysFile)
	} else {
		i.keys.load = fromURL(opts.KeysURL, cmp.Or(opts.Client, http.DefaultClient))
	}
	return i
}

const (
	leeway   = 30 * time.Second // between the clocks of two machines
	maxToken = 16 << 10         // bytes
	maxName  = 512              // bytes, as the store has it
)

// claims are what is read of a token.
type claims struct {
	jwt.RegisteredClaims
	Scope  scope `json:"scope"`
	Scopes scope `json:"scp"` // what some issuers call it
}

// scope is a list divided by spaces (RFC 8693, section 4.2), or an array of those that may have spaces, as names of
// toolboxes do.
type scope []string

// UnmarshalJSON implements json.Unmarshaler.
func (s *scope) UnmarshalJSON(text []byte) error {
	var list jwt.ClaimStrings
	if err := list.UnmarshalJSON(text); err != nil {
		return err
	}
	if text[0] == '"' {
		list = strings.Fields(list[0])
	}
	*s = append(*s, list...)
	return nil
}

// The scopes that mean something.
const (
	scopeAdmin    = "workbench:admin"
	scopeToolbox  = "workbench:toolbox:" // and the name of a toolbox, or allToolboxes
	allToolboxes  = "*"
	wrongTokenTip = "; ask its issuer for one that is for this server"
)

// suffix ends the names of the issuer's users, and of no others: somebody of the same sub who has a token made here is
// somebody else.
func (i *Issuer) suffix() string { return "@" + i.name }

// Verify returns who a token stands for: the claim sub at the issuer, with the rights that its scopes give.
func (i *Issuer) Verify(ctx context.Context, token string) (principal.Principal, error) {
	if len(token) > maxToken {
		return principal.Principal{}, &principal.DeniedError{Reason: fmt.Sprintf("the token is longer than %d bytes", maxToken)}
	}
	var c claims
	var problem error // of ours, that the token has no part in
	_, err := i.parser.ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) {
		if _, there := t.Header["crit"]; there {
			return nil, errors.New("it has extensions that are not known") // RFC 7515, section 4.1.11
		}
		id, _ := t.Header["kid"].(string)
		keys, err := i.keys.find(ctx, id, t.Method.Alg())
		if problem = err; err != nil {
			return nil, err
		}
		set := jwt.VerificationKeySet{}
		for _, k := range keys {
			set.Keys = append(set.Keys, k.public)
		}
		return set, nil
	})
	switch {
	case problem != nil:
		return principal.Principal{}, problem
	case err != nil:
		return principal.Principal{}, &principal.DeniedError{Reason: reason(err)}
	}
	for _, part := range strings.Split(token, ".")[:2] {
		if err := unequivocal(part); err != nil {
			return principal.Principal{}, &principal.DeniedError{Reason: err.Error()}
		}
	}
	return i.principal(&c)
}

func (i *Issuer) principal(c *claims) (principal.Principal, error) {
	name := c.Subject + i.suffix()
	unfit := func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError } // the last may be several
	switch {
	case c.Subject == "" || len(name) > maxName || strings.ContainsFunc(c.Subject, unfit):
		return principal.Principal{}, &principal.DeniedError{Reason: "the token has no sub that could be a user's name"}
	case c.Scope != nil && c.Scopes != nil:
		return principal.Principal{}, &principal.DeniedError{Reason: "the token has both scope and scp, which may contradict each other" + wrongTokenTip}
	}
	p := principal.Principal{Name: name, Toolboxes: []string{}}
	all := slices.Concat(c.Scope, c.Scopes)
	for _, s := range all {
		if name, ok := strings.CutPrefix(s, scopeToolbox); ok {
			p.Toolboxes = append(p.Toolboxes, name)
		}
	}
	if slices.Contains(p.Toolboxes, allToolboxes) {
		p.Toolboxes = nil
	}
	p.Admin = slices.Contains(all, scopeAdmin)
	return p, nil
}

// isTime reports whether a claim is a NumericDate (RFC 7519, section 2) of the years that people write with four digits:
// the library takes text too, and times past those that it can have for others.
func isTime(value json.RawMessage) bool {
	seconds, err := strconv.ParseFloat(string(value), 64)
	return err == nil && seconds >= 0 && seconds < 253_402_300_800
}

// unequivocal refuses a part of a token that says something twice, or so that it is read for something else: whom and
// what it is for, and when, would depend on who reads it.
func unequivocal(part string) error {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return err
	}
	meaning := []string{"alg", "kid", "crit", "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "scope", "scp"}
	seen := map[string]bool{}
	for d.More() {
		var value json.RawMessage
		key, err := d.Token()
		if err := errors.Join(err, d.Decode(&value)); err != nil {
			return err
		}
		name, _ := key.(string)
		if seen[name] {
			return errors.New("the token says one thing twice" + wrongTokenTip)
		}
		seen[name] = true
		if slices.Contains([]string{"exp", "nbf", "iat"}, name) && !isTime(value) {
			return fmt.Errorf("the token's %s is no time in seconds%s", name, wrongTokenTip)
		}
		for _, known := range meaning {
			if name != known && strings.EqualFold(name, known) {
				return fmt.Errorf("the token spells %s differently%s", known, wrongTokenTip)
			}
		}
	}
	return nil
}

// reason says to who sent a token what is wrong with it.
func reason(err error) string {
	for _, known := range []struct {
		err  error
		text string
	}{
		{jwt.ErrTokenExpired, "the token has expired; ask its issuer for another"},
		{jwt.ErrTokenNotValidYet, "the token is not valid yet"},
		{jwt.ErrTokenInvalidIssuer, "the token is of another issuer" + wrongTokenTip},
		{jwt.ErrTokenInvalidAudience, "the token is for another audience" + wrongTokenTip},
		{jwt.ErrTokenRequiredClaimMissing, "the token lacks a claim that is needed: exp, iss and aud"},
		{jwt.ErrTokenMalformed, "the token is not known here, and is no JSON Web Token; workbench token create makes one"},
	} {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	return "the signature of the token is not trusted here"
}

// Set says who tokens of either kind stand for.
type Set struct {
	Kept   *File   // nil if there are none
	Issuer *Issuer // nil if nobody else is trusted
}

// Verify returns who a token stands for. Its form says of which kind it is, and nobody of one kind has the name of one
// of the other.
func (s *Set) Verify(ctx context.Context, token string) (principal.Principal, error) {
	switch kept := strings.HasPrefix(token, Prefix); {
	case s.Issuer != nil && !kept:
		return s.Issuer.Verify(ctx, token)
	case s.Kept != nil:
		p, err := s.Kept.Verify(ctx, token)
		if err == nil && s.Issuer != nil && strings.HasSuffix(p.Name, s.Issuer.suffix()) {
			p, err = principal.Principal{}, &principal.DeniedError{Reason: "the token is for a user of the issuer, and only the issuer gives out tokens for its users; workbench token create --user makes one for somebody else"}
		}
		return p, err
	}
	return principal.Principal{}, &principal.DeniedError{Reason: "the token is not known here"}
}
