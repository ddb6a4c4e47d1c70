package oauth_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/internal/oauth/oauthtest"
)

// holds is a source of a text.
func holds(text string) oauth.Source {
	return func(context.Context) (string, error) { return text, nil }
}

// inPEM writes a key.
func inPEM(t *testing.T, kind string, der []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// inJSON writes a key as a JSON Web Key.
func inJSON(t *testing.T, key jose.JSONWebKey) string {
	t.Helper()
	text, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A client shows who it is by what it signs with a key, in each form that a key is written in: for a token, for the
// next one, and for the end of the login.
func TestPrivateKeys(t *testing.T) {
	t.Parallel()
	ec, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	big, _ := rsa.GenerateKey(rand.Reader, 2048)
	sec1, err := x509.MarshalECPrivateKey(ec)
	asSEC1 := inPEM(t, "EC PRIVATE KEY", sec1, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(ec)
	asPKCS8 := inPEM(t, "PRIVATE KEY", pkcs8, err)
	for name, tt := range map[string]struct {
		text   string
		public crypto.PublicKey
	}{
		"EC in PKCS 8":  {"\n" + asPKCS8, ec.Public()},
		"EC in SEC 1":   {asSEC1, ec.Public()},
		"EC as a JWK":   {inJSON(t, jose.JSONWebKey{Key: ec, KeyID: "1", Algorithm: "ES256"}), ec.Public()},
		"RSA in PKCS 1": {inPEM(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(big), nil), big.Public()},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			b.ClientKey = tt.public
			c := b.client(oauth.Settings{ClientID: "me", PrivateKey: holds(tt.text), KeyID: "1", Grant: oauth.GrantCredentials})
			first := b.token(c)
			b.Expire()
			if token, err := c.Renew(t.Context(), first, oauth.Challenge{}); err != nil || token == first {
				t.Errorf("got %q, %v, want another token", token, err)
			}
			if was, err := c.Logout(t.Context()); !was || err != nil {
				t.Errorf("logout: got %v, %v, want that there was a login", was, err)
			}
		})
	}
	t.Run("of a person who logs in", func(t *testing.T) {
		b := newBed(t)
		b.ClientKey = ec.Public()
		c := b.client(oauth.Settings{ClientID: "me", PrivateKey: holds(asPKCS8)})
		if _, err := b.login(c); err != nil {
			t.Fatal(err)
		}
		first := b.token(c)
		b.Expire()
		if token, err := c.Renew(t.Context(), first, oauth.Challenge{}); err != nil || !b.good(token) {
			t.Errorf("got %q, %v, want another token", token, err)
		}
		if _, err := c.Logout(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// What is no private key that can be signed with is refused before anything is sent, and not told.
func TestPrivateKeysThatAreNone(t *testing.T) {
	t.Parallel()
	ec, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	other, _ := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	public, err := x509.MarshalPKIXPublicKey(ec.Public())
	asPublic := inPEM(t, "PUBLIC KEY", public, err)
	p224, err := x509.MarshalPKCS8PrivateKey(other)
	asP224 := inPEM(t, "PRIVATE KEY", p224, err)
	private := inJSON(t, jose.JSONWebKey{Key: ec})
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":           {"", "neither in PEM"},
		"a word":            {"canary", "neither in PEM"},
		"a public key":      {asPublic, "not that of a private key"},
		"a public JWK":      {inJSON(t, jose.JSONWebKey{Key: ec.Public()}), "not a private key"},
		"with a passphrase": {inPEM(t, "ENCRYPTED PRIVATE KEY", []byte("canary"), nil), "without a passphrase"},
		"broken PEM":        {inPEM(t, "PRIVATE KEY", []byte("canary"), nil), "no private key"},
		"broken JSON":       {`{"kty":"canary"}`, "not a JSON Web Key"},
		"a secret":          {inJSON(t, jose.JSONWebKey{Key: []byte("canary canary canary canary canary")}), "not a private key"},
		"a small curve":     {asP224, "not a private key"},
		"alg none":          {strings.Replace(private, "{", `{"alg":"none",`, 1), "its alg is not one of those"},
		"alg HS256":         {strings.Replace(private, "{", `{"alg":"HS256",`, 1), "its alg is not one of those"},
		"another key's alg": {inJSON(t, jose.JSONWebKey{Key: ed, Algorithm: "ES256"}), "its alg is not one of those"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			c := b.client(oauth.Settings{ClientID: "me", PrivateKey: holds(tt.text), Grant: oauth.GrantCredentials})
			token, err := c.Token(t.Context())
			if token != "" || err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("got %q, %v, want %q", token, err, tt.want)
			}
			if got := b.Count("client_credentials"); got != 0 {
				t.Errorf("the authorization server was asked %d times, want never", got)
			}
		})
	}
}

// A workload gets tokens for what its platform gave it, which is read each time; what is wrong with that is said, and
// not shown.
func TestWorkload(t *testing.T) {
	platform := oauthtest.NewIssuer()
	b := newBed(t)
	b.Trusted = platform.Public()
	audience := strings.TrimSuffix(b.url, "/mcp")
	given := platform.Token("JWT", "workload", audience, time.Now().Add(time.Hour), nil)
	c := b.client(oauth.Settings{ClientID: "me", Grant: oauth.GrantAssertion, Scopes: []string{"read"},
		Assertion: func(context.Context) (string, error) { return given, nil }})
	first := b.token(c)
	for name, tt := range map[string]struct{ given, want string }{
		"expired":             {platform.Token("JWT", "workload", audience, time.Now().Add(-time.Hour), nil), "ago; get a new one from its issuer"},
		"for another":         {platform.Token("JWT", "workload", "https://other.example", time.Now().Add(time.Hour), nil), "not for the audience " + audience},
		"of another platform": {oauthtest.NewIssuer().Token("JWT", "workload", audience, time.Now().Add(time.Hour), nil), "invalid_grant"},
		"no token":            {"canary", "not a JSON Web Token"},
		"not signed":          {"eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnkifQ.", "not a JSON Web Token"},
	} {
		given = tt.given
		c.Reload()
		before := b.Count(jwtGrant)
		_, err := c.Renew(t.Context(), first, oauth.Challenge{})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), given) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
		if got := b.Count(jwtGrant) - before; got != 1 {
			t.Errorf("%s: the authorization server was asked %d times, want once", name, got)
		}
	}
	given = platform.Token("JWT", "workload", audience, time.Now().Add(time.Hour), nil)
	c.Reload()
	b.Expire()
	if token, err := c.Renew(t.Context(), first, oauth.Challenge{}); err != nil || !b.good(token) {
		t.Errorf("with another token of the platform: got %q, %v, want a good one", token, err)
	}
	t.Run("who is vouched for as a client", func(t *testing.T) {
		b := newBed(t)
		b.ClientKey = platform.Public()
		b.token(b.client(oauth.Settings{ClientID: "me", Grant: oauth.GrantCredentials, Assertion: func(context.Context) (string, error) {
			return platform.Token("JWT", "me", strings.TrimSuffix(b.url, "/mcp"), time.Now().Add(time.Hour), nil), nil
		}}))
	})
}

const jwtGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

// The clock of this machine may be the cause: then that is what is said.
func TestWorkloadClock(t *testing.T) {
	b := newBed(t)
	b.Trusted = oauthtest.NewIssuer().Public()
	b.Late = time.Hour
	c := b.client(oauth.Settings{Grant: oauth.GrantAssertion, Assertion: holds("x.y.z")})
	if _, err := c.Token(t.Context()); err == nil || !strings.Contains(err.Error(), "ahead of the one that answered; correct it") {
		t.Errorf("got %v, want that the clock is wrong", err)
	}
}

// enterprise is a server whose users an identity provider knows.
func enterprise(t *testing.T, provider *oauthtest.Server) (b *bed, settings oauth.Settings) {
	b = newBed(t)
	if provider.Grants == nil {
		provider.Grants = oauthtest.NewIssuer()
	}
	b.Trusted = provider.Grants.Public()
	srv := httptest.NewServer(provider.Handler(http.NotFoundHandler()))
	t.Cleanup(srv.Close)
	return b, oauth.Settings{ClientID: "me", ClientSecret: "s3cret", Grant: oauth.GrantAssertion, Identity: &oauth.Identity{Issuer: srv.URL, ClientID: "sso"}}
}

// What an identity provider says of a person is taken to the authorization server of the server, which gives a token
// for it.
func TestEnterprise(t *testing.T) {
	t.Parallel()
	people := oauthtest.NewIssuer()
	good := people.Token("JWT", "ada", "sso", time.Now().Add(time.Hour), nil)
	for name, tt := range map[string]struct {
		id     string
		change func(answer map[string]any)
		want   string
	}{
		"good":                       {id: good},
		"expired":                    {id: people.Token("JWT", "ada", "sso", time.Now().Add(-time.Minute), nil), want: "the identity provider says invalid_grant"},
		"of another client":          {id: people.Token("JWT", "ada", "other", time.Now().Add(time.Hour), nil), want: "the identity provider says invalid_grant"},
		"of nobody":                  {id: "canary", want: "not a JSON Web Token"},
		"a token that is none":       {id: good, change: func(a map[string]any) { a["issued_token_type"] = "urn:ietf:params:oauth:token-type:access_token" }, want: "ask whoever runs it"},
		"a token of no type":         {id: good, change: func(a map[string]any) { delete(a, "issued_token_type") }, want: "ask whoever runs it"},
		"metadata of another issuer": {id: good, change: func(a map[string]any) { a["issuer"] = "https://other.example" }, want: "that of another"},
		"a token endpoint inside":    {id: good, change: func(a map[string]any) { a["token_endpoint"] = "https://169.254.169.254/" }, want: "not a public address"},
		"no token endpoint":          {id: good, change: func(a map[string]any) { delete(a, "token_endpoint") }, want: "names no token endpoint"},
		"no grant":                   {id: good, change: func(a map[string]any) { a["access_token"] = "" }, want: "no token"},
		"another's grant":            {id: good, change: func(a map[string]any) { a["access_token"] = good }, want: "the authorization server says invalid_grant"},
	} {
		t.Run(name, func(t *testing.T) {
			provider := &oauthtest.Server{Trusted: people.Public()}
			b, settings := enterprise(t, provider)
			if tt.change != nil {
				provider.Change = func(_ string, answer map[string]any) {
					if answer["error"] == nil {
						tt.change(answer)
					}
				}
			}
			settings.Identity.Token = holds(tt.id)
			c := b.client(settings)
			if tt.want == "" {
				b.token(c)
				return
			}
			if token, err := c.Token(t.Context()); token != "" || err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), tt.id) {
				t.Errorf("got %q, %v, want %q", token, err, tt.want)
			}
		})
	}
}
