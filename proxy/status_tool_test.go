package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/principal"
)

// An agent that has edited the configuration hears what is wrong with it where it looks for what it wrote; whoever may
// use a part alone does not.
func TestFaultyEditIsTold(t *testing.T) {
	t.Parallel()
	const text = `{"toolboxes": {"dev": {"mcpServers": {"a": {"command": "inside"}}}}}`
	root := newFront(t, readConfig(t, text), "")
	all, some := connect(t, root), connect(t, root.For(&principal.Principal{Toolboxes: []string{"dev"}}, ""))
	id := 0
	ask := func(l *line, tool, arguments string) string {
		id++
		l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments))
		return l.reply(fmt.Sprint(id))
	}
	all.initialize("2025-11-25", "{}")
	some.initialize("2025-11-25", "{}")
	for _, fault := range []string{"", "/home/ada/workbench-config.json:7:3: toolboxs: unknown key\x1b[31m; did you mean \"toolboxes\"?\nand another", ""} {
		cfg := readConfig(t, text)
		cfg.Fault = fault
		root.Reload(cfg)
		for _, l := range []*line{all, some} {
			for _, got := range []string{ask(l, "workbench_status", `{}`), ask(l, "workbench_open_toolbox", `{"toolbox_name":"new"}`)} {
				told := strings.Contains(got, `the configuration as it is now has a fault, and the one before is in use: /home/ada/workbench-config.json:7:3: toolboxs: unknown key; did you mean \"toolboxes\"? (workbench check names all faults)`)
				if told != (fault != "" && l == all) || strings.Contains(got, "ada") != told {
					t.Errorf("fault %q, all of it %t: got %s", fault, l == all, got)
				}
			}
		}
	}
	if got := ask(all, "workbench_status", `{}`); strings.Contains(got, "configuration_fault") {
		t.Errorf("got %s after the fault was mended", got)
	}
}

// What a sick server has to say is cut, so that the answer stays small.
func TestStatusToolIsBrief(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("É", 5000) // two bytes each: a cut may fall within one
	l := connect(t, newFront(t, readConfig(t, `{"toolboxes": {"dev": {"mcpServers": {
		"a": {"command": "inside"},
		"b": {"command": "inside", "args": ["`+long+`"]}}}}}`), ""))
	l.initialize("2025-11-25", "{}")
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"dev"}}}`)
	l.reply("1")
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_status","arguments":{}}}`)
	got := l.reply("2")
	l.close()
	if !strings.Contains(got, "unknown spec") || !strings.Contains(got, "…") {
		t.Errorf("got %s, want the beginning of what is wrong with b", got)
	}
	if len(got) > 2<<10 {
		t.Errorf("got %d bytes, want at most 2 KiB", len(got))
	}
	if strings.ContainsRune(got, '\uFFFD') {
		t.Error("the cut went through a character")
	}
}
