package toolbox_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// An address of which nobody said which transport it speaks is tried as both; which it was is remembered.
func TestTransportIsGuessed(t *testing.T) {
	r := newFarServer(t, &farServer{deaf: true})
	refused := 0
	r.before = func(w http.ResponseWriter, req *http.Request, _ *wire.Message) bool {
		if req.Method != http.MethodPost || req.URL.Path != "/sse" {
			return false
		}
		refused++
		w.WriteHeader(http.StatusNotFound)
		return true
	}
	cfg := r.config(config.TransportSSE)
	cfg.Transport = config.TransportHTTP
	b := open(t, toolbox.Options{HTTP: r.Client()}, cfg)
	if st := server(t, b, "far").Status(); st.State == toolbox.Ready || st.Cause == nil || !strings.Contains(st.Cause.Error(), "HTTP 404") {
		t.Errorf("with a type: got %+v, want it tried as that alone", st)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	cfg.AnyHTTP = true
	refused = 0
	b = open(t, toolbox.Options{HTTP: r.Client()}, cfg)
	s := server(t, b, "far")
	if _, err := callTool(t, s, "echo", "{}"); err != nil {
		t.Fatalf("without a type: %v (%+v)", err, s.Status())
	}
	if refused == 0 {
		t.Error("it was not tried as streamable HTTP first")
	}
}

// What comes of addresses, proxies and credentials that are wrong names the cause and the next step.
func TestRemoteMistakes(t *testing.T) {
	answer := func(status int, body string) func(*testing.T) string {
		return func(t *testing.T) string {
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			}))
			t.Cleanup(web.Close)
			return web.URL
		}
	}
	closed := func(t *testing.T) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return "http://" + l.Addr().String()
	}
	for name, tt := range map[string]struct {
		url     func(*testing.T) string
		environ func(*testing.T) []string
		want    []string
	}{
		"405": {url: answer(405, "no"), want: []string{"405", "such as /mcp", `"type": "sse"`}},
		"401 of a server with keys": {url: answer(401, "invalid api key"),
			want: []string{"workbench login box/s", `give it in "headers"`, "Bearer ${TOKEN}", "invalid api key"}},
		"403":             {url: answer(403, "no"), want: []string{"403", "may lack a right"}},
		"nothing listens": {url: closed, want: []string{"nothing listens at 127.0.0.1", "correct the port"}},
		"a proxy that is not there": {url: func(*testing.T) string { return "http://example.invalid/mcp" },
			environ: func(t *testing.T) []string { return []string{"HTTP_PROXY=" + closed(t)} },
			want:    []string{"the proxy cannot be reached", "HTTPS_PROXY or HTTP_PROXY", "NO_PROXY"}},
		"http to https": {url: func(t *testing.T) string {
			web := httptest.NewTLSServer(http.NotFoundHandler())
			t.Cleanup(web.Close)
			return strings.Replace(web.URL, "https", "http", 1)
		}, want: []string{"is its url https and not http?"}},
		"http to one that breaks off": {url: func(t *testing.T) string {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					_, _ = c.Read(make([]byte, 10))
					_ = c.Close()
				}
			}()
			return "http://" + l.Addr().String()
		}, want: []string{"its url is https and not http"}},
	} {
		t.Run(name, func(t *testing.T) {
			opts := toolbox.Options{Logins: oauth.NewStore(t.TempDir())}
			if tt.environ != nil {
				opts.Environ = tt.environ(t)
			}
			b := open(t, opts, config.Server{Name: "s", Transport: config.TransportHTTP, URL: tt.url(t), AnyHTTP: true,
				Timeouts: config.Timeouts{Start: time.Minute, CallIdle: time.Minute, CallTotal: time.Minute}})
			st := server(t, b, "s").Status()
			for _, want := range tt.want {
				if st.Cause == nil || !strings.Contains(st.Cause.Error(), want) {
					t.Errorf("got %v, want %q in it", st.Cause, want)
				}
			}
		})
	}
}
