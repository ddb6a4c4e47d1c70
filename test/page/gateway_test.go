//go:build linux

package page

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// asked has the page ask for an action, as its scripts do, and gives the status and the answer.
func (tb *tab) asked(action, body string) string {
	tb.t.Helper()
	return eval[string](tb, fmt.Sprintf(`fetch("api/%s", {method: "POST", body: %s, headers: {"Content-Type": "application/json",
		"X-Workbench-Secret": localStorage.getItem("workbench.secret")}}).then(async (r) => r.status + " " + await r.text())`, action, wiretest.JSON(body)))
}

// comeIn shows a token to a gateway.
func (tb *tab) comeIn(token string) {
	tb.t.Helper()
	tb.wait("a token is asked for", `document.querySelector("#token")`)
	eval[any](tb, fmt.Sprintf(`document.querySelector("#token").value = %s, 1`, wiretest.JSON(token)))
	tb.press("Log in")
}

// On a gateway those with admin rights see all of it, and others what their token is for; whose token is revoked is
// out.
func TestTheGatewayKeepsUsersApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	one := wiretest.JSON(map[string]any{"mcpServers": map[string]any{"one": server("tools=echo", "silent=prompts/list")}})
	two := wiretest.JSON(map[string]any{"mcpServers": map[string]any{"two": server("tools=pid")}})
	w.write(`{"toolboxes": {"open": ` + one + `, "closed": ` + two + `}}`)
	token := w.run("token", "create", "ann", "--toolbox", "open")
	audit := w.path("audit.jsonl")
	address := w.gateway("--audit-log", audit)

	tb := w.visit(address)
	tb.comeIn("wrong")
	tb.sees("main .fault", "token")
	tb.comeIn(token)
	tb.sees("main h1", "Servers")
	tb.sees(`tr[data-server="open/one"]`, "stopped")
	tb.show("tools")
	tb.press("Start it to see its tools: open/one")
	tb.sees(".tools a", "echo")
	tb.show("tools/open/one/echo")
	tb.press("Call")
	tb.sees(".outcome", "answered")
	if text := eval[string](tb, "document.body.innerText"); strings.Contains(text, "closed") || strings.Contains(text, "Configuration") {
		t.Errorf("the user sees more than the token is for:\n%s", text)
	}
	for action, body := range map[string]string{
		"config": `{}`, "able": `{"toolbox":"open","server":"one"}`, "answer": `{"id":"1"}`, "workflows": `{}`, "login": `{"toolbox":"open","server":"one"}`,
		"tools": `{"toolbox":"closed"}`, "open": `{"toolbox":"closed"}`, "restart": `{"toolbox":"closed","server":"two"}`,
		"call": `{"toolbox":"closed","server":"two","tool":"pid"}`, "recorded": `{"id":"1-1"}`, "nothing": `{}`,
	} {
		if got := tb.asked(action, body); !strings.Contains(got, `"error"`) {
			t.Errorf("%s %s: got %s, want a refusal", action, body, got)
		}
	}
	if got := tb.asked("toolboxes", `{}`); strings.Contains(got, "closed") {
		t.Errorf("the user is told of a toolbox that is not theirs: %s", got)
	}

	w.run("token", "revoke", "ann")
	tb.wait("whose token is revoked is out", `document.querySelector("#token")`)

	tb.comeIn(w.run("token"))
	tb.sees("nav", "Configuration")
	tb.show("config")
	tb.sees("main", "workbench-config.json")
	tb.show("servers")
	tb.sees(`tr[data-server="closed/two"]`, "stopped")
	tb.press("Log out")
	tb.wait("it is logged out", `document.querySelector("#token")`)

	// Who came in, and who was turned away, is in the trail.
	for _, want := range []string{
		`"address":"127.0.0.1","method":"POST","path":"/ui/api/enter","status":401,"err":"`,
		`"event":"login",PID"user":"ann","address":"127.0.0.1","method":"POST","path":"/ui/api/enter","outcome":"entered","status":200`,
		`"event":"refused",PID"user":"ann","address":"127.0.0.1","method":"POST","path":"/ui/api/config","status":403,"err":"this needs admin rights"`,
		`"event":"refused",PID"user":"ann","address":"127.0.0.1","method":"POST","path":"/ui/api/`,
		`"event":"login",PID"user":"default_user"`,
	} {
		w.wrote(audit, want)
	}
}

// wrote waits until a file of events has a text, in which PID stands for the member pid.
func (w *world) wrote(path, want string) {
	w.t.Helper()
	until := time.Now().Add(2 * time.Minute)
	for {
		text, err := os.ReadFile(path)
		all := regexp.MustCompile(`"pid":\d+,`).ReplaceAllString(string(text), "PID")
		switch {
		case err == nil && strings.Contains(all, want):
			return
		case time.Now().After(until):
			w.t.Fatalf("got %s, %v, want %s in it", all, err, want)
		}
		time.Sleep(10 * time.Millisecond) // the log is written aside
	}
}

// Each view can be used by all, in both themes and on a phone, and is steered by the keyboard.
func TestEachViewIsForAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	long := strings.Repeat("Donau", 60) // without a place to break it
	w.write(`{"toolboxes": {"box": {"description": "` + long + `", "mcpServers": {"one": ` + wiretest.JSON(server("tools=echo,iserror",
		`tool={"name":"`+long[:60]+`","description":"`+long+`","inputSchema":{"type":"object","properties":{"`+long+`":{"type":"string","title":"`+long+`"}}}}`)) + `,
		"bad": {"command": "sh", "args": ["-c", "echo ` + long + ` >&2; exit 7"]}}},
		"flows": {"mcpServers": {"workflow": {"builtin": "workflow"}}}}}`)
	client := w.client()
	for range 3 {
		client.Call("tools/call", `{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"iserror","arguments":{}}}`)
	}
	axe := axe(t)
	tb := w.visit(w.ui())
	for _, look := range []struct {
		scheme string
		width  int64
	}{{"light", 1280}, {"dark", 1280}, {"light", 390}} {
		tb.look(look.scheme, look.width)
		for view, has := range map[string]string{"servers": "exit status 7", "calls": "", "tools/box/one/echo": "", "tools/box/one/" + long[:60]: long, "tools/flows/workflow/workflow_list": "Call", "approvals": "No call waits", "workflows": "workflow", "runs": "No runs", "conversations": "No conversations", "config": "mcpServers"} {
			tb.show(view)
			tb.sees("main", has)
			if twice := eval[string](tb, `[...document.querySelectorAll("ul.tools a")].map((a) => a.hash).filter((h, i, all) => all.indexOf(h) !== i).join()`); twice != "" {
				t.Errorf("%s: got the tools %s twice", view, twice)
			}
			if view == "calls" && look.width > 1000 {
				tb.sees(".call", "iserror")
			}
			for _, found := range tb.findings(axe) {
				t.Errorf("%s, %s, %d wide: %s", view, look.scheme, look.width, found)
			}
			if wide := eval[bool](tb, "document.documentElement.scrollWidth > innerWidth"); wide {
				t.Errorf("%s is wider than %d", view, look.width)
			}
			tb.shot(strings.ReplaceAll(fmt.Sprint(view, look.scheme, look.width), "/", "-"))
		}
	}
	tb.look("light", 1280)
	if size := eval[int](tb, `performance.getEntriesByType("resource").filter((r) => !r.name.includes("/api/")).reduce((n, r) => n + r.decodedBodySize, 0)`); size < 50_000 || size > 150_000 {
		t.Errorf("got a page of %d bytes, want at most 150 KB", size)
	}
	tb.show("approvals")
	for want, plant := range map[string]string{"button-name": `createElement("button")`, "color-contrast": `createElement("p"), {textContent: "pale", style: "color: rgb(200, 200, 200)"}`} {
		eval[any](tb, `document.querySelector("main").append(Object.assign(document.`+plant+`)), 1`)
		if found := tb.findings(axe); !slices.ContainsFunc(found, func(f finding) bool { return f.ID == want }) {
			t.Errorf("got %v against a page that breaks a rule, want %q", found, want)
		}
	}
	eval[any](tb, `for (const key of ["g", "c"]) document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true})); 1`)
	tb.sees("main h1", "Calls")
	eval[any](tb, `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "?", bubbles: true})), 1`)
	tb.wait("the keys are shown", `document.querySelector("dialog[open]")`)
}
