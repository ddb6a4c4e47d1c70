//go:build linux

package page

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// schema has what forms are made of.
const schema = `{"type":"object","required":["text","kind","place"],"$defs":{"point":{"type":"object","required":["x"],"properties":{"x":{"type":"number"},"y":{"type":"integer","default":7}}}},
"properties":{"text":{"type":"string","description":"What to say"},"kind":{"enum":["small","large",3]},"place":{"$ref":"#/$defs/point"},
"list":{"type":"array","items":{"type":"string"}},"when":{"type":"string","format":"date"},"loud":{"type":"boolean"},"n":{"type":"integer"},
"how":{"oneOf":[{"title":"by name","type":"object","required":["by","name"],"properties":{"by":{"const":"name"},"name":{"type":"string"}}},{"title":"by number","type":"integer"}]},
"with":{"type":"string","default":"care"},"labels":{"type":"object","additionalProperties":{"type":"string"}}}}`

// fill puts a value into the field of a label; a list of choices takes what is shown.
func (tb *tab) fill(label, value string) {
	tb.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("label")].filter((l) => l.querySelector(".key")?.textContent === %s).map((l) => document.getElementById(l.htmlFor))[0]`, wiretest.JSON(label))
	tb.wait("there is a field "+label, find)
	eval[any](tb, fmt.Sprintf(`(() => { const el = %s; const v = %s; if (el.tagName === "SELECT") el.value = [...el.options].find((o) => o.text === v).value; else el.value = v;
		el.dispatchEvent(new Event("input", {bubbles: true})); el.dispatchEvent(new Event("change", {bubbles: true})); })()`, find, wiretest.JSON(value)))
}

// A tool is called by the form that is made from its schema, the call is seen as it happens, and a failure is found by
// it alone.
func TestACallIsMadeByTheForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.write(configOf(map[string]any{"one": server("tools=iserror,result,exit", `tool={"name":"echo","description":"Says it back.","inputSchema":`+strings.ReplaceAll(schema, "\n", "")+`}`)}))
	tb := w.visit(w.ui())
	tb.show("tools")
	tb.sees("button.add", "Start it")
	w.client()
	tb.sees(".tools a", "echo") // which appears once it is known
	tb.show("tools/box/one/echo")
	tb.press("Call")
	tb.sees(".outcome", "kind: choose one")
	tb.fill("text", "two\nlines")
	tb.fill("kind", "3")
	tb.fill("x", "1.5")
	tb.fill("loud", "true")
	tb.fill("n", "1.5")
	tb.press("Call")
	tb.sees(".outcome", "1.5 is no integer")
	tb.fill("n", "12")
	tb.fill("when", "2026-02-03")
	eval[any](tb, `for (const d of document.querySelectorAll("details.group")) d.open = true; 1`)
	tb.press("+ Add to list")
	tb.fill("list 1", "first")
	tb.press("+ Add to list")
	tb.fill("list 2", "second")
	tb.fill("how", "by name")
	tb.fill("name", "me")
	tb.shot("form")
	tb.press("Call")
	tb.sees(".outcome .chip", "answered")
	var got any
	if err := json.Unmarshal([]byte(eval[string](tb, `document.querySelector(".outcome .out").textContent`)), &got); err != nil {
		t.Fatal(err)
	}
	const want = `{"text":"two\nlines","kind":3,"place":{"x":1.5,"y":7},"list":["first","second"],"when":"2026-02-03","loud":true,"n":12,"how":{"by":"name","name":"me"},"with":"care","labels":{}}`
	wiretest.Same(t, "the arguments", []byte(wiretest.JSON(got)), []byte(want))
	tb.press("Edit as JSON")
	tb.wait("the form is text", `JSON.parse(document.querySelector("textarea.code").value).n === 12`)

	tb.show("tools/box/one/result")
	tb.press("Edit as JSON")
	tb.wait("there is a text", `document.querySelector("textarea.code")`)
	const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	eval[any](tb, `document.querySelector("textarea.code").value = JSON.stringify({result: {content: [{type: "image", mimeType: "image/png", data: "`+picture+`"},
		{type: "resource_link", uri: "https://example.com/a", name: "A page"}, {type: "resource_link", uri: "javascript:owned", name: "Bad"}, {type: "hologram"}],
		structuredContent: {rows: [{name: "a", size: 1}, {name: "b", size: 2}]}}}); 1`)
	tb.press("Call")
	tb.wait("the picture is shown", `document.querySelector(".outcome img.picture")?.naturalWidth === 1`)
	tb.wait("the list is a table", `document.querySelectorAll(".outcome tbody tr").length === 2`)
	if links := eval[string](tb, `[...document.querySelectorAll(".outcome a")].map((a) => a.href).join()`); links != "https://example.com/a" {
		t.Errorf("got the links %s, want that of the web alone", links)
	}
	tb.shot("result")

	tb.show("tools/box/one/exit")
	tb.press("Edit as JSON")
	eval[any](tb, `document.querySelector("textarea.code").value = '{"n": 7}', 1`)
	tb.press("Call")
	tb.sees(".outcome .fault, .outcome .result", "exit status 7")
	tb.show("calls")
	tb.sees(".call", "echo")
	tb.sees(`.call`, "lost")
	tb.shot("calls")
	eval[any](tb, `[...document.querySelectorAll(".call a")].find((a) => a.textContent.includes("exit")).click(), 1`)
	tb.sees(".pane", "exit status 7")
	tb.shot("call")
	tb.press("Repeat")
	tb.wait("the form of the tool has its arguments", `document.querySelector(".form")?.textContent.includes("recorded")`)
}

// What a hostile server says is text wherever it is shown.
func TestAHostileServerIsText(t *testing.T) {
	t.Parallel()
	const evil = `<img src=x onerror="window.owned=1"><script>window.owned=1</script>`
	w := newWorld(t, "")
	def := wiretest.JSON(map[string]any{"name": evil, "title": evil, "description": evil + "\u202e", "inputSchema": map[string]any{"type": "object",
		"properties": map[string]any{evil: map[string]any{"type": "string", "title": evil, "description": evil, "default": evil},
			"__proto__": map[string]any{"enum": []any{evil}}}}})
	bad := server("needs="+w.path("never"), "tool="+def)
	bad["env"] = map[string]string{"LAST_WORDS": evil}
	w.write(configOf(map[string]any{"bad": bad, "one": server("tools=echo,result", "tool="+def)}))
	client := w.client()
	tb := w.visit(w.ui())
	tb.sees(`.trouble[data-server="box/bad"] .cause`, `onerror`)
	client.Call("tools/call", `{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":`+wiretest.JSON(evil)+`,"arguments":{}}}`)
	tb.show("tools")
	tb.sees(".tools a", "onerror")
	eval[any](tb, `[...document.querySelectorAll(".tools a")].find((a) => a.textContent.includes("onerror")).click(), 1`)
	tb.sees(".pane .description", `\u{202e}`)
	tb.press("Call")
	tb.sees(".outcome", "answered")
	tb.show("tools/box/one/result")
	tb.press("Edit as JSON")
	eval[any](tb, `document.querySelector("textarea.code").value = JSON.stringify({result: {content: [{type: "text", text: '<img src=x onerror="window.owned=1">'},
		{type: "image", mimeType: "image/svg+xml", data: btoa('<svg xmlns="http://www.w3.org/2000/svg"><script>parent.owned=1</script></svg>')},
		{type: "resource", resource: {uri: "data:text/html,<script>owned=1</script>", mimeType: "text/html", text: "<script>window.owned=1</script>"}}]}}), 1`)
	tb.press("Call")
	tb.sees(".outcome", "window.owned=1")
	tb.show("calls")
	tb.sees(".call", "onerror")
	for _, view := range []string{"approvals", "workflows", "conversations", "config", "servers"} {
		tb.show(view)
	}
	if owned := eval[bool](tb, `"owned" in window || document.querySelectorAll("main script, main img[src=x], main [onerror]").length > 0`); owned {
		t.Error("what a server says was taken for HTML")
	}
}
