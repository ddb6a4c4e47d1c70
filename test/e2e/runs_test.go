package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// TestRunsThrough: workflows are prompts and runs resources of the built-in server, which clients reach as those of
// other servers, under the uris that the server gives them, in both eras. A toolbox that is marked open, as theirs is, is
// listed from the start.
func TestRunsThrough(t *testing.T) {
	b := newBed(t)
	want := items(t, b.plainly("everything").lists["tools/list"], "tools")
	listed := func(list []byte) {
		t.Helper()
		const prefix = "dev__everything__"
		var got []json.RawMessage
		for _, item := range items(t, list, "tools") {
			if shown := decode[struct{ Name string }](t, "tool", item).Name; strings.HasPrefix(shown, prefix) {
				got = append(got, renamed(item, shown, strings.TrimPrefix(shown, prefix)))
			}
		}
		if len(got) != len(want) {
			t.Fatalf("got %d tools of everything, want %d", len(got), len(want))
		}
		for i := range got {
			wiretest.SameBytes(t, "tool", got[i], want[i])
		}
	}
	config := fmt.Sprintf(`{"openTimeout": "2m", "toolboxes": {"dev": {"description": "d", "open": true, "mcpServers": {"flows": {"builtin": "workflow"}, "everything": %s}}}}`, b.far())
	c := b.workbench(config, wiretest.Options{})
	c.Initialize(wiretest.Legacy, noCapabilities)
	listed(c.Result("tools/list", ""))
	open(t, c.Client, "dev")
	got := c.Result("prompts/get", `{"name":"dev__flows__find-bug","arguments":{"goal":"mend the cart"}}`)
	if !strings.Contains(string(got), "workflow_start") || !strings.Contains(string(got), "mend the cart") {
		t.Errorf("got %s, want to be told to start the workflow", got)
	}
	var started struct {
		Structured struct{ Run, State string } `json:"structuredContent"`
	}
	from := c.Mark()
	reply := c.Result("tools/call", `{"name":"dev__flows__workflow_start","arguments":{"workflowId":"find-bug","goal":"mend the cart"}}`)
	if err := json.Unmarshal(reply, &started); err != nil || started.Structured.Run == "" {
		t.Fatalf("got %s and %v, want a run", reply, err)
	}
	c.Notification(from, "notifications/resources/list_changed")
	uri := "workbench://runs/" + started.Structured.Run
	if got := c.Result("resources/list", ""); !strings.Contains(string(got), fmt.Sprintf(`"uri":%q`, uri)) {
		t.Errorf("got %s, want the run as %s", got, uri)
	}
	if got := c.Result("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)); !strings.Contains(string(got), "mend the cart") {
		t.Errorf("got %s, want the run", got)
	}
	c.Result("resources/subscribe", fmt.Sprintf(`{"uri":%q}`, uri))
	from = c.Mark()
	c.Result("tools/call", fmt.Sprintf(`{"name":"dev__flows__workflow_run","arguments":{"run":%q,"action":"checkpoint"}}`, started.Structured.Run))
	if m, _ := c.Notification(from, "notifications/resources/updated"); !strings.Contains(string(m.Params), uri) {
		t.Errorf("got %s, want the run named", m.Params)
	}

	another := b.workbench(config, wiretest.Options{})
	listed(modern(t, another.Client, "tools/list", ""))
	if got := another.Result("resources/templates/list", wiretest.Modern("", noCapabilities)); !strings.Contains(string(got), "workbench://runs/{run}") {
		t.Errorf("got %s, want runs among the templates", got)
	}
	if reply := another.Call("resources/read", wiretest.Modern(`{"uri":"workbench://runs/run-none"}`, noCapabilities)); reply.Error == nil || reply.Error.Code != -32602 {
		t.Errorf("got %s and %v, want no such resource", reply.Result, reply.Error)
	}
}
