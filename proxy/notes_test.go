package proxy_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// A server that does not have every list which its capabilities stand for is well: nothing is noted of it. Another
// failure of a list is.
func TestFaultH9_ListsNobodyNeedHave(t *testing.T) {
	for spec, want := range map[string]string{
		"lack=resources/templates/list":                 "",
		"lack=resources/list,resources/templates/list":  "",
		"lack=prompts/list":                             "",
		"refuse=resources/templates/list":               "its resource templates could not be read: resources/templates/list: the server answered with error -32603",
		"lack=resources/list refuse=prompts/list tools": "its prompts could not be read: prompts/list: the server answered with error -32603",
	} {
		t.Run(spec, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				args := append(strings.Fields(spec), "resources=a:1", "prompts=p", "tools=echo")
				cfg := readConfig(t, fmt.Sprintf(`{"toolboxes": {"dev": {"mcpServers": {"a": {"command": "inside", "args": %s}}}}}`, marshal(t, args)))
				l := connect(t, newFront(t, cfg, ""))
				l.initialize("2025-11-25", "{}")
				l.openDev("1", true)
				srv := l.openDev("2", false).StructuredContent.Servers[0]
				if got := strings.Join(srv.Notes, "\n"); !strings.HasPrefix(got, want) || want == "" && got != "" {
					t.Errorf("got the notes %q, want %q", got, want)
				}
				l.close()
			})
		})
	}
}

// That a server which was seen before is only starting is no reason why a tool is not found: its tools are known.
func TestFaultH9_StartingServersAreNotToBlame(t *testing.T) {
	p := newPast(t, "tools=x,y")
	l := p.run(false)
	l.openDev("1", true)
	l.close()

	p.closeGate()
	l = p.run(false)
	l.openDev("1", true)
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"z"}}}`)
	if got := l.reply("2"); !strings.Contains(got, "tool not found") || strings.Contains(got, "starting") {
		t.Errorf("got %s, want that there is no such tool and nothing of the server", got)
	}
	p.openGate()
	l.close()
}
