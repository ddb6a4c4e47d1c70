//go:build linux

package chaos

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
	"github.com/mcp-workbench/workbench/toolbox"
)

// sessions makes sessions over HTTP, half of which their clients never end, and wants the memory back once they were
// idle for a while. The front is in this process, because how long that is is no flag of the program.
func sessions(t *testing.T, tab *table) {
	lives := times(400, 30_000)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := &config.Config{OpenTimeout: time.Minute, Toolboxes: []config.Toolbox{{Name: "box", Servers: []config.Server{{
		Name: "in", Transport: config.TransportBuiltin, Builtin: "test", Timeouts: config.Timeouts{Start: time.Minute, CallIdle: time.Minute, CallTotal: time.Minute},
	}}}}}
	front, err := proxy.New(cfg, proxy.Options{Version: "test", Toolbox: toolbox.Options{
		Builtins: map[string]toolbox.Builtin{"test": func(principal.Principal, config.Server) (wire.Endpoint, error) { return mcptest.New("tools=echo") }},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	over, err := httpfront.New(front, httpfront.Options{Addr: ln.Addr(), MaxSessions: lives, Idle: time.Duration(times(1, 10)) * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- over.Serve(ctx, ln) }()
	c := &web{address: "http://" + ln.Addr().String() + "/mcp/box", client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32, MaxConnsPerHost: 32}}}
	defer func() {
		c.client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	gone := func() {
		t.Helper()
		c.client.CloseIdleConnections()
		if !eventually(func() bool { return len(front.Status().Sessions) == 0 }) {
			t.Errorf("%d sessions are left", len(front.Status().Sessions))
		}
	}
	// As many as will be: for each goroutine that there was at a time the runtime keeps what it needs for another.
	if err := c.live(lives); err != nil {
		t.Fatal(err)
	}
	gone()
	heap, goroutines := inUse(), runtime.NumGoroutine()
	if err := c.live(lives); err != nil {
		t.Fatal(err)
	}
	full := inUse()
	gone()
	eventually(func() bool { return runtime.NumGoroutine() <= goroutines })
	after := inUse()
	tab.mustNotExceed(t, fmt.Sprintf("goroutines after %d sessions, half never ended", lives), runtime.NumGoroutine(), goroutines)
	tab.show("memory with them, and after", "at most 10 % more than after as many before, "+mib(heap), mib(full)+", "+mib(after))
	if most := heap*11/10 + 4<<20; after > most {
		t.Errorf("memory after %d sessions: got %s, want at most %s", lives, mib(after), mib(most))
	}
}

// web is clients of a front.
type web struct {
	address string
	client  *http.Client
}

// live makes sessions, calls a tool in each and ends half of them.
func (c *web) live(n int) error {
	var group errgroup.Group
	group.SetLimit(32)
	for i := range n {
		group.Go(func() error {
			session, _, err := c.send("POST", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
			if err != nil || session == "" {
				return fmt.Errorf("initialize: no session: %w", err)
			}
			nonce := fmt.Sprintf("n-%d-", i)
			_, text, err := c.send("POST", session, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"x":%q}}}`, nonce))
			if err != nil || !strings.Contains(text, nonce) {
				return fmt.Errorf("call: got %q, %w", text, err)
			}
			if i%2 == 0 {
				_, _, err = c.send("DELETE", session, "")
			}
			return err
		})
	}
	return group.Wait()
}

func (c *web) send(method, session, body string) (newSession, text string, err error) {
	req, err := http.NewRequest(method, c.address, strings.NewReader(body))
	if err != nil {
		return "", "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	// The front closes connections that are not used, also while a request is on its way there: it is to be sent on
	// another.
	req.Header.Set("Idempotency-Key", "")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, all)
	}
	return resp.Header.Get("Mcp-Session-Id"), string(all), err
}

// inUse is the memory that is in use in this process.
func inUse() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse)
}
