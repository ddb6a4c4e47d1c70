//go:build linux

package page

import (
	"os/exec"
	"strings"
	"testing"
)

// What somebody said in a conversation with a command workflow, and what came of it, is on the page.
func TestAConversationIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"toolboxes": {}}`)
	chat := exec.Command(program, "commands", "chat", "example", "--log-level", "off")
	chat.Env, chat.Dir = w.environ(), w.dir
	chat.Stdin = strings.NewReader("show me the <b>orders</b>\nopen_order <order_id>44821</order_id>\n:new\n")
	if out, err := chat.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tb := w.visit(w.ui())
	tb.show("conversations")
	tb.sees("a.card .facts", "Corner Books · 3 turns")
	tb.wait("it says when that was", `!isNaN(Date.parse(document.querySelector("a.card time").dateTime))`)
	tb.shot("conversations")
	eval[any](tb, `[...document.querySelectorAll("a.card")].find((e) => e.textContent.includes("3 turns")).click(), 1`)
	tb.sees("main h1", "orders")
	tb.sees(".turns .said", "show me the <b>orders</b>")
	tb.sees(".turns .card", "open_order")
	tb.shot("conversation")
}
