package proxy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
)

// What changes the state of a server keeps its place among calls that wait in workbench until their toolbox is open.
func TestOrderBesideAnOpen(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	l := connect(t, newFront(t, readConfig(t, fmt.Sprintf(
		`{"toolboxes":{"dev":{"mcpServers":{"s":{"command":"inside","args":["tools=heard,echo", %q]}}}}}`, "gate="+gate)), ""))
	l.initialize("2025-11-25", `{"roots":{"listChanged":true}}`)
	use := func(id int, tool string) string {
		return callOf(id, "workbench_use_tool", fmt.Sprintf(`{"toolbox_name":"dev","tool_name":"s/%s","arguments":{"note":true,"id":%d}}`, tool, id))
	}
	const rounds = 30
	var want []string
	for i := range rounds {
		level := []string{"debug", "info", "error"}[i%3]
		l.send(use(2*i, "echo"))
		l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"logging/setLevel","params":{"level":%q}}`, 2*i+1, level))
		want = append(want, fmt.Sprintf(`"id":%d}`, 2*i), level)
		if i%3 == 0 {
			l.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
			want = append(want, "roots/list_changed")
		}
	}
	for i := range rounds {
		l.reply(fmt.Sprint(2*i + 1)) // said to be pending
	}
	l.send(use(1000, "heard"))
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	heard := l.reply("1000")
	rest := heard
	for _, word := range want {
		_, after, ok := strings.Cut(rest, strings.ReplaceAll(word, `"`, `\"`))
		if !ok {
			t.Fatalf("got %s, want in it, in this order, %q", heard, want)
		}
		rest = after
	}
	if n := strings.Count(heard, "setLevel"); n != rounds {
		t.Errorf("got %d levels, want %d", n, rounds)
	}
}

// What a client says without wanting an answer is bounded too while it waits for a server.
func TestNewsBesideAnOpenAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := talkTo(t, newFront(t, readConfig(t, `{"toolboxes":{"dev":{"mcpServers":{"mute":{"command":"inside","args":["silent=initialize,server/discover"]}}}}}`), ""))
		c.initialize()
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"mute/echo"}}}`)
		synctest.Wait()
		before := runtime.NumGoroutine()
		for range 5000 {
			c.say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		}
		synctest.Wait()
		if n := runtime.NumGoroutine() - before; n == 0 || n > 1100 {
			t.Errorf("%d wait, want some and not all", n)
		}
	})
}
