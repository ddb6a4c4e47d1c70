package toolbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/internal/oauth/oauthtest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// A login, its renewal, its end and another one, over both transports.
func TestRemoteLogin(t *testing.T) {
	for _, transport := range []config.Transport{config.TransportHTTP, config.TransportSSE} {
		t.Run(string(transport), func(t *testing.T) {
			logins, store := new(oauthtest.Server), oauth.NewStore(t.TempDir())
			r := newFarServer(t, &farServer{deaf: true})
			r.before = func(w http.ResponseWriter, req *http.Request, _ *wire.Message) bool { return !logins.Guard(w, req, "") }
			r.Config.Handler = logins.Handler(r.Config.Handler)
			cfg := r.config(transport)
			cfg.Headers = nil
			login := func() {
				t.Helper()
				c := toolbox.NewLogin(cfg, toolbox.Options{Logins: store, HTTP: r.Client()})
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
			b := open(t, toolbox.Options{HTTP: r.Client(), Logins: store}, cfg)
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
		})
	}
}
