//go:build linux

package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"context"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// The address lets in once: it is gone from the address line, a stolen one is of no use, and the tab that came in goes
// on after it was loaded anew.
func TestTheAddressLetsInOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, configOf(map[string]any{"one": server("tools=echo")}))
	address := w.ui()
	first := w.visit(address)
	first.sees("main h1", "Servers")
	if now := eval[string](first, "location.href"); strings.Contains(now, "key") {
		t.Errorf("the key stands in the address line: %s", now)
	}
	first.do(chromedp.Reload())
	first.sees("main h1", "Servers")

	// Another browser: one without the secrets of the first.
	stolen := w.visit("about:blank")
	stolen.do(chromedp.Func(func(ctx context.Context, tg *chromedp.Target) error {
		_, err := cdp.Call(ctx, tg, network.ClearBrowserCookies, cdp.Empty{})
		return err
	}), chromedp.Navigate(address))
	stolen.sees("main", "this address was used already")
	first.do(chromedp.Reload())
	first.sees("main", "workbench ui")
}

// A page of another site gets nothing done, whatever it sends, and shows no part of the page in a frame.
func TestOtherSitesAreKeptOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.write(configOf(map[string]any{"one": server("tools=echo")}))
	address := w.ui()
	at := origin(t, address)
	tb := w.visit(address)
	tb.sees("main h1", "Servers")
	secret := eval[string](tb, "localStorage.getItem('workbench.secret')")
	evil := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, `<title>evil</title><iframe src="%s/ui/"></iframe>`, at)
	}))
	defer evil.Close()
	other := w.visit(evil.URL)
	other.wait("the frame has loaded", "document.readyState === 'complete'")
	for name, with := range map[string]string{
		"a form":               `mode: "no-cors", headers: {"Content-Type": "text/plain"}`,
		"its secret":           `mode: "cors", headers: {"Content-Type": "application/json", "X-Workbench-Secret": "` + secret + `"}`,
		"a request for itself": `mode: "no-cors"`,
	} {
		got := eval[string](other, fmt.Sprintf(`fetch("%s/ui/api/able", {method: "POST", credentials: "include", body: '{"toolbox":"box","server":"one","enabled":false}', %s}).then((r) => r.type + r.status, (e) => "failed")`, at, with))
		if got != "failed" && got != "opaque0" {
			t.Errorf("%s: the other page reads %q, want nothing", name, got)
		}
	}
	tb.do(chromedp.Reload())
	tb.sees(`tr[data-server="box/one"]`, "stopped")

	client := &http.Client{}
	for name, tc := range map[string]struct {
		header map[string]string
		want   int
	}{
		"no secret":      {map[string]string{}, 401},
		"another origin": {map[string]string{"Origin": "https://evil.example", "X-Workbench-Secret": secret}, 403},
		"another host":   {map[string]string{"Host": "evil.example", "X-Workbench-Secret": secret}, 403},
		"no cookie":      {map[string]string{"X-Workbench-Secret": secret}, 401},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/ui/api/hello", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		for k, v := range tc.header {
			req.Header.Set(k, v)
		}
		req.Host = tc.header["Host"]
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != tc.want {
			t.Errorf("%s: got %d, want %d", name, resp.StatusCode, tc.want)
		}
		if policy := resp.Header.Get("Content-Security-Policy"); resp.StatusCode != 403 && !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: got the policy %q, want one against frames", name, policy)
		}
	}
	client.CloseIdleConnections()
	if frames := eval[int](other, "[...document.querySelectorAll('iframe')].filter((f) => { try { return f.contentDocument.querySelector('main') } catch { return false } }).length"); frames != 0 {
		t.Error("the page is shown in a frame of another site")
	}
}

// A page of an origin that the gateway allows is a client as any other; a page of another gets nothing.
func TestAPageOfAnAllowedOriginIsAClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t, configOf(map[string]any{"one": server("tools=echo")}))
	token := w.run("token", "create", "ann")
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write([]byte("<title>app</title>"))
	}))
	defer site.Close()
	at := origin(t, w.gateway("--allow-origin", site.URL))
	const talk = `(async () => {
		let session = {};
		const ask = async (method, body, headers) => {
			const r = await fetch(%q + "/mcp", {method, body, headers: {"Content-Type": "application/json", Accept: "application/json, text/event-stream", ...session, ...headers}});
			return {status: r.status, asks: r.headers.get("WWW-Authenticate") ?? "", session: r.headers.get("Mcp-Session-Id"), text: await r.text()};
		};
		const call = (method, params) => JSON.stringify({jsonrpc: "2.0", id: 1, method, params});
		const hello = call("initialize", {protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {name: "app", version: "1"}});
		const out = await ask("POST", hello);
		const auth = {Authorization: "Bearer " + %q};
		const first = await ask("POST", hello, auth);
		session = {"Mcp-Session-Id": first.session, "Mcp-Protocol-Version": "2025-11-25", ...auth};
		const use = await ask("POST", call("tools/call", {name: "workbench_use_tool", arguments: {toolbox_name: "box", tool_name: "echo", arguments: {text: "from a page"}}}));
		const end = await ask("DELETE");
		return [out.status, out.asks.startsWith("Bearer"), use.status, use.text.includes("from a page"), end.status].join(" ");
	})().catch((e) => "failed")`
	for address, want := range map[string]string{site.URL: "401 true 200 true 204", strings.Replace(site.URL, "127.0.0.1", "localhost", 1): "failed"} {
		if got := eval[string](w.visit(address), fmt.Sprintf(talk, at, token)); got != want {
			t.Errorf("the page at %s: got %s, want %s", address, got, want)
		}
	}
}

// A link to the gateway's page leads there, wherever it stands.
func TestALinkLeadsToThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, configOf(map[string]any{"one": server("tools=echo")}))
	address := w.gateway()
	wiki := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, `<title>wiki</title><a href="%s">our tools</a>`, address)
	}))
	defer wiki.Close()
	tb := w.visit(strings.Replace(wiki.URL, "127.0.0.1", "localhost", 1)) // another site, and not another port alone
	tb.press("our tools")
	tb.wait("a token is asked for", `document.querySelector("#token")`)
}
