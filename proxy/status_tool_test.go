package proxy_test

import (
	"strings"
	"testing"
)

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
