//go:build linux

package page

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// The ways about the page, in one tab.
func TestWays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, configOf(map[string]any{"one": server(
		`tool={"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":{"type":"string"}}}`)}))
	at := w.visit(w.ui())
	var client *wiretest.Process
	for _, way := range []struct {
		name string
		goes func(tb *tab)
	}{
		{"the skip link stays in the view", theSkipLinkStaysInTheView},
		{"there is a way out at any width", thereIsAWayOutAtAnyWidth},
		{"a link leads to a tool once it is known", aLinkLeadsToAToolOnceItIsKnown},
		{"there is a form for any schema", thereIsAFormForAnySchema},
		{"a client comes", func(tb *tab) {
			client = w.client()
			tb.show("calls")
			tb.sees(".call", "workbench_open_toolbox")
		}},
		{"the focus stays in the content", theFocusStaysInTheContent},
		{"what was not recorded is explained", func(tb *tab) { whatWasNotRecordedIsExplained(tb, client) }},
		{"text is copied without a clipboard", textIsCopiedWithoutAClipboard},
		{"a member needs a name of its own", aMemberNeedsANameOfItsOwn},
	} {
		t.Run(way.name, func(t *testing.T) { way.goes(at.in(t)) })
	}
}

// The link for those who come by keyboard leads past the list of views, and not to another view.
func theSkipLinkStaysInTheView(tb *tab) {
	tb.show("config")
	tb.press("Skip to the content")
	tb.wait("the content has the focus", `document.activeElement.id === "content"`)
	if got := eval[string](tb, `document.querySelector("main").dataset.view + " " + location.hash`); got != "config #/config" {
		tb.t.Errorf("got the view %s, want config #/config", got)
	}
}

// Whoever logged in can log out, however narrow the window is, or however large its letters are.
func thereIsAWayOutAtAnyWidth(tb *tab) {
	tb.show("servers")
	tb.look("light", 320)
	defer tb.look("light", 1280)
	tb.shot("phone")
	tb.wait("the page fits", "document.documentElement.scrollWidth <= innerWidth")
	tb.wait("the button is in sight", `(() => { const r = document.querySelector("button[aria-label='Log out']").getBoundingClientRect(); return r.width > 0 && r.left >= 0 && r.right <= innerWidth; })()`)
}

// A link to a tool whose server never ran leads to the tool as soon as the server was started.
func aLinkLeadsToAToolOnceItIsKnown(tb *tab) {
	tb.show("tools/box/one/echo")
	tb.sees(".pane", "This tool is not known")
	tb.press("Start it to see its tools: box/one")
	tb.sees(".pane h2", "echo")
}

// A browser gives no clipboard to a page that came without TLS from another machine; what is to be copied is copied all the
// same, and if it cannot be, that is said.
func textIsCopiedWithoutAClipboard(tb *tab) {
	tb.show("tools/box/one/echo")
	tb.sees(".pane h2", "echo")
	eval[any](tb, `Object.defineProperty(navigator, "clipboard", {value: undefined}); document.execCommand = (what) => { window.copied = what + " " + document.activeElement.value; return true; }; 1`)
	tb.press("Copy as CLI")
	tb.sees("#toasts", "Copied")
	if got := eval[string](tb, "window.copied"); got != "copy workbench call box/one/echo" {
		tb.t.Errorf("got %q", got)
	}
	eval[any](tb, `document.execCommand = () => false; 1`)
	tb.press("Copy as CLI")
	tb.sees("#toasts .bad", "does not let")
}

// Of arguments and a result that are not shown the page says why, and it names the setting that keeps them only where that
// is off.
func whatWasNotRecordedIsExplained(tb *tab, c *wiretest.Process) {
	const setting = "keeps arguments and results"
	c.Call("tools/call", `{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"echo","arguments":{"text":"`+strings.Repeat("long ", 300_000)+`"}}}`)
	c.Call("prompts/get", `{"name":"none"}`)
	for tool, says := range map[string]string{"echo": "too long to be kept", "none": "There is none."} {
		tb.show("calls")
		tb.sees(".call", tool)
		eval[any](tb, `[...document.querySelectorAll(".call a")].find((a) => a.textContent.includes("`+tool+`")).click(), 1`)
		tb.sees(".pane h2", tool)
		tb.sees(".pane", says)
		if text := eval[string](tb, `document.querySelector(".pane").innerText`); strings.Contains(text, setting) {
			tb.t.Errorf("of the call of %s, the setting is named that is on:\n%s", tool, text)
		}
	}
}

// What stands in the form is sent, or the form says what is missing: a member without a name is not left out in silence.
func aMemberNeedsANameOfItsOwn(tb *tab) {
	tb.show("tools/box/one/echo")
	tb.press("+ Add a member")
	tb.fill("value", "kept")
	tb.press("Call")
	tb.sees(".outcome .fault", "has no name")
	named := func(name string) {
		eval[any](tb, `(() => { const el = document.querySelector(".items input[aria-label=Name]"); el.value = `+wiretest.JSON(name)+`; el.dispatchEvent(new Event("input", {bubbles: true})); })()`)
		tb.press("Call")
	}
	named("text")
	tb.sees(".outcome .fault", "there already")
	named("more")
	tb.sees(".outcome .chip", "answered")
	tb.sees(".outcome .out", `"more": "kept"`)
}

// Whoever opens something in a view by keyboard goes on within the view, and not at the top of the page.
func theFocusStaysInTheContent(tb *tab) {
	tb.show("calls")
	tb.sees(".call", "workbench_open_toolbox")
	eval[any](tb, `document.activeElement.blur(); const a = document.querySelector(".call a"); a.focus(); a.click(); 1`)
	tb.wait("the call is shown", `document.querySelector(".pane .back")`)
	tb.wait("the content has the focus", `document.activeElement.id === "content"`)
	eval[any](tb, `const b = document.querySelector(".pane .back"); b.focus(); b.click(); 1`)
	tb.wait("the list is shown again", `location.hash === "#/calls" && !document.querySelector(".pane .back")`)
	tb.wait("the content has the focus", `document.activeElement.id === "content"`)
}
