package oauthtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Names of grants and tokens.
const (
	grantJWT      = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	tokenID       = "urn:ietf:params:oauth:token-type:id_token"
	tokenGrant    = "urn:ietf:params:oauth:token-type:id-jag"
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
)

// Issuer makes JSON Web Tokens: a platform of workloads, or an identity provider.
type Issuer struct{ key *ecdsa.PrivateKey }

// NewIssuer makes one with a key of its own.
func NewIssuer() *Issuer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return &Issuer{key}
}

// Public is the key that its tokens are checked with.
func (i *Issuer) Public() crypto.PublicKey { return i.key.Public() }

// Token makes a token that ends at some time.
func (i *Issuer) Token(kind, subject, audience string, ends time.Time, more map[string]any) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: i.key}, new(jose.SignerOptions).WithType(jose.ContentType(kind)))
	if err != nil {
		panic(err)
	}
	token, err := jwt.Signed(signer).Claims(jwt.Claims{Subject: subject, Audience: jwt.Audience{audience}, ID: rand.Text(),
		Expiry: jwt.NewNumericDate(ends)}).Claims(more).Serialize()
	if err != nil {
		panic(err)
	}
	return token
}

// checked reads a token that must be signed with a key and be for an audience.
func checked(token string, key crypto.PublicKey, audience string) (c jwt.Claims, more map[string]any, ok bool) {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256, jose.RS256})
	if err != nil || parsed.Claims(key, &c, &more) != nil || c.Validate(jwt.Expected{AnyAudience: jwt.Audience{audience}, Time: time.Now()}) != nil {
		return c, nil, false
	}
	return c, more, true
}

// clientLocked reports whether a client shows who it is: by a token that is signed with its key, good once, or by a
// secret.
func (s *Server) clientLocked(req *http.Request) bool {
	if s.ClientKey == nil {
		_, secret, ok := req.BasicAuth()
		return ok && secret != ""
	}
	c, _, ok := checked(req.PostFormValue("client_assertion"), s.ClientKey, origin(req))
	if !ok || s.seen[c.ID] || c.ID == "" || req.PostFormValue("client_assertion_type") != assertionType {
		return false
	}
	s.seen[c.ID] = true
	id := req.PostFormValue("client_id")
	return c.Subject == id && (c.Issuer == id || c.Issuer == "") // what a platform vouches with has no client for its issuer
}

// vouchedLocked reports whether an assertion is that of somebody who is trusted.
func (s *Server) vouchedLocked(req *http.Request) bool {
	_, more, ok := checked(req.PostFormValue("assertion"), s.Trusted, origin(req))
	if resource, of := more["resource"]; of {
		ok = ok && resource == req.PostFormValue("resource")
	}
	return ok
}

// exchange is the identity provider's part: it makes of an ID token what says who may use a server.
func (s *Server) exchange(w http.ResponseWriter, req *http.Request) {
	c, _, ok := checked(req.PostFormValue("subject_token"), s.Trusted, req.PostFormValue("client_id"))
	if !ok || req.PostFormValue("subject_token_type") != tokenID || req.PostFormValue("requested_token_type") != tokenGrant {
		s.write(w, req, http.StatusBadRequest, map[string]any{
			"error": "invalid_grant", "error_description": "not the ID token of anybody: " + req.PostFormValue("subject_token")})
		return
	}
	grant := s.Grants.Token("oauth-id-jag+jwt", c.Subject, req.PostFormValue("audience"), time.Now().Add(5*time.Minute),
		map[string]any{"resource": req.PostFormValue("resource")})
	s.write(w, req, http.StatusOK, map[string]any{"access_token": grant, "issued_token_type": tokenGrant, "token_type": "N_A"})
}
