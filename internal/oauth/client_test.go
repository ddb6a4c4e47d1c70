package oauth_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/internal/oauth/oauthtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bed is a server that wants logins.
type bed struct {
	*oauthtest.Server
	t   *testing.T
	url string
	dir string // where logins are kept
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{Server: new(oauthtest.Server), t: t, dir: filepath.Join(t.TempDir(), "logins")}
	srv := httptest.NewServer(b.Handler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { b.Guard(w, req, "") })))
	t.Cleanup(srv.Close)
	b.url = srv.URL + "/mcp"
	return b
}

// client is one of a process of its own.
func (b *bed) client(settings oauth.Settings) *oauth.Client {
	b.t.Helper()
	settings.URL = b.url
	c, err := oauth.New(settings, oauth.NewStore(b.dir), oauth.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(c.Close)
	return c
}

func (b *bed) login(c *oauth.Client) ([]string, error) {
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*time.Minute)
	defer cancel()
	came := make(chan error, 1)
	scopes, err := c.Login(ctx, oauth.LoginOptions{Show: func(address string) error {
		go func() { came <- oauthtest.Consent(address) }()
		return nil
	}})
	return scopes, err
}

// good reports whether the server takes a token.
func (b *bed) good(token string) bool {
	req := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	req.Header.Set("Authorization", "Bearer "+token)
	return b.Guard(httptest.NewRecorder(), req, "")
}

// token wants a client to have a token that the server takes.
func (b *bed) token(c *oauth.Client) string {
	b.t.Helper()
	token, err := c.Token(b.t.Context())
	if err != nil || !b.good(token) {
		b.t.Errorf("got the token %q, %v, want one that is good", token, err)
	}
	return token
}

// A client is kept whatever its authorization server says of when its secret ends, be it in milliseconds, and is made
// anew once that is over.
func TestSecretOfAClientEnds(t *testing.T) {
	t.Parallel()
	for ends, want := range map[int64]int{0: 1, time.Now().Add(time.Hour).Unix(): 1, time.Now().Add(time.Hour).UnixMilli(): 1, math.MaxInt64: 1, 1: 2} {
		b := newBed(t)
		b.SecretEnds = ends
		for range 2 {
			if _, err := b.login(b.client(oauth.Settings{})); err != nil {
				t.Fatalf("%d: %v", ends, err)
			}
		}
		if got := b.Count("register"); got != want {
			t.Errorf("%d: registered %d times for two logins, want %d", ends, got, want)
		}
	}
}

func TestLogin(t *testing.T) {
	b := newBed(t)
	c := b.client(oauth.Settings{Scopes: []string{"read", "write"}})
	if token, err := c.Token(t.Context()); token != "" || err != nil {
		t.Errorf("before the login: got %q, %v, want nothing", token, err)
	}
	var person *oauth.LoginError
	if _, err := c.Renew(t.Context(), "", oauth.Challenge{}); !errors.As(err, &person) {
		t.Errorf("before the login: got %v, want a LoginError", err)
	}
	running := b.client(oauth.Settings{})
	if running.Changed() {
		t.Error("before the login: somebody logged in")
	}
	scopes, err := b.login(c)
	if err != nil || !slices.Equal(scopes, []string{"read", "write"}) {
		t.Fatalf("got %q, %v, want read and write", scopes, err)
	}
	b.token(c)
	if !running.Changed() {
		t.Error("after the login: another process does not see it")
	}
	b.token(running)
	if _, err := b.login(c); err != nil {
		t.Fatal(err)
	}
	if got := b.Count("register"); got != 1 {
		t.Errorf("registered %d times, want once for both logins", got)
	}
	if was, err := c.Logout(t.Context()); !was || err != nil {
		t.Errorf("logout: got %v, %v, want that there was a login", was, err)
	}
	if was, err := c.Logout(t.Context()); was || err != nil {
		t.Errorf("logout again: got %v, %v, want that there was none", was, err)
	}
	if got := b.Count("revoke"); got != 1 {
		t.Errorf("revoked %d times, want once", got)
	}
}

// A login that fails at its very end leaves the one before it as it was.
func TestLoginAgainFails(t *testing.T) {
	b := newBed(t)
	c := b.client(oauth.Settings{})
	if _, err := b.login(c); err != nil {
		t.Fatal(err)
	}
	b.token(c)
	b.Change = func(path string, said map[string]any) {
		if path == "/token" {
			said["token_type"] = "mac"
		}
	}
	if _, err := b.login(c); err == nil {
		t.Error("a token of a type that nobody knows was taken")
	}
	b.token(c)
	b.token(b.client(oauth.Settings{})) // of another process
}

// Answers that do not fit what was asked, and places that no login is safe with, end a login, and nothing is kept of
// it.
func TestFaultF16_HostileLogins(t *testing.T) {
	t.Parallel()
	const (
		resource = "/.well-known/oauth-protected-resource/mcp"
		issuer   = "/.well-known/oauth-authorization-server"
	)
	for name, tt := range map[string]struct {
		path, key string
		value     any // nil removes the key
		want      string
	}{
		"metadata of another server":   {resource, "resource", "https://other.example/mcp", "another resource"},
		"a longer resource":            {resource, "resource", "http://127.0.0.1/mcp/deeper", "another resource"},
		"no authorization server":      {resource, "authorization_servers", []string{}, "names no authorization server"},
		"authorization server inside":  {resource, "authorization_servers", []string{"https://169.254.169.254"}, "not a public address"},
		"without TLS":                  {resource, "authorization_servers", []string{"http://192.0.2.1"}, "not https"},
		"metadata of another issuer":   {issuer, "issuer", "https://other.example", "that of another"},
		"no PKCE":                      {issuer, "code_challenge_methods_supported", nil, "PKCE"},
		"plain PKCE":                   {issuer, "code_challenge_methods_supported", []string{"plain"}, "PKCE"},
		"a script":                     {issuer, "authorization_endpoint", "javascript:alert(1)", "not an https address"},
		"an option":                    {issuer, "authorization_endpoint", "--help", "not an https address"},
		"a file":                       {issuer, "authorization_endpoint", "file:///etc/passwd", "not an https address"},
		"a page with a password":       {issuer, "authorization_endpoint", "https://user@sso.example/", "not an https address"},
		"a token endpoint inside":      {issuer, "token_endpoint", "https://169.254.169.254/", "not a public address"},
		"no registration":              {issuer, "registration_endpoint", nil, "clientId"},
		"another issuer answers":       {"/authorize", "iss", "https://other.example", "it is not used"},
		"nobody says that they answer": {"/authorize", "iss", nil, "it is not used"},
		"consent is refused":           {"/authorize", "error", "access_denied", "access_denied"},
		"no code":                      {"/authorize", "code", nil, "no code"},
		"another code":                 {"/authorize", "code", "stolen", "invalid_grant"},
		"a token of another type":      {"/token", "token_type", "MAC", "MAC"},
		"a token with a line end":      {"/token", "access_token", "a\r\nX-Evil: 1", "cannot be sent"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			b.Change = func(path string, answer map[string]any) {
				switch {
				case path != tt.path:
				case tt.value == nil:
					delete(answer, tt.key)
				default:
					answer[tt.key] = tt.value
				}
			}
			c := b.client(oauth.Settings{})
			if _, err := b.login(c); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
			if token, err := c.Token(t.Context()); token != "" || err != nil {
				t.Errorf("got the token %q, %v, want none", token, err)
			}
		})
	}
}

// A page that sends the browser to the login that is waited for, without knowing its state, neither ends nor steals it.
func TestStrangersAtTheDoor(t *testing.T) {
	b := newBed(t)
	var strangers []string
	b.Change = func(path string, answer map[string]any) {
		if path == "/authorize" {
			answer["state"] = strings.ToLower(answer["state"].(string)) + "x"
		}
	}
	c := b.client(oauth.Settings{})
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	_, err := c.Login(ctx, oauth.LoginOptions{Show: func(address string) error {
		go func() {
			strangers = append(strangers, oauthtest.Consent(address).Error())
			cancel(over)
		}()
		return nil
	}})
	if !errors.Is(err, over) {
		t.Errorf("got %v, want that it was waited on", err)
	}
	if len(strangers) != 1 || !strings.Contains(strangers[0], "400") {
		t.Errorf("the stranger was told %q, want a 400", strangers)
	}
}

// Of all callers in all processes one renews a token, and all have the new one.
func TestRenewOnce(t *testing.T) {
	b := newBed(t)
	if _, err := b.login(b.client(oauth.Settings{})); err != nil {
		t.Fatal(err)
	}
	var clients []*oauth.Client
	var old string
	for range 4 {
		c := b.client(oauth.Settings{})
		old = b.token(c)
		clients = append(clients, c)
	}
	b.Expire()
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			token, err := clients[i%len(clients)].Renew(t.Context(), old, oauth.Challenge{})
			if err != nil || !b.good(token) {
				t.Errorf("got %q, %v, want a good token", token, err)
			}
		})
	}
	all.Wait()
	if got := b.Count("refresh_token"); got != 1 {
		t.Errorf("renewed %d times, want once", got)
	}
}

// A caller who leaves takes nothing from the others that wait for the same renewal, nor the token that it brings.
func TestRenewOutlivesItsCaller(t *testing.T) {
	b := newBed(t)
	c := b.client(oauth.Settings{})
	if _, err := b.login(c); err != nil {
		t.Fatal(err)
	}
	old := b.token(c)
	b.Expire()
	asked, let := make(chan struct{}), make(chan struct{})
	b.Change = func(path string, _ map[string]any) {
		if path == "/token" {
			close(asked)
			<-let
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := c.Renew(ctx, old, oauth.Challenge{})
		ended <- err
	}()
	<-asked
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v for the one who left", err)
	}
	close(let)
	if token, err := c.Renew(t.Context(), old, oauth.Challenge{}); err != nil || !b.good(token) {
		t.Errorf("got %q, %v for the next one, want a good token", token, err)
	}
	if got := b.Count("refresh_token"); got != 1 {
		t.Errorf("renewed %d times, want once", got)
	}
}

// A renewal does not keep the program from ending.
func TestRenewIsGivenUp(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	c := b.client(oauth.Settings{})
	if _, err := b.login(c); err != nil {
		t.Fatal(err)
	}
	old := b.token(c)
	asked, let := make(chan struct{}), make(chan struct{})
	defer close(let)
	b.Change = func(path string, _ map[string]any) {
		if path == "/token" {
			close(asked)
			<-let
		}
	}
	ended := make(chan error)
	go func() {
		_, err := c.Renew(t.Context(), old, oauth.Challenge{})
		ended <- err
	}()
	<-asked
	go c.Close()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) { // by the grace that is over, not by the time-out of requests
			t.Errorf("got %v, want it cancelled", err)
		}
	case <-time.After(2 * time.Minute):
		t.Error("it still goes on")
	}
}

// The login at one authorization server is none at another, whose client's secret the first is not shown.
func TestIssuerChanges(t *testing.T) {
	b := newBed(t)
	if _, err := b.login(b.client(oauth.Settings{})); err != nil {
		t.Fatal(err)
	}
	c := b.client(oauth.Settings{Issuer: "https://other.example", ClientID: "me", ClientSecret: "s3cret"})
	if token, err := c.Token(t.Context()); token != "" || err != nil {
		t.Errorf("got %q, %v, want no token", token, err)
	}
	var person *oauth.LoginError
	if _, err := c.Renew(t.Context(), "", oauth.Challenge{}); !errors.As(err, &person) {
		t.Errorf("got %v, want a LoginError", err)
	}
	if got := b.Count("refresh_token"); got != 0 {
		t.Errorf("the first authorization server was asked %d times, want never", got)
	}
}

// What a client shows who it is by is for the authorization server that was shown it first, and for no other that the
// server comes to name, unless the configuration names it.
func TestSecretsStayWithTheIssuer(t *testing.T) {
	b := newBed(t)
	settings := oauth.Settings{ClientID: "me", ClientSecret: "s3cret", Grant: oauth.GrantCredentials}
	first := b.token(b.client(settings))
	kept, err := os.ReadFile(b.file())
	if err != nil {
		t.Fatal(err)
	}
	issuer := strings.TrimSuffix(b.url, "/mcp")
	kept = []byte(strings.Replace(string(kept), `"issuer":"`+issuer, `"issuer":"https://first.example`, 1))
	if err := os.WriteFile(b.file(), kept, 0o600); err != nil {
		t.Fatal(err)
	}
	asked := b.Count("client_credentials")
	if _, err := b.client(settings).Renew(t.Context(), first, oauth.Challenge{}); err == nil || !strings.Contains(err.Error(), "named https://first.example before") {
		t.Errorf("got %v, want that the server names another one", err)
	}
	person := settings
	person.Grant = oauth.GrantCode
	if _, err := b.login(b.client(person)); err == nil || !strings.Contains(err.Error(), "named https://first.example before") {
		t.Errorf("a login: got %v, want that the server names another one", err)
	}
	if got := b.Count("client_credentials") + b.Count("authorization_code"); got != asked {
		t.Errorf("the other was asked %d times, want never", got-asked)
	}
	settings.Issuer = issuer
	if token, err := b.client(settings).Renew(t.Context(), first, oauth.Challenge{}); err != nil || !b.good(token) {
		t.Errorf("with the issuer in the configuration: got %q, %v, want a token", token, err)
	}
}

func TestNothingToLogInTo(t *testing.T) {
	b := &bed{Server: new(oauthtest.Server), t: t, dir: t.TempDir()}
	srv := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(srv.Close)
	b.url = srv.URL
	if _, err := b.login(b.client(oauth.Settings{})); err == nil || !strings.Contains(err.Error(), "nothing to log in to") {
		t.Errorf("got %v, want that there is nothing to log in to", err)
	}
}

// A renewal that fails for a moment is not tried by each caller; one that fails for good is not tried again.
func TestRenewFails(t *testing.T) {
	b := newBed(t)
	c := b.client(oauth.Settings{})
	if _, err := b.login(c); err != nil {
		t.Fatal(err)
	}
	old := b.token(c)
	b.Forget()
	for range 10 {
		var person *oauth.LoginError
		if _, err := c.Renew(t.Context(), old, oauth.Challenge{}); !errors.As(err, &person) {
			t.Errorf("got %v, want a LoginError", err)
		}
	}
	c.Reload()
	if _, err := c.Renew(t.Context(), old, oauth.Challenge{}); err == nil {
		t.Error("got a token, want an error")
	}
	if got := b.Count("refresh_token"); got != 1 {
		t.Errorf("renewed %d times, want once", got)
	}
}

func TestClientCredentials(t *testing.T) {
	b := newBed(t)
	c := b.client(oauth.Settings{ClientID: "me", ClientSecret: "s3cret", Scopes: []string{"read"}, Grant: oauth.GrantCredentials})
	first := b.token(c)
	if got := b.token(c); got != first {
		t.Errorf("got the token %q, want %q as before", got, first)
	}
	b.Expire()
	if token, err := c.Renew(t.Context(), first, oauth.Challenge{}); err != nil || token == first {
		t.Errorf("got %q, %v, want another token", token, err)
	}
	if _, err := c.Login(t.Context(), oauth.LoginOptions{}); err == nil {
		t.Error("a person could log in, want none needed")
	}
	kept, err := os.ReadFile(b.file())
	if err != nil || strings.Contains(string(kept), "s3cret") {
		t.Errorf("got %v, %s, want a file without the secret of the configuration", err, kept)
	}
}

// file is that of the login.
func (b *bed) file() string {
	b.t.Helper()
	files, err := filepath.Glob(b.dir + "/*.json")
	if err != nil || len(files) != 1 {
		b.t.Fatalf("got the files %q, %v, want one", files, err)
	}
	return files[0]
}

func TestStore(t *testing.T) {
	b := newBed(t)
	c := b.client(oauth.Settings{})
	if _, err := b.login(c); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{b.dir: 0o700, b.file(): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want && runtime.GOOS != "windows" {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
	if err := os.WriteFile(b.file(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Reload()
	if _, err := c.Token(t.Context()); err == nil || !strings.Contains(err.Error(), b.file()) {
		t.Errorf("got %v, want an error that names the file", err)
	}
}
