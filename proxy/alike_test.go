package proxy_test

import (
	"testing"

	"github.com/mcp-workbench/workbench/proxy"
)

// Clients that are given the same tools, by servers of their own or by one, do not each take the memory for them.
func TestClientsAlikeShareTexts(t *testing.T) {
	t.Parallel()
	front := newFront(t, shelf(t, 100, 3, 3), "")
	for range 2 {
		l := connect(t, front)
		l.initialize("2025-11-25", "{}")
		l.send(callOf(1, "workbench_open_toolbox", `{"toolbox_name":"dev"}`))
		l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		l.reply("1")
		l.reply("2")
	}
	texts := proxy.Texts(front)
	if len(texts) != 2 || len(texts[0]) != 3 || len(texts[1]) != 3 {
		t.Fatalf("got the texts of %d sessions, %d and %d; want 3 each of 2", len(texts), len(texts[0]), len(texts[1]))
	}
	for i := range texts[0] {
		if a, b := texts[0][i], texts[1][i]; string(a) != string(b) {
			t.Errorf("the clients have\n%.200s\nand\n%.200s", a, b)
		} else if &a[0] != &b[0] {
			t.Errorf("two clients have this in memory twice: %.200s", a)
		}
	}
}
