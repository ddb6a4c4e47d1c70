package proxy_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// A client of any revision reaches servers of both eras, is told of all revisions, and finds its own in the
// documentation. A revision that mcp-go has learnt and workbench has not is missed here.
func TestEveryRevision(t *testing.T) {
	docs, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range mcp.ValidProtocolVersions {
		if !eras.IsSpoken(revision) {
			t.Errorf("mcp-go speaks %s, which no era has", revision)
		}
	}
	for _, revision := range eras.Revisions() {
		t.Run(revision, func(t *testing.T) {
			if !strings.Contains(string(docs), revision) {
				t.Error("docs/protocol.md does not name it")
			}
			c := dial(t, false, map[string]*mcptest.Server{"old": {}, "new": {Modern: true}})
			said := `"_meta":{}`
			if eras.Of(revision).HasHandshake() {
				c.say(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, revision)
				c.hear(`"id":"init"`, `"protocolVersion":"`+revision)
			} else {
				said = strings.Replace(meta(""), "2026-07-28", revision, 1)
			}
			for _, server := range []string{"old", "new"} {
				c.say(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"tool":{"toolbox":"box","server":%q,"name":"echo"},"arguments":{"x":1}},%s}}`, server, server, said)
				if reply := c.hear(`"id":"` + server); !strings.Contains(reply, `"text":"{\"x\":1}"`) {
					t.Errorf("a call of a tool of server %q: got %s", server, reply)
				}
			}
			if !eras.Of(revision).IsStateless() {
				return
			}
			c.say(`{"jsonrpc":"2.0","id":"discover","method":"server/discover","params":{%s}}`, said)
			reply, want := c.hear(`"id":"discover"`), wire.MustEncode(eras.Revisions())
			if got := field(t, reply, "result", "supportedVersions"); !bytes.Equal(got, want) {
				t.Errorf("server/discover: got the revisions %s want %s", got, want)
			}
		})
	}
}
