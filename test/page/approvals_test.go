//go:build linux

package page

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// Whoever agrees to a call is told if more belongs to it than is shown, however many bytes a character has, and however
// many are shown in its place; and is not told so of arguments that are shown whole.
func TestArgumentsToAgreeToAreMarkedAsCut(t *testing.T) {
	t.Parallel()
	guarded := server("tools=echo")
	guarded["approve"] = "always"
	w := newWorld(t, configOf(map[string]any{"guarded": guarded}))
	c := w.client()
	for _, text := range []string{"größer ä ö ü €", strings.Repeat("\u200b", 1400) + "the end"} {
		c.Request("tools/call", `{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"echo","arguments":{"text":`+wiretest.JSON(text)+`}}}`)
	}
	tb := w.visit(w.ui())
	tb.show("approvals")
	tb.wait("both calls are shown", `document.querySelectorAll("[data-approval]").length === 2`)
	for words, cut := range map[string]bool{"größer ä ö ü €": false, `\\u200b`: true} {
		text := eval[string](tb, `[...document.querySelectorAll("[data-approval]")].map((e) => e.innerText).find((text) => text.includes("`+words+`"))`)
		if got := strings.Contains(text, "The beginning of"); got != cut {
			t.Errorf("that the arguments are cut is said: %v, want %v:\n%.100s … %s", got, cut, text, text[max(0, len(text)-200):])
		}
	}
}
