package proxy_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// overheard passes all on to a server, and keeps it.
type overheard struct {
	wire.Endpoint
	mu    sync.Mutex
	heard []string
}

type overheardSession struct {
	wire.Session
	by *overheard
}

func (o *overheard) Connect(send func([]byte)) wire.Session {
	return overheardSession{o.Endpoint.Connect(send), o}
}

func (s overheardSession) Receive(msg []byte) {
	s.by.mu.Lock()
	s.by.heard = append(s.by.heard, string(msg))
	s.by.mu.Unlock()
	s.Session.Receive(msg)
}

// What a client declares as experimental or as an extension that nobody knows reaches the servers of both eras, what
// either side puts into _meta reaches the other, and a method that nobody knows is refused by its name.
func TestExtrasPass(t *testing.T) {
	const extras = `"experimental":{"x":{"a":1.0}},"extensions":{"com.example/thing":{"b":9007199254740993}}`
	const inMeta = `"com.example/thing":{"c":1.0}`
	for name, modernServer := range map[string]bool{"legacy": false, "modern": true} {
		t.Run(name, func(t *testing.T) {
			args := `"name=s"`
			if modernServer {
				args += `,"modern"`
			}
			server, err := mcptest.New(strings.Split(strings.ReplaceAll(args, `"`, ""), ",")...)
			if err != nil {
				t.Fatal(err)
			}
			spy := &overheard{Endpoint: server}
			front, err := proxy.New(readConfig(t, `{"toolboxes":{"dev":{"mcpServers":{"s":{"command":"inside","args":[`+args+`]}}}}}`), proxy.Options{Version: "test",
				Toolbox: toolbox.Options{Builtins: map[string]toolbox.Builtin{inside: func(principal.Principal, config.Server) (wire.Endpoint, error) { return spy, nil }}}})
			if err != nil {
				t.Fatal(err)
			}
			hears := func(pieces ...string) bool {
				spy.mu.Lock()
				defer spy.mu.Unlock()
				return slices.ContainsFunc(spy.heard, func(msg string) bool {
					return !slices.ContainsFunc(pieces, func(p string) bool { return !strings.Contains(msg, p) })
				})
			}
			legacy := &tasker{line: connect(t, front), meta: `,"_meta":{` + inMeta + `}`}
			legacy.initialize("2025-11-25", "{"+extras+"}")
			modern := &tasker{line: connect(t, front), meta: `,"_meta":{` + inMeta + `,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{` + extras + `}}`}
			for who, k := range map[string]*tasker{"legacy": legacy, "modern": modern} {
				spy.mu.Lock()
				spy.heard = nil
				spy.mu.Unlock()
				call := func(tool, arguments string) string {
					return k.ask("tools/call", `"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"`+tool+`","arguments":`+arguments+`}`)
				}
				k.wants(call("result", `{"result":{"content":[],"_meta":{"com.example/back":{"d":1.0}},"com.example/top":1e400}}`), `"com.example/back":{"d":1.0}`, `"com.example/top":1e400`)
				if !hears(`"tools/call"`, inMeta) {
					t.Errorf("%s client: its _meta did not reach the server: %q", who, spy.heard)
				}
				said := "initialize"
				if modernServer {
					said = "tools/call"
				}
				if !hears(`"`+said+`"`, extras) {
					t.Errorf("%s client: its extras did not reach the server: %q", who, spy.heard)
				}
				for _, method := range []string{"com.example/thing/do", "experimental/x"} {
					k.wants(k.ask(method, `"x":1`), `"code":-32601`, method)
				}
			}
			legacy.wants(legacy.ask("tools/call", `"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"say","arguments":{"say":[{"jsonrpc":"2.0","method":"com.example/news","params":{"e":1.0}}]}}`), "said")
			if got := legacy.method("com.example/news"); !strings.Contains(got, `"params":{"e":1.0}`) {
				t.Errorf("got %s, want the notification as the server wrote it", got)
			}
			modern.close()
			legacy.close()
		})
	}
}
