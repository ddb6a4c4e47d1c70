package proxy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
