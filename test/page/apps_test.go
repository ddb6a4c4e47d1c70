//go:build linux

package page

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// exampleApps are servers of the official examples of MCP Apps, the digests of their pages, and the folder of the
// packages: two have the same tool and the same uri of a page.
func exampleApps(t *testing.T) (servers map[string]any, pages map[string]string, modules string) {
	t.Helper()
	modules, err := filepath.Abs(filepath.Join("..", "npm", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	node, _, err := wiretest.Node()
	if err == nil {
		_, err = os.Stat(filepath.Join(modules, "@modelcontextprotocol", "ext-apps"))
	}
	if err != nil {
		if os.Getenv("WORKBENCH_REQUIRE_NPM") == "1" {
			t.Fatalf("the npm servers are required and not installed: %v", err)
		}
		t.Skipf("the npm servers are not installed (make test does it): %v", err)
	}
	servers, pages = make(map[string]any), make(map[string]string)
	for name, example := range map[string]string{"react": "basic-react", "vanilla": "basic-vanillajs", "segments": "customer-segmentation"} {
		dist := filepath.Join(modules, "@modelcontextprotocol", "server-"+example, "dist")
		page, err := os.ReadFile(filepath.Join(dist, "mcp-app.html"))
		if err != nil {
			t.Fatal(err)
		}
		servers[name] = map[string]any{"command": node, "args": []string{filepath.Join(dist, "index.js"), "--stdio"},
			"env": map[string]any{wiretest.NodeCache: os.Getenv(wiretest.NodeCache)}}
		pages[name] = fmt.Sprintf("%x", sha256.Sum256(page))
	}
	return servers, pages, modules
}

// The examples of MCP Apps behind one toolbox show their own pages in a host, and what the pages ask is answered by
// their own servers: of two that cannot be told apart, if the host shows one of them.
func TestApps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	servers, pages, modules := exampleApps(t)
	w.write(wiretest.JSON(map[string]any{"record": "full", "openTimeout": "2m", "toolboxes": map[string]any{"box": map[string]any{"open": true, "mcpServers": servers}}}))
	gateway, err := url.Parse(origin(t, w.gateway("--no-token")))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/npm/", http.StripPrefix("/npm/", http.FileServer(http.Dir(modules))))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/host.html") })
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(gateway)
		for _, name := range []string{"Origin", "Sec-Fetch-Site"} { // the host is a program to the gateway, not a page
			r.Out.Header.Del(name)
		}
	}}
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		// Else a reply that comes at once closes the request's body while the proxy still looks whether there is more
		// of it, and the proxy then closes the connection that it reads the reply from.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		proxy.ServeHTTP(w, r)
	})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	tb := w.visit(web.URL)
	tb.wait("the host is there", "window.ready")

	// shown has a session show the page of a server, and gives the uri that it has there.
	shown := func(server string) string {
		t.Helper()
		got := strings.Split(eval[string](tb, fmt.Sprintf(`(async () => {
			window.app = await show(session, %q);
			const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(app.html)));
			return [app.uri, app.mimeType, [...hash].map((b) => b.toString(16).padStart(2, "0")).join("")].join(" ");
		})()`, server)), " ")
		if len(got) != 3 || got[1] != "text/html;profile=mcp-app" || got[2] != pages[server] {
			t.Errorf("%s: got the page %q, want the server's own", server, got)
		}
		return got[0]
	}
	// press presses the button of the page that is shown, and waits for what became of its call.
	press := func() string {
		t.Helper()
		tb.wait("the page has its button", `window.button = [...app.frame.contentDocument.querySelectorAll("button")].find((b) => b.textContent === "Get Server Time")`)
		eval[any](tb, "app.calls.length = 0, button.click(), 1")
		tb.wait("the call has ended", "app.calls.length > 0")
		return eval[string](tb, "JSON.stringify(app.calls[0])")
	}
	for mode, alone := range map[string]string{`"legacy"`: "react", `{pin: "2026-07-28"}`: "vanilla"} {
		eval[any](tb, `(async () => { window.session = await connect(`+mode+`); return 1 })()`)
		shown(alone)
		before := w.timesAsked(alone)
		if got := press(); strings.Contains(got, "fault") || !strings.Contains(got, `\"text\":\"20`) {
			t.Errorf("%s: the page of %s got %s, want the time", mode, alone, got)
		}
		if got := w.timesAsked(alone); got != before+1 {
			t.Errorf("%s: the server %s was asked %d times, want %d", mode, alone, got, before+1)
		}
		uris := make(map[string]bool)
		for _, server := range []string{"react", "vanilla", "segments"} {
			uris[shown(server)] = true
		}
		if len(uris) != 3 {
			t.Errorf("%s: got the uris %v, want one for each page", mode, uris)
		}
		tb.wait("the page of segments has its data", `app.calls.some((c) => c.text?.includes("annualRevenue"))`)
		shown("react")
		if got := press(); !strings.Contains(got, "fault") || !strings.Contains(got, "box__react__get-time") || !strings.Contains(got, "box__vanilla__get-time") {
			t.Errorf("%s: a call that could be of two pages got %s, want an error that names both", mode, got)
		}
	}
}

// timesAsked is how many calls of a server the record has.
func (w *world) timesAsked(server string) int {
	w.t.Helper()
	var kept struct{ Calls []json.RawMessage }
	if err := json.Unmarshal([]byte(w.run("calls", "--json", "--last", "0", "--server", "box/"+server)), &kept); err != nil || len(kept.Calls) == 0 {
		w.t.Fatalf("got %d calls of %s in the record (%v)", len(kept.Calls), server, err)
	}
	return len(kept.Calls)
}
