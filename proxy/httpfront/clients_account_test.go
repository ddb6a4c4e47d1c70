package httpfront_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// Nobody takes the sessions of all others, with however many tokens; who may do everything may have all.
func TestFaultG66_SessionsOfOneUser(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token, Tokens: newBook(), MaxSessions: 12}})
	first := w.begin("/mcp", "2025-11-25", bearer("alice"))
	w.begin("/mcp/box", "2025-11-25", bearer("alice-box"))
	body, header := modernCall(1, "workbench_status", "{}", "")
	if status, text := w.status("POST", "/mcp", body, append(header, bearer("alice-again"))...); status != 200 {
		t.Fatalf("the third of a quarter of 12: got %d %s", status, text)
	}
	for _, token := range []string{"alice", "alice-again", "alice-box"} {
		status, text := w.status("POST", "/mcp", fmt.Sprintf(hello, "2025-11-25"), bearer(token))
		if status != 429 || !strings.Contains(text, "this user has 3 sessions, and may have no more") {
			t.Errorf("%s: got %d %s, want 429 and why", token, status, text)
		}
	}
	w.begin("/mcp", "2025-11-25", bearer("bob"))
	for range 5 {
		w.begin("/mcp", "2025-11-25", bearer(token))
	}
	w.status("DELETE", "/mcp", "", first, bearer("alice"))
	w.begin("/mcp", "2025-11-25", bearer("alice"))
}

// What a client has kept for it is bounded by its account, and there again for others when it goes.
func TestFaultG67_LongSubscriptions(t *testing.T) {
	t.Parallel()
	w := newWeb(t, `{"toolboxes":{"box":{"mcpServers":{"s":{"command":"inside","args":["resources=x:1"]}}}}}`, webOptions{})
	long := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"x":{"y":%q}}},"clientInfo":{"name":"c","version":"1"}}}`, strings.Repeat("y", 100_000))
	if _, text := w.status("POST", "/mcp/box", long); !strings.Contains(text, "at most 65536 are kept") {
		t.Errorf("a client that says much of itself: got %.200s, want it refused", text)
	}
	var told int64
	for range 3 {
		session := w.begin("/mcp/box", "2025-11-25")
		request := func(method string, n int) string {
			_, text := w.status("POST", "/mcp/box", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/%s","params":{"uri":"x:%d-%s"}}`, n, method, n, strings.Repeat("u", 1_500_000)), session)
			return text
		}
		const refusal = "too much is stored for this client"
		if text := request("subscribe", 1); strings.Contains(text, refusal) {
			t.Errorf("the first subscription: got %.200s", text)
		}
		if text := request("subscribe", 1); strings.Contains(text, refusal) {
			t.Errorf("the same again: got %.200s", text)
		}
		if text := request("subscribe", 2); !strings.Contains(text, refusal) {
			t.Errorf("the second subscription: got %.200s, want %q", text, refusal)
		}
		request("unsubscribe", 1)
		if text := request("subscribe", 2); strings.Contains(text, refusal) {
			t.Errorf("in place of the first: got %.200s", text)
		}
		for _, s := range w.proxy.Status().Sessions {
			told += s.Kept.Bytes
		}
		w.status("DELETE", "/mcp/box", "", session)
	}
	if told < 3*3_000_000 {
		t.Errorf("the status told of %d bytes, want those of the subscriptions", told)
	}
}

// A subscription of the era without sessions is charged like others.
func TestFaultG67_LongListen(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{})
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["x:%s"]},%s}}`, strings.Repeat("u", 3_000_000), meta(""))
	if _, text := w.status("POST", "/mcp/box", body, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen"); !strings.Contains(text, "too much is stored for this client") {
		t.Errorf("got %.200s, want it refused", text)
	}
}

// Connections that say nothing, or have no token, keep nobody out who has one, and close no connection of theirs.
func TestFaultG64_SilentConnections(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token, MaxConns: 150}})
	dial := func() net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(w.address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ask := func(c net.Conn, in *bufio.Reader, token string) int {
		body := fmt.Sprintf(hello, "2025-11-25")
		_, err := fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
			strings.TrimPrefix(w.address, "http://"), token, len(body), body)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(peerWait))
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	friend := dial()
	said := bufio.NewReader(friend)
	if got := ask(friend, said, token); got != 200 {
		t.Fatalf("got %d, want 200", got)
	}
	for range 100 {
		dial()
		refused := dial()
		if got := ask(refused, bufio.NewReader(refused), "wrong"); got != 401 {
			t.Fatalf("got %d, want 401", got)
		}
		dial()
	}
	if got := ask(friend, said, token); got != 200 {
		t.Errorf("a connection from before: got %d, want 200", got)
	}
	another := dial()
	if got := ask(another, bufio.NewReader(another), token); got != 200 {
		t.Errorf("a new connection: got %d, want 200", got)
	}
}
