package proxy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/proxy"
)

// What is new of a list that a client waits for comes with the list, and is told where the client is not given it.
func TestNewsOfAListThatIsAwaited(t *testing.T) {
	const changed = "notifications/tools/list_changed"
	for name, cancelled := range map[string]bool{"given": false, "cancelled": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := filepath.Join(t.TempDir(), "gate")
				c := talkTo(t, newFrontWith(t, readConfig(t, fmt.Sprintf(`{"openTimeout":"10s","toolboxes":{
					"late":{"open":true,"mcpServers":{"s":{"command":"inside","args":["tools=x", %q]}}},
					"never":{"open":true,"mcpServers":{"s":{"command":"inside","args":["silent=initialize"]}}},
					"other":{"mcpServers":{"s":{"command":"inside","args":["tools=z"]}}}}}`, "gate="+gate)), proxy.Options{}))
				c.initialize()
				time.Sleep(5 * time.Second)
				c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
				time.Sleep(7 * time.Second) // the opening that initialized began is over, and that of the list is not
				if err := os.WriteFile(gate, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"late__s__missing"}}`)
				c.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"late","tool_name":"missing"}}}`)
				c.say(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"other","tool_name":"z"}}}`)
				synctest.Wait()
				if cancelled {
					c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
					c.hear(changed)
					c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
				}
				if list := c.hear(`"id":1,"result"`); !strings.Contains(list, "late__s__x") || !strings.Contains(list, "other__s__z") {
					t.Errorf("got the list %s, want the tools of both servers in it", list)
				}
				time.Sleep(time.Hour)
				for _, msg := range append(c.seen, drained(c.got)...) {
					if strings.Contains(msg, changed) {
						t.Errorf("got %s, want none: the list has it all", msg)
					}
				}
			})
		})
	}
}

// drained is what a channel holds.
func drained(got chan string) (all []string) {
	for len(got) > 0 {
		all = append(all, <-got)
	}
	return all
}
