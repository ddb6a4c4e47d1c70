package toolbox_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/internal/oauth/oauthtest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// What the platform gives a workload is read where the configuration says, each time; what is no token there costs the
// server alone, and is said without being shown.
func TestTokensOfOthers(t *testing.T) {
	t.Parallel()
	platform := oauthtest.NewIssuer()
	logins := &oauthtest.Server{Trusted: platform.Public()}
	r := newFarServer(t, &farServer{deaf: true})
	r.before = func(w http.ResponseWriter, req *http.Request, _ *wire.Message) bool { return !logins.Guard(w, req, "") }
	r.Config.Handler = logins.Handler(r.Config.Handler)
	cfg := r.config(config.TransportHTTP)
	cfg.Headers = nil
	audience := strings.TrimSuffix(cfg.URL, "/mcp")
	good := platform.Token("JWT", "workload", audience, time.Now().Add(time.Hour), nil)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link") // as Kubernetes has it
	if err := os.Symlink(file("..data", good+"\n"), link); err != nil {
		link = file("link", good)
	}
	prints := func(text string, err error) func(context.Context, config.Secret) (string, error) {
		return func(context.Context, config.Secret) (string, error) { return text, err }
	}
	for name, tt := range map[string]struct {
		from config.TokenSource
		find func(context.Context, config.Secret) (string, error)
		want string // "" for a call that works
	}{
		"a link to a file":        {from: config.TokenSource{File: link}},
		"a command":               {from: config.TokenSource{Command: []string{"x"}}, find: prints(good, nil)},
		"no file":                 {from: config.TokenSource{File: filepath.Join(dir, "none")}, want: "oauth.assertion: open "},
		"a folder":                {from: config.TokenSource{File: dir}, want: "oauth.assertion: "},
		"an empty file":           {from: config.TokenSource{File: file("empty", "\n")}, want: "gives something that is not a token"},
		"a page":                  {from: config.TokenSource{File: file("page", "<html> canary")}, want: "gives something that is not a token"},
		"two tokens":              {from: config.TokenSource{File: file("two", good+"\n"+good)}, want: "gives something that is not a token"},
		"a huge file":             {from: config.TokenSource{File: file("huge", strings.Repeat("a", 1<<20))}, want: "want at most 65536 bytes"},
		"a command that fails":    {from: config.TokenSource{Command: []string{"x"}}, find: prints("", errors.New("it fails")), want: "it fails"},
		"a command of nobody":     {from: config.TokenSource{Command: []string{"x"}}, want: "oauth.assertion: unsupported operation"},
		"an escape of a terminal": {from: config.TokenSource{Command: []string{"x"}}, find: prints("\x1b[2J", nil), want: "gives something that is not a token"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := cfg
			cfg.OAuth = config.OAuth{Grant: config.GrantAssertion, Assertion: tt.from}
			b := open(t, toolbox.Options{HTTP: r.Client(), Logins: oauth.NewStore(t.TempDir()), Secret: tt.find}, cfg)
			s := server(t, b, "far")
			if tt.want == "" {
				if got, err := callTool(t, s, "echo", "{}"); err != nil {
					t.Errorf("got %s, %v, want a result", got, err)
				}
				return
			}
			if said := s.Status().Explain(); !strings.Contains(said, tt.want) || !strings.Contains(said, "no token by an assertion") ||
				strings.Contains(said, "canary") || strings.Contains(said, good) {
				t.Errorf("got %s, want %q", said, tt.want)
			}
		})
	}
}

// What is secret of logins does not decide which server one is, and is not in what is kept of it.
func TestSecretsOfLogins(t *testing.T) {
	said := config.OAuth{ClientID: "me", ClientSecret: "canary", PrivateKey: "canary", PrivateKeyFile: "/key.pem",
		IdentityProvider: config.IdentityProvider{ClientID: "sso", ClientSecret: "canary"}}
	if got := said.Public(); got.ClientSecret != "" || got.PrivateKey != "" || got.IdentityProvider.ClientSecret != "" ||
		got.ClientID != "me" || got.PrivateKeyFile != "/key.pem" || got.IdentityProvider.ClientID != "sso" {
		t.Errorf("got %+v, want it without what is secret", got)
	}
}
