package toolbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/internal/oauth/oauthtest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// A login, its renewal, its end and another one, over both transports; with tokens that are bound to a key too.
func TestRemoteLogin(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		transport config.Transport
		bound     bool
	}{
		"http": {config.TransportHTTP, false}, "sse": {config.TransportSSE, false},
		"http, bound": {config.TransportHTTP, true}, "sse, bound": {config.TransportSSE, true},
	} {
		t.Run(name, func(t *testing.T) {
			transport := tt.transport
			var nonces atomic.Pointer[string]
			logins, store := &oauthtest.Server{DPoP: tt.bound, Nonce: func() string { return *nonces.Load() }}, oauth.NewStore(t.TempDir())
			wants := func(nonce string) { nonces.Store(&nonce) }
			wants("first")
			r := newFarServer(t, &farServer{deaf: true})
			r.before = func(w http.ResponseWriter, req *http.Request, _ *wire.Message) bool { return !logins.Guard(w, req, "") }
			r.Config.Handler = logins.Handler(r.Config.Handler)
			cfg := r.config(transport)
			cfg.Headers = nil
			login := func() {
				t.Helper()
				c := remote.NewLogin(cfg, remote.Options{Logins: store, HTTP: r.Client()})
				defer c.Close()
				came := make(chan error, 1)
				if _, err := c.Login(t.Context(), oauth.LoginOptions{Show: func(address string) error {
					go func() { came <- oauthtest.Consent(address) }()
					return nil
				}}); err != nil {
					t.Fatal(err)
				}
				if err := <-came; err != nil {
					t.Fatal(err)
				}
			}
			var mu sync.Mutex
			var told []string
			b := open(t, toolbox.Options{HTTP: r.Client(), Logins: store, Login: func(box, server string, err error) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, fmt.Sprintf("%s/%s %v", box, server, err))
			}}, cfg)
			s := server(t, b, "far")
			works := func(after string) {
				t.Helper()
				if got, err := callTool(t, s, "echo", "{}"); err != nil {
					t.Errorf("after %s: got %s, %v, want a result", after, got, err)
				}
			}
			if st := s.Status(); st.State != toolbox.NeedsLogin || !strings.Contains(st.Explain(), "workbench login box/far") {
				t.Fatalf("got %+v, want one that needs a login and says how", st)
			}
			login()
			works("a login")
			wants("second")
			works("another nonce")
			logins.Expire()
			works("the end of the token")
			logins.Forget()
			if _, err := callTool(t, s, "echo", "{}"); err == nil || !strings.Contains(err.Error(), "workbench login box/far") {
				t.Errorf("got %v, want that a login is needed and how it is done", err)
			}
			login()
			works("another login")
			if got := logins.Count("refresh_token"); got != 2 {
				t.Errorf("the token was renewed %d times, want once and once in vain", got)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(told) != 2 || told[0] != "box/far <nil>" || !strings.HasPrefix(told[1], "box/far the login cannot be renewed: ") {
				t.Errorf("got told %q, want that the login was renewed, and then could not be", told)
			}
		})
	}
}

// A server that refuses each proof is left alone, and it is said what to do: no request is sent more than twice, and
// the token is not renewed for it.
func TestRemoteRefusesProofs(t *testing.T) {
	for name, tt := range map[string]struct{ challenge, date, want string }{
		"another nonce each time": {`DPoP error="use_dpop_nonce"`, "", "the server keeps asking for a nonce"},
		"no nonce at all":         {`DPoP error="use_dpop_nonce", algs="ES256"`, "", "the server keeps asking for a nonce"},
		"a clock that is wrong":   {`DPoP error="invalid_dpop_proof"`, time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat), "correct it"},
		"for no reason":           {`DPoP error="invalid_dpop_proof"`, "", "ask whoever runs it"},
	} {
		t.Run(name, func(t *testing.T) {
			logins, store := &oauthtest.Server{DPoP: true}, oauth.NewStore(t.TempDir())
			var seen atomic.Int32
			r := newFarServer(t, &farServer{deaf: true})
			var refusing atomic.Bool
			r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
				if !refusing.Load() {
					return !logins.Guard(w, req, "")
				}
				n := seen.Load() + 1
				if m != nil && string(m.Bytes(m.Method)) == "tools/call" {
					n = seen.Add(1)
				}
				if name != "no nonce at all" {
					w.Header().Set("DPoP-Nonce", fmt.Sprint("n-", n))
				}
				if tt.date != "" {
					w.Header().Set("Date", tt.date)
				}
				w.Header().Set("WWW-Authenticate", tt.challenge)
				w.WriteHeader(http.StatusUnauthorized)
				return true
			}
			r.Config.Handler = logins.Handler(r.Config.Handler)
			cfg := r.config(config.TransportHTTP)
			cfg.Headers = nil
			cfg.OAuth = config.OAuth{ClientID: "me", ClientSecret: "s3cret", Grant: config.GrantCredentials, DPoP: true}
			s := server(t, open(t, toolbox.Options{HTTP: r.Client(), Logins: store}, cfg), "far")
			if _, err := callTool(t, s, "echo", "{}"); err != nil {
				t.Fatal(err)
			}
			tokens := logins.Count("client_credentials")
			refusing.Store(true)
			if _, err := callTool(t, s, "echo", "{}"); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if got := logins.Count("client_credentials") - tokens; got != 0 {
				t.Errorf("got %d more tokens, want none", got)
			}
			want := int32(1)
			if name == "another nonce each time" {
				want = 2
			}
			if got := seen.Load(); got != want {
				t.Errorf("the call was sent %d times, want %d", got, want)
			}
		})
	}
}
