package httpfront_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// Calls over HTTP are answered while the configuration changes again and again, and when the front ends.
func TestFaultC17_ReloadUnderLoad(t *testing.T) {
	const clients = 8
	changed := func(i int) *config.Config {
		return readConfig(t, fmt.Sprintf(`{"toolboxes":{"box":{"mcpServers":{"a":{"command":"child","args":["tools=echo,pid"],"shared":true},"b%d":{"command":"inside","args":["tools=x"]}}}}}`, i))
	}
	w := newWeb(t, `{"toolboxes":{"box":{"mcpServers":{"a":{"command":"child","args":["tools=echo,pid"],"shared":true}}}}}`, webOptions{})
	first := w.begin("/mcp/box", "2025-11-25")
	_, pid := w.status("POST", "/mcp/box", callOf(1, "pid", `{}`), first)

	var over atomic.Bool
	var answered atomic.Int64
	g, all := errgroup.WithContext(t.Context()) // all ends with the first fault
	for c := range clients {
		session := w.begin("/mcp/box", "2025-11-25")
		g.Go(func() error {
			for id := 1; !over.Load(); id++ {
				nonce := fmt.Sprintf("n-%d-%d-", c, id)
				got, err := w.all(callOf(id, "echo", fmt.Sprintf(`{"nonce":%q}`, nonce)), session)
				if err != nil || len(got) != 1 || !strings.Contains(got[0], nonce) {
					return fmt.Errorf("client %d call %d: got %q, %w", c, id, got, err)
				}
				answered.Add(1)
			}
			return nil
		})
	}
	for i := range 20 {
		w.proxy.Reload(changed(i))
		// Each reload is under way beside calls.
		for before := answered.Load(); answered.Load() < before+clients && all.Err() == nil; {
			if got, text := w.status("POST", "/mcp/box", callOf(i+2, "pid", `{}`), first); got != 200 || strings.Contains(text, "error") {
				t.Fatalf("reload %d: got %d %s", i, got, text)
			}
		}
	}
	over.Store(true)
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	if _, now := w.status("POST", "/mcp/box", callOf(1, "pid", `{}`), first); now != pid {
		t.Errorf("got %s, before the reloads %s: the process of an unchanged server", now, pid)
	}
}

// Over HTTP a toolbox has an address of its own as long as it is there.
func TestReloadHTTP(t *testing.T) {
	both := `{"toolboxes":{"dev":{"mcpServers":{"a":{"command":"inside","args":["tools=echo"]}}},"box":{"mcpServers":{"a":{"command":"inside","args":["tools=echo"]}}}}}`
	one := `{"toolboxes":{"dev":{"mcpServers":{"a":{"command":"inside","args":["tools=echo"]}}},"late":{"mcpServers":{}}}}`
	w := newWeb(t, both, webOptions{http: httpfront.Options{Drain: time.Second}})
	session := w.begin("/mcp/box", "2025-11-25")
	stream := w.open("GET", "/mcp/box", "", session)
	if status, text := w.status("POST", "/mcp/box", callOf(1, "echo", `{}`), session); status != 200 || strings.Contains(text, "error") {
		t.Fatalf("got %d %s, want a result", status, text)
	}
	if _, text := w.status("POST", "/mcp/box", `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, session); !strings.Contains(text, `"echo"`) {
		t.Fatalf("got %s, want the tool", text)
	}
	w.proxy.Reload(readConfig(t, one))
	if got, ok := stream.next(); !ok || !strings.Contains(got, "notifications/tools/list_changed") {
		t.Errorf("got %q, want that the list of tools has changed", got)
	}
	for path, want := range map[string]int{"/mcp/box": 404, "/mcp/late": 200, "/mcp/dev": 200, "/mcp": 200} {
		status, text := w.status("POST", path, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
		if status != want {
			t.Errorf("%s: got %d %s, want %d", path, status, text, want)
		}
	}
	w.proxy.Reload(readConfig(t, both))
	if status, text := w.status("POST", "/mcp/box", callOf(2, "echo", `{}`), session); status != 200 || strings.Contains(text, "error") {
		t.Errorf("when the toolbox is there again: got %d %s, want a result in the same session", status, text)
	}
}

// Who may use some toolboxes alone is served those of them that there are.
func TestReloadForSome(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token, Tokens: newBook()}})
	m := w.open("POST", "/mcp", fmt.Sprintf(hello, "2025-11-25"), bearer("bob-box"))
	session := "Mcp-Session-Id: " + m.resp.Header.Get("Mcp-Session-Id")
	m.close()
	listed := func() string {
		t.Helper()
		_, text := w.status("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, session, bearer("bob-box"))
		return text
	}
	if got := listed(); !strings.Contains(got, `"enum":["box"]`) {
		t.Errorf("got %s, want the toolbox box alone", got)
	}
	w.proxy.Reload(readConfig(t, strings.NewReplacer(`"box"`, `"another"`, `"other"`, `"gone"`).Replace(oneBox)))
	if got := listed(); !strings.Contains(got, `"enum":["gone"]`) {
		t.Errorf("got %s, want the toolbox gone alone, which has come", got)
	}
	for path, want := range map[string]int{"/mcp/gone": 200, "/mcp/box": 404, "/mcp/another": 404} {
		if status, text := w.status("POST", path, fmt.Sprintf(hello, "2025-11-25"), bearer("bob-box")); status != want {
			t.Errorf("%s: got %d %s, want %d", path, status, text, want)
		}
	}
}
