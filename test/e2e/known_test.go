package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// TestOpenOfKnownServer: a second workbench opens the toolbox of a server that a first one has seen before that server
// runs: what it offers is there, to the byte, what is asked of it waits, and what nobody has changed is announced once.
func TestOpenOfKnownServer(t *testing.T) {
	b := newBed(t)
	cache, gate := t.TempDir(), filepath.Join(t.TempDir(), "gate")
	line := b.command("everything")
	env := b.environ("everything")
	env["GATE"] = gate
	config := fmt.Sprintf(`{"toolboxes": {"dev": {"mcpServers": {"everything": %s}}}}`, wiretest.JSON(map[string]any{
		"command": line[0], "args": append([]string{"--import", filepath.Join(b.npm, "gate.mjs")}, line[1:]...), "env": env,
	}))
	run := func() *wiretest.Process {
		line := b.workbenchLine(config)
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = append(b.workbenchEnv(), "XDG_CACHE_HOME="+cache)
		c := wiretest.Start(t, cmd, wiretest.Options{Answer: func(wiretest.Message) (string, *wiretest.Error) { return `{"roots":[]}`, nil }})
		c.Initialize(wiretest.Legacy, allCapabilities)
		return c
	}
	openGate := func() {
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kinds := map[string]string{"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}

	openGate()
	first := run()
	if got := open(t, first.Client, "dev").Servers[0]; got.State != "ready" {
		t.Fatalf("the first time: got %+v, want a server that is ready", got)
	}
	want := map[string][]byte{}
	for method := range kinds {
		want[method] = first.Result(method, "")
	}
	first.CloseInput()
	first.Exit()
	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}

	c := run()
	opened := openOnce(t, c.Client, "dev")
	if got := opened.Servers[0]; got.State != "starting" || got.Error != "" || len(opened.Tools) == 0 {
		t.Errorf("the second time: got %+v and %d tools, want a server that is starting, and its tools", got, len(opened.Tools))
	}
	for method, list := range kinds {
		got := c.Result(method, "")
		wiretest.SameBytes(t, method, got, want[method])
		if len(items(t, got, list)) == 0 {
			t.Errorf("%s: got nothing, want what the server offers", method)
		}
	}
	call := c.Request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"message":"hi"}}`, opened.exposed(t, "everything", "echo")))
	read := c.Request("resources/read", `{"uri":"demo://resource/dynamic/text/1"}`)
	c.Result("ping", "")
	if slices.ContainsFunc(c.Transcript(0), func(e wiretest.Entry) bool {
		return !e.Sent && (e.Message.IsReply(call) || e.Message.IsReply(read))
	}) {
		t.Error("got a reply of a server that has not started")
	}
	openGate()
	if got := decode[toolResult](t, "echo", c.Reply(call).Result).text(); got != "Echo: hi" {
		t.Errorf("the call that waited: got %q, want %q", got, "Echo: hi")
	}
	if reply := c.Reply(read); !strings.Contains(string(reply.Result), "demo://resource/dynamic/text/1") {
		t.Errorf("the resource that was waited for: got %s, %v", reply.Result, reply.Error)
	}
	if got := open(t, c.Client, "dev").Servers[0]; got.State != "ready" {
		t.Errorf("opened again: got %+v, want a server that is ready", got)
	}
	announced := 0
	for _, e := range c.Transcript(0) {
		if !e.Sent && e.Message.IsNotification(toolsChanged) {
			announced++
		}
	}
	if announced != 1 {
		t.Errorf("the tools were announced %d times, want once: they have not changed", announced)
	}
}
