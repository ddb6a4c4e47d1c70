//go:build linux

package page

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// What a server wants to know during a call is asked on the page, whether the server runs for a client or for the page,
// and whichever revision it speaks; who goes away has cancelled.
func TestAServerAsksOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.write(wiretest.JSON(map[string]any{"toolboxes": map[string]any{
		"box":   map[string]any{"mcpServers": map[string]any{"one": server("tools=ask,echo")}},
		"other": map[string]any{"mcpServers": map[string]any{"old": server("tools=ask,echo"), "new": server("tools=ask", "modern")}},
	}}))
	w.client()
	tb := w.visit(w.ui())
	tb.sees(`tr[data-server="box/one"]`, "ready")
	tb.show("tools")
	for _, name := range []string{"old", "new"} {
		tb.wait("its toolbox can be started or has been", `document.querySelector('[aria-label="Start it to see its tools: other/`+name+`"], a[href="#/tools/other/`+name+`/ask"]')`)
		eval[any](tb, `document.querySelector('[aria-label="Start it to see its tools: other/`+name+`"]')?.click()`)
		tb.wait("its tools are there", `document.querySelector('a[href="#/tools/other/`+name+`/ask"]')`)
	}
	// called calls the tool and waits until its question is there.
	called := func(path, params string) {
		t.Helper()
		tb.show("tools")
		tb.show("tools/" + path + "/ask")
		tb.press("Edit as JSON")
		ask := `{"ask":{"method":"elicitation/create","params":` + params + `}}`
		eval[any](tb, `document.querySelector("textarea.code").value = `+wiretest.JSON(ask)+`; 1`)
		tb.press("Call")
		tb.wait("the question is there", `document.querySelector(".ask")`)
	}
	answered := func() string {
		t.Helper()
		tb.sees(".outcome .chip", "answered")
		tb.wait("the question is gone", `!document.querySelector(".ask")`)
		return eval[string](tb, `document.querySelector(".outcome .out").textContent`)
	}
	const form = `{"mode":"form","message":"Which size? <b>bold</b>","requestedSchema":{"type":"object","required":["size"],"properties":{"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},
		{"const":"l","title":"Large"}]},"n":{"type":"integer","minimum":1,"maximum":5,"default":2},"mail":{"type":"string","format":"email"},"tags":{"type":"array","items":{"type":"string","enum":["a","b","c"]}}}}}`
	for _, path := range []string{"box/one", "other/old", "other/new"} {
		called(path, strings.ReplaceAll(form, "\n", ""))
		tb.press("Answer")
		tb.sees(".ask .fault", "size: choose one")
		tb.fill("size", "Large")
		tb.fill("n", "9")
		tb.press("Answer")
		tb.sees(".ask .fault", "n must be at most 5")
		tb.fill("n", "3")
		tb.fill("mail", "no mail")
		tb.press("Answer")
		tb.sees(".ask .fault", "mail is no email")
		tb.fill("mail", "")
		eval[any](tb, `document.querySelector(".ask details").open = true; 1`)
		tb.wait("the choices are there", `document.querySelector(".ask .check")`)
		eval[any](tb, `[...document.querySelectorAll(".ask .check")].filter((l) => l.textContent !== "b").forEach((l) => l.click()); 1`)
		if text := eval[string](tb, `document.querySelector(".ask .description").textContent`); !strings.HasSuffix(text, "Which size? <b>bold</b>") {
			t.Errorf("%s: got the question %q", path, text)
		}
		if path == "box/one" {
			tb.shot("question")
		}
		tb.press("Answer")
		const want = `{"action":"accept","content":{"size":"l","n":3,"tags":["a","c"]}}`
		if got := answered(); !strings.Contains(unspaced(got), unspaced(want)) {
			t.Errorf("%s: the server got %s, want %s", path, got, want)
		}
		called(path, `{"mode":"form","message":"Shall it?","requestedSchema":{"type":"object","properties":{}}}`)
		tb.press("Decline")
		if got := answered(); !strings.Contains(unspaced(got), `"action":"decline"`) {
			t.Errorf("%s: the server got %s, want that it is declined", path, got)
		}
	}
	called("box/one", `{"mode":"url","message":"Log in","elicitationId":"e","url":"https://login.example/start"}`)
	if link := eval[string](tb, `document.querySelector(".ask a").href + document.querySelector(".ask strong").textContent`); link != "https://login.example/startlogin.example" {
		t.Errorf("got the address %q", link)
	}
	tb.press("I have opened it")
	if got := answered(); !strings.Contains(unspaced(got), `"action":"accept"`) {
		t.Errorf("the server got %s, want that it is accepted", got)
	}
	// Who leaves has cancelled, and the server goes on.
	called("other/new", `{"mode":"form","message":"Still there?","requestedSchema":{"type":"object","properties":{}}}`)
	tb.show("servers")
	tb.wait("the call is over", `document.querySelector('tr[data-server="other/new"]') && ![...document.querySelectorAll("tr")].some((r) => r.textContent.includes(" now"))`)
	if got := tb.asked("reply", `{"id":"none","arguments":{"action":"accept"}}`); !strings.Contains(got, "nobody waits") {
		t.Errorf("an answer that nobody waits for got %s", got)
	}
}

// unspaced is JSON without the spaces of people.
func unspaced(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	out, _ := json.Marshal(v)
	return string(out)
}
