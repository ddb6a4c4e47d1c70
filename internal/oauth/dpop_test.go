package oauth_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/internal/oauth/oauthtest"
)

// post sends a request with a token as toolboxes do, and returns its status.
func (b *bed) post(c *oauth.Client, token string) (int, http.Header) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url, bytes.NewReader([]byte("{}")))
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := c.Do(http.DefaultClient, req, token)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode, resp.Header
}

// wants has the client know that the server takes bound tokens alone, as a challenge says that.
var wants = oauth.Challenge{DPoP: true}

// A server that wants bound tokens gets such, with a proof for each request, over renewals and processes. The key is
// kept with them, and goes with them.
func TestBoundTokens(t *testing.T) {
	t.Parallel()
	var turn atomic.Int32
	for name, nonce := range map[string]func() string{
		"without a nonce": nil, "with a nonce": func() string { return "n" }, "with another nonce each time": func() string { return fmt.Sprint("n-", turn.Load()) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			b.DPoP, b.Nonce = true, nonce
			c := b.client(oauth.Settings{})
			if _, err := b.login(c); err != nil {
				t.Fatal(err)
			}
			token, err := c.Token(t.Context())
			if status, _ := b.post(c, token); status != http.StatusOK || err != nil {
				t.Errorf("got %d, %v, want a request that is taken", status, err)
			}
			turn.Add(1)
			other := b.client(oauth.Settings{})
			if token, err = other.Token(t.Context()); err != nil {
				t.Fatal(err)
			}
			if status, _ := b.post(other, token); status != http.StatusOK {
				t.Errorf("of another process: got %d, want a request that is taken", status)
			}
			b.Expire()
			turn.Add(1)
			if token, err = other.Renew(t.Context(), token, wants); err != nil {
				t.Fatal(err)
			}
			if status, _ := b.post(other, token); status != http.StatusOK {
				t.Errorf("renewed: got %d, want a request that is taken", status)
			}
			kept, err := os.ReadFile(b.file())
			if err != nil || !strings.Contains(string(kept), "dpop_key") {
				t.Errorf("got %s, %v, want the key to be kept", kept, err)
			}
			if _, err := other.Logout(t.Context()); err != nil {
				t.Fatal(err)
			}
			if kept, err := os.ReadFile(b.file()); err != nil || strings.Contains(string(kept), "dpop_key") {
				t.Errorf("after the logout: got %s, %v, want no key", kept, err)
			}
		})
	}
}

// Tokens that no person consents to are bound as well.
func TestBoundTokensOfAClient(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.DPoP = true
	settings := oauth.Settings{ClientID: "me", ClientSecret: "s3cret", Grant: oauth.GrantCredentials}
	if _, err := b.client(settings).Token(t.Context()); err == nil || !strings.Contains(err.Error(), `write "dpop": true`) {
		t.Errorf("got %v, want what is to be written", err)
	}
	for _, always := range []bool{true, false} { // what was bound before is bound again
		settings.DPoP = always
		c := b.client(settings)
		before, err := c.Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		token, err := c.Renew(t.Context(), before, oauth.Challenge{})
		if err != nil {
			t.Fatal(err)
		}
		if status, _ := b.post(c, token); status != http.StatusOK {
			t.Errorf("got %d, want a request that is taken", status)
		}
	}
}

// Where bound tokens must be, no other is taken, and none that was got before.
func TestUnboundTokens(t *testing.T) {
	b := newBed(t)
	if _, err := b.login(b.client(oauth.Settings{})); err != nil {
		t.Fatal(err)
	}
	c := b.client(oauth.Settings{DPoP: true})
	if token, err := c.Token(t.Context()); token != "" || err != nil {
		t.Errorf("got %q, %v, want no token", token, err)
	}
	if _, err := b.login(c); err == nil || !strings.Contains(err.Error(), "leave dpop out") {
		t.Errorf("got %v, want that the authorization server gives none", err)
	}
	if token, err := c.Token(t.Context()); token != "" || err != nil {
		t.Errorf("after it: got %q, %v, want no token", token, err)
	}
}

// A nonce that is wanted is shown once: a server that goes on to want one gets no third request, and neither does an
// authorization server.
func TestEndlessNonces(t *testing.T) {
	var given atomic.Int32
	endless := func() string { return fmt.Sprint("n-", given.Add(1)) }
	t.Run("of the server", func(t *testing.T) {
		b := newBed(t)
		b.DPoP = true
		c := b.client(oauth.Settings{})
		if _, err := b.login(c); err != nil {
			t.Fatal(err)
		}
		token, err := c.Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.Nonce = endless
		before := given.Load()
		if status, h := b.post(c, token); status != http.StatusUnauthorized || oauth.ParseChallenge(h).Error != oauth.UseNonce {
			t.Errorf("got %d, %v, want that the nonce is still wanted", status, h)
		}
		if got := given.Load() - before; got != 4 { // each refusal asks what is wanted, and what to say
			t.Errorf("got %d questions for a nonce, want those of two requests", got)
		}
	})
	t.Run("of the authorization server", func(t *testing.T) {
		b := newBed(t)
		b.DPoP, b.Nonce = true, endless
		c := b.client(oauth.Settings{ClientID: "me", ClientSecret: "s3cret", Grant: oauth.GrantCredentials, DPoP: true})
		before := given.Load()
		if _, err := c.Token(t.Context()); err == nil || !strings.Contains(err.Error(), "it got the nonce") {
			t.Errorf("got %v, want that it goes on to want one", err)
		}
		if got := given.Load() - before; got != 4 {
			t.Errorf("got %d questions for a nonce, want those of two requests", got)
		}
	})
}

// What authorization servers say of proofs, and what tokens they give for them.
func TestHostileProofs(t *testing.T) {
	const issuer = "/.well-known/oauth-authorization-server"
	for name, tt := range map[string]struct {
		path, key string
		value     any
		want      string
	}{
		"no algorithm that is known": {issuer, "dpop_signing_alg_values_supported", []string{"none"}, "ES256"},
		"a token of another type":    {"/token", "token_type", "PoP", "PoP"},
		"a token of no type":         {"/token", "token_type", "", "want one that is bound"},
		"a token with a space":       {"/token", "access_token", "a b", "cannot be sent"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			b.DPoP = true
			b.Change = func(path string, answer map[string]any) {
				if path == tt.path {
					answer[tt.key] = tt.value
				}
			}
			if _, err := b.login(b.client(oauth.Settings{DPoP: true})); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// A request that is sent on within its origin gets a proof for where it goes.
func TestProofsOfRedirects(t *testing.T) {
	b := newBed(t)
	b.DPoP = true
	c := b.client(oauth.Settings{})
	if _, err := b.login(c); err != nil {
		t.Fatal(err)
	}
	token, err := c.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.url = strings.TrimSuffix(b.url, "/mcp") + oauthtest.Moved
	if status, _ := b.post(c, token); status != http.StatusOK {
		t.Errorf("got %d, want a request that is taken", status)
	}
}

// Of a token endpoint that answers without an end no more is read than a token may have.
func TestHugeToken(t *testing.T) {
	b := newBed(t)
	b.Change = func(path string, answer map[string]any) {
		if path == "/token" {
			answer["access_token"] = strings.Repeat("a", 4<<20)
		}
	}
	c := b.client(oauth.Settings{ClientID: "me", ClientSecret: "s3cret", Grant: oauth.GrantCredentials})
	if token, err := c.Token(t.Context()); token != "" || err == nil {
		t.Errorf("got %d bytes, %v, want an error", len(token), err)
	}
}
