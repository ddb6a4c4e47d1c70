package httpfront_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
	"github.com/mcp-workbench/workbench/toolbox"
)

// fixed makes servers that have the given tools.
func fixed(tools ...string) toolbox.Builtin {
	return func(principal.Principal, config.Server) (wire.Endpoint, error) {
		return &mcptest.Server{Tools: tools}, nil
	}
}

// watchedServers makes servers whose ends are told on a channel.
func watchedServers(ends chan<- string) toolbox.Builtin {
	return func(_ principal.Principal, s config.Server) (wire.Endpoint, error) {
		srv, err := mcptest.New(s.Args...)
		return &watchedServer{srv, ends}, err
	}
}

type watchedServer struct {
	wire.Endpoint
	ends chan<- string
}

func (s *watchedServer) Connect(send func([]byte)) wire.Session {
	return &watchedSession{Session: s.Endpoint.Connect(send), ends: s.ends}
}

type watchedSession struct {
	wire.Session
	ends chan<- string
	once sync.Once
}

func (s *watchedSession) Close(ctx context.Context) error {
	err := s.Session.Close(ctx)
	s.once.Do(func() { s.ends <- "ended" })
	return err
}

func TestHTTPSession(t *testing.T) {
	h := newHolder()
	w := newWeb(t, oneBox, webOptions{inside: h.make})
	one := w.begin("/mcp/box", "2025-11-25")
	two := w.begin("/mcp/box", "2025-06-18")
	if one == two || len(one) != len("Mcp-Session-Id: ")+26 {
		t.Fatalf("the sessions are %q and %q, want two of 130 bits", one, two)
	}
	// The same id at once in two sessions: each has its answer.
	hold := w.open("POST", "/mcp/box", callOf(1, "hold", "{}"), one)
	hold.want("notifications/progress")
	if got, body := w.status("POST", "/mcp/box", callOf(1, "echo", `{"n":9007199254740993}`), two); got != 200 || !strings.Contains(body, "9007199254740993") {
		t.Errorf("got %d %s", got, body)
	}
	if got, body := w.status("POST", "/mcp/box", callOf(1, "echo", "{}"), one); got != 200 || !strings.Contains(body, "in progress") {
		t.Errorf("an id that is in use: got %d %s", got, body)
	}
	h.release <- struct{}{}
	hold.want(`"id":1`, "let go")
}

// A client may not choose its session, and gets one anew after its end.
func TestFaultC10_SessionIsNotChosen(t *testing.T) {
	ends := make(chan string, 10)
	w := newWeb(t, oneBox, webOptions{inside: watchedServers(ends)})
	m := w.open("POST", "/mcp/box", fmt.Sprintf(hello, "2025-11-25"), "Mcp-Session-Id: mine")
	m.want("serverInfo")
	if got := m.resp.Header.Get("Mcp-Session-Id"); got == "mine" || got == "" {
		t.Errorf("the session is %q, want one of the server's making", got)
	}
	session := w.begin("/mcp/box", "2025-11-25")
	if got, body := w.status("POST", "/mcp/box", callOf(1, "echo", "{}"), session); got != 200 {
		t.Fatalf("got %d %s", got, body)
	}
	hanging := w.open("POST", "/mcp/box", callOf(2, "progress", `{"n":1}`), session)
	hanging.want(`"id":2`)
	if got, _ := w.status("DELETE", "/mcp/box", "", session); got != 204 {
		t.Errorf("DELETE: got %d, want 204", got)
	}
	<-ends // its server
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if got, body := w.status(method, "/mcp/box", ping, session); got != 404 {
			t.Errorf("%s after the end: got %d %s, want 404", method, got, body)
		}
	}
}

// A call under way when its session is ended has an answer too.
func TestHTTPSessionEndsUnderCall(t *testing.T) {
	h := newHolder()
	w := newWeb(t, oneBox, webOptions{inside: h.make})
	session := w.begin("/mcp/box", "2025-11-25")
	got := make(chan int, 1)
	go func() {
		status, _ := w.status("POST", "/mcp/box", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold"}}`, session)
		got <- status
	}()
	<-h.began
	w.status("DELETE", "/mcp/box", "", session)
	if got := <-got; got != 404 {
		t.Errorf("the call got %d, want 404", got)
	}
}

// An initialize that fails leaves nothing behind, and no more sessions than allowed are made.
func TestHTTPSessionLimit(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{MaxSessions: 2}})
	for range 5 {
		m := w.open("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"capabilities":{}}}`)
		if msg, _ := m.next(); code(t, msg) != -32602 || m.resp.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("got %s with the session %q", msg, m.resp.Header.Get("Mcp-Session-Id"))
		}
	}
	one := w.begin("/mcp", "2025-11-25")
	w.begin("/mcp", "2025-11-25")
	resp := w.do(t.Context(), "POST", "/mcp", fmt.Sprintf(hello, "2025-11-25"))
	_ = resp.Body.Close()
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("one too many: got %d, Retry-After %q", resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	w.status("DELETE", "/mcp", "", one)
	w.begin("/mcp", "2025-11-25")
}

// With one toolbox chosen at the start, the others are not there.
func TestHTTPDirect(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{direct: "box"})
	for path, want := range map[string]int{"/mcp": 200, "/mcp/box": 200, "/mcp/other": 404} {
		if got, body := w.status("POST", path, fmt.Sprintf(hello, "2025-11-25")); got != want {
			t.Errorf("%s: got %d %s, want %d", path, got, body, want)
		}
	}
}

// A shared server is one process for all endpoints.
func TestHTTPSharedServer(t *testing.T) {
	t.Parallel()
	w := newWeb(t, `{"toolboxes":{"box":{"mcpServers":{"s":{"command":"child","shared":true}}}}}`, webOptions{})
	direct, all := w.begin("/mcp/box", "2025-11-25"), w.begin("/mcp", "2025-11-25")
	_, one := w.status("POST", "/mcp/box", callOf(1, "pid", "{}"), direct)
	two := w.open("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"pid"}}}`, all).want(`"id":1`)
	if one != two || !strings.Contains(one, `"text":"`) {
		t.Errorf("got %s and %s, want the same process", one, two)
	}
}
