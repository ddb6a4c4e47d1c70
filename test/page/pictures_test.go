//go:build linux

package page

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// A server that dies in the midst of a call is found and the call is repeated by three clicks. The pictures of docs/
// are made here.
func TestThreeClicksToTheCause(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	files := func(name string) map[string]any { return server("tool=" + tool(name, "path")) }
	shop := server("tools=exit", "tool="+tool("find_order", "number"))
	shop["env"] = map[string]string{"SHOP_TOKEN": "canary-in-env"}
	database := server("needs=" + w.path("database"))
	database["args"] = append(database["args"].([]string), "--token", "canary-in-args")
	database["env"] = map[string]string{"LAST_WORDS": "could not connect to localhost:5432: connection refused"}
	w.write(wiretest.JSON(map[string]any{"record": "full", "toolboxes": map[string]any{
		"box":  map[string]any{"description": "Orders and stock", "mcpServers": map[string]any{"shop": shop, "database": database}},
		"code": map[string]any{"description": "Files of the project", "open": true, "mcpServers": map[string]any{"files": files("read_file"), "git": files("git_log")}},
	}}))
	cmd := exec.Command(program, "serve", "--log-level", "off")
	cmd.Env, cmd.Dir = w.environ(), w.dir
	client := wiretest.Start(t, cmd, wiretest.Options{Limit: bound})
	client.Result("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.0"}}`)
	client.Notify("notifications/initialized", "{}")
	client.Result("tools/call", `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}}`)
	use := func(box, tool, arguments string) {
		client.Call("tools/call", `{"name":"workbench_use_tool","arguments":{"toolbox_name":"`+box+`","tool_name":"`+tool+`","arguments":`+arguments+`}}`)
	}
	for range 4 {
		use("code", "read_file", `{"path":"README.md"}`)
		use("box", "find_order", `{"number":"2041"}`)
		use("code", "git_log", `{"path":"."}`)
	}
	use("box", "exit", `{"n":7,"number":"2042","with":"canary-in-env"}`)
	tb := w.visit(w.ui())
	tb.sees(`.trouble[data-server="box/database"]`, "circuit-open")
	tb.sees(`tr[data-server="box/shop"]`, "ready")
	tb.shot("servers")
	clicks := 0
	click := func(what string) {
		t.Helper()
		clicks++
		tb.wait("there is "+what, what)
		eval[any](tb, what+".click()")
	}
	click(`document.querySelector('tr[data-server="box/shop"] a.warn')`)
	tb.sees(".pane .cause", "exit status 7")
	tb.sees(".pane", "last words of the child")
	tb.sees(".pane .out", `"2042"`)
	tb.sees(".call", "find_order")
	tb.shot("calls")
	click(`[...document.querySelectorAll(".pane button")].find((b) => b.textContent === "Repeat")`)
	tb.wait("the form has the arguments of the call", `document.querySelector(".form")?.textContent.includes("recorded") && [...document.querySelectorAll(".form textarea, .form input")].some((e) => e.value.includes("2042"))`)
	click(`[...document.querySelectorAll(".form button, .call-form button, main button")].find((b) => b.textContent === "Call" && !b.disabled)`)
	for end := time.Now().Add(bound); strings.Count(w.run("calls", "--tool", "exit", "--json"), `"2042"`) < 2; time.Sleep(30 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the call was not made again")
		}
	}
	if clicks > 3 {
		t.Errorf("got %d clicks, want at most 3", clicks)
	}
	// No secret of the configuration comes to the page, not even one that a client has used.
	for _, view := range []string{"servers", "calls", "tools", "approvals", "runs", "config"} {
		tb.show(view)
		if view == "config" {
			tb.sees("main", "SHOP_TOKEN")
		}
		if html := eval[string](tb, "document.documentElement.outerHTML"); strings.Contains(html, "canary") {
			t.Errorf("the view %s has a secret:\n%s", view, html)
		}
	}
	tb.show("calls")
	tb.wait("the calls are there", `document.querySelector(".call a")`)
	id := eval[string](tb, `decodeURIComponent([...document.querySelectorAll(".call")].find((r) => r.textContent.includes("lost")).querySelector("a").hash.slice("#/calls/".length))`)
	for action, body := range map[string]string{"config": `{}`, "toolboxes": `{}`, "tools": `{"toolbox":"box"}`, "recorded": `{"id":` + wiretest.JSON(id) + `}`} {
		if got := tb.asked(action, body); !strings.HasPrefix(got, "200") || strings.Contains(got, "canary") {
			t.Errorf("%s: got %s, want it without secrets", action, got)
		}
	}
}

// tool is the definition of a tool with one argument.
func tool(name, argument string) string {
	return `{"name":"` + name + `","inputSchema":{"type":"object","required":["` + argument + `"],"properties":{"` + argument + `":{"type":"string"}}}}`
}
