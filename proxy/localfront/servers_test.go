package localfront_test

import (
	"context"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/proxy/localfront"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Whoever follows what servers write keeps nothing of those whose session has ended, and is told their last lines.
func TestFollowingEndsWithItsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, err := config.Parse("config.json", []byte(`{"toolboxes":{"dev":{"mcpServers":{"s":{"command":"x"}}}}}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		s := &cfg.Toolboxes[0].Servers[0]
		s.Transport, s.Builtin = config.TransportBuiltin, "inside"
		var opts proxy.Options
		opts.Toolbox.Builtins = map[string]toolbox.Builtin{
			"inside": func(principal.Principal, config.Server) (wire.Endpoint, error) { return mcptest.New() },
		}
		front, err := proxy.New(cfg, opts)
		if err != nil {
			t.Fatal(err)
		}
		open := func() (end func()) {
			c := front.Connect(func([]byte) {})
			c.Receive([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
			c.Receive([]byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"dev"}}}`))
			synctest.Wait()
			return func() { _ = c.Close(t.Context()) }
		}
		end := open()
		ctx, hangUp := context.WithCancel(t.Context())
		told := httptest.NewRecorder()
		done := make(chan struct{})
		go func() {
			defer close(done)
			localfront.Servers(front).ServeHTTP(told, httptest.NewRequest("GET", "/servers/lines?server=s&follow", nil).WithContext(ctx))
		}()
		time.Sleep(2 * time.Second)
		before := runtime.NumGoroutine()
		const sessions = 20
		for range sessions {
			other := open()
			time.Sleep(2 * time.Second) // it is found
			other()
		}
		time.Sleep(2 * time.Second)
		if n := runtime.NumGoroutine() - before; n > sessions/2 { // one or two may be those of the runtime
			t.Errorf("got %d goroutines more after %d sessions have come and gone", n, sessions)
		}
		hangUp()
		<-done
		if n := strings.Count(told.Body.String(), "server stopped"); n != sessions {
			t.Errorf("got %d times that a server was stopped, want %d", n, sessions)
		}
		end()
		_ = front.Close()
	})
}
