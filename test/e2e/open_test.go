package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// place is where in a transcript a received message stands.
func place(transcript []wiretest.Entry, match func(wiretest.Message) bool) int {
	return slices.IndexFunc(transcript, func(e wiretest.Entry) bool { return !e.Sent && match(e.Message) })
}

const toolsChanged = "notifications/tools/list_changed"

// TestOpenAnnounces: a client that lists again when told to has the tools before the open call returns in the mode
// dynamic too. The mode auto is that of TestSession.
func TestOpenAnnounces(t *testing.T) {
	b := newBed(t)
	announcedTo(t, b, b.farConfig("dynamic"), "spare")
}

// announcedTo opens a toolbox for a client that lists again when told to, which is what lets it offer the tools on the
// model's next turn, and gives the client. The result waits a second for the list. On a machine that is busy with other
// tests one of five clients is to be as fast as that.
func announcedTo(t *testing.T, b *bed, config, toolbox string) (*wiretest.Client, opened, []byte) {
	t.Helper()
	for range 5 {
		c := b.workbench(config, wiretest.Options{})
		c.Initialize(wiretest.Legacy, noCapabilities)
		listedAtFirst(t, c.Client)
		if opened, result, inOrder := announcedInOrder(t, c.Client, toolbox); inOrder {
			return c.Client, opened, result
		}
		c.CloseInput()
		c.Exit()
	}
	t.Fatal("none of five clients had the new list before the open result")
	return nil, opened{}, nil
}

// announcedInOrder opens a toolbox, lists again when told to, and reports whether the list came before the result.
func announcedInOrder(t *testing.T, c *wiretest.Client, toolbox string) (_ opened, result []byte, inOrder bool) {
	t.Helper()
	from := c.Mark()
	id := c.Request("tools/call", openParams(toolbox))
	c.Notification(from, toolsChanged)
	listed := c.Request("tools/list", "")
	list := c.Reply(listed).Result
	reply := c.Reply(id)

	transcript := c.Transcript(from)
	changed := place(transcript, func(m wiretest.Message) bool { return m.IsNotification(toolsChanged) })
	relisted := place(transcript, func(m wiretest.Message) bool { return m.IsReply(listed) })
	done := place(transcript, func(m wiretest.Message) bool { return m.IsReply(id) })
	if changed > min(relisted, done) {
		t.Errorf("got list_changed at %d, the new list at %d, the open result at %d, want the news first", changed, relisted, done)
	}
	opened := decode[opened](t, "open", decode[toolResult](t, "open", reply.Result).Structured)
	want := metaTools()
	for _, tool := range opened.Tools {
		want = append(want, tool.Exposed)
	}
	if got := names(t, list, "tools"); !slices.Equal(got, want) {
		t.Errorf("got tools %q want %q", got, want)
	}
	return opened, reply.Result, relisted < done
}

// TestOpenWithoutListing: a client that never lists again gets the result all the same.
func TestOpenWithoutListing(t *testing.T) {
	b := newBed(t)
	for _, mode := range []string{"auto", "dynamic", "proxy"} {
		t.Run(mode, func(t *testing.T) {
			b := b.in(t)
			c := b.workbench(b.farConfig(mode), wiretest.Options{})
			c.Initialize(wiretest.Legacy, noCapabilities)
			// Not the helper, which lists.
			result := decode[toolResult](t, "open", c.Result("tools/call", openParams("spare")))
			opened := decode[opened](t, "structuredContent of open", result.Structured)
			used := decode[toolResult](t, "use", c.Result("tools/call",
				`{"name":"workbench_use_tool","arguments":{"toolbox_name":"spare","tool_name":"echo","arguments":{"message":"hi"}}}`))
			if got, want := used.text(), "Echo: hi"; got != want {
				t.Errorf("got %q want %q", got, want)
			}
			announced := place(c.Transcript(0), func(m wiretest.Message) bool { return m.IsNotification(toolsChanged) }) >= 0
			listed := names(t, c.Result("tools/list", ""), "tools")
			if mode == "proxy" {
				if announced {
					t.Error("got a list_changed in the mode that registers nothing")
				}
				if !slices.Equal(listed, metaTools()) {
					t.Errorf("got tools %q want %q", listed, metaTools())
				}
				return
			}
			if !announced {
				t.Error("got no list_changed")
			}
			if want := len(metaTools()) + len(opened.Tools); len(listed) != want {
				t.Errorf("got %d tools want %d", len(listed), want)
			}
		})
	}
}

// testOpenResult: the result describes the servers and has each tool's definition as its server gave it, in text and as
// data; opening again says the same.
func testOpenResult(t *testing.T, s session) {
	c, first := s.client, s.result
	result := decode[toolResult](t, "open", first)
	opened := decode[opened](t, "open", result.Structured)
	for _, tool := range opened.Tools {
		if !strings.Contains(result.text(), "\n"+tool.Name+"(") {
			t.Errorf("the text of the open has no line for %s", tool.Name)
		}
	}

	if opened.Toolbox != "dev" || opened.Description != "Development environment tools" || opened.Connected != 3 {
		t.Errorf("got toolbox %q, description %q, %d servers connected, want those of dev and 3",
			opened.Toolbox, opened.Description, opened.Connected)
	}
	var want []openedTool
	for i, name := range servers() {
		list := items(t, s.plainly(name).lists["tools/list"], "tools")
		if got := opened.Servers[i]; got.Name != name || got.State != "ready" || got.Tools != len(list) || got.Error != "" {
			t.Errorf("got server %+v want %s ready with %d tools", got, name, len(list))
		}
		for _, item := range list {
			tool := decode[openedTool](t, "tool", item)
			tool.Server, tool.Toolbox = name, "dev"
			tool.Exposed = fmt.Sprintf("dev__%s__%s", name, tool.Name)
			want = append(want, tool)
		}
	}
	wiretest.Same(t, "tools of open", []byte(wiretest.JSON(opened.Tools)), []byte(wiretest.JSON(want)))
	wiretest.SameBytes(t, "opening again", c.Result("tools/call", openParams("dev")), first)
	later := strings.Replace(openParams("dev"), "workbench_open_toolbox", "open_toolbox", 1)
	wiretest.SameBytes(t, "opening by the later name", c.Result("tools/call", later), first)
	short := strings.Replace(openParams("dev"), "toolbox_name", "toolbox", 1)
	wiretest.SameBytes(t, "opening with the short argument", c.Result("tools/call", short), first)
}

// TestOpenWithSickServers: one that is not there and one that dies are named with the reason, and the rest works.
func TestOpenWithSickServers(t *testing.T) {
	b := newBed(t)
	dies := wiretest.JSON(map[string]any{"command": b.node, "args": []string{"-e", `console.error("no licence"); process.exit(3)`}})
	config := fmt.Sprintf(`{"toolboxes": {
		"mixed": {"mcpServers": {"missing": {"command": "no-such-program"}, "dies": %s, "everything": %s}},
		"sick": {"mcpServers": {"missing": {"command": "no-such-program"}}}}}`, dies, b.server("everything"))
	c := b.workbench(config, wiretest.Options{})
	c.Initialize(wiretest.Legacy, noCapabilities)

	opened := open(t, c.Client, "mixed")
	if opened.Connected != 1 || opened.Servers[2].State != "ready" {
		t.Errorf("got %d servers connected and %+v, want 1 and everything ready", opened.Connected, opened.Servers)
	}
	for i, wants := range [][]string{{"no-such-program"}, {"3", "no licence"}} {
		got := opened.Servers[i]
		if got.State == "ready" || got.Tools != 0 {
			t.Errorf("got %+v, want it not ready", got)
		}
		for _, want := range wants {
			if !strings.Contains(got.Error, want) {
				t.Errorf("server %s: got error %q, want it to say %q", got.Name, got.Error, want)
			}
		}
	}
	call := fmt.Sprintf(`{"name":%q,"arguments":{"message":"hi"}}`, opened.exposed(t, "everything", "echo"))
	if got, want := decode[toolResult](t, "echo", c.Result("tools/call", call)).text(), "Echo: hi"; got != want {
		t.Errorf("got %q want %q", got, want)
	}
	sick := decode[toolResult](t, "open", c.Result("tools/call", openParams("sick")))
	if !sick.IsError || !strings.Contains(sick.text(), "no-such-program") {
		t.Errorf("got isError %v and %q, want an error that names the program", sick.IsError, sick.text())
	}
}

// TestToolFilters: only the tools that the filters let through are offered, listed and found.
func TestToolFilters(t *testing.T) {
	b := newBed(t)
	tests := []struct {
		name, filters string
		want          []string
	}{
		{"everything but", `["*", "!get-*", "!t*", "!s*", "!gzip-file-as-resource"]`, []string{"echo"}},
		{"exact names", `["get-sum", "echo"]`, []string{"echo", "get-sum"}},
		{"globs", `["get-r*-?i*"]`, []string{"get-resource-links"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := b.in(t)
			config := fmt.Sprintf(`{"toolboxes": {"few": {"mcpServers": {"everything": %s, "toolFilters": %s}}}}}`,
				strings.TrimSuffix(b.far(), "}"), test.filters)
			c := b.workbench(config, wiretest.Options{})
			c.Initialize(wiretest.Legacy, noCapabilities)
			var got []string
			for _, tool := range open(t, c.Client, "few").Tools {
				got = append(got, tool.Name)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got tools %q want %q", got, test.want)
			}
			if got, want := len(names(t, c.Result("tools/list", ""), "tools")), len(metaTools())+len(test.want); got != want {
				t.Errorf("got %d tools listed want %d", got, want)
			}
			hidden := c.Call("tools/call", `{"name":"use_tool","arguments":{"toolbox_name":"few","tool_name":"get-env","arguments":{}}}`)
			if !decode[toolResult](t, "use", hidden.Result).IsError {
				t.Errorf("got result %s of a tool that was filtered out", wiretest.Clip(string(hidden.Result)))
			}
		})
	}
}

// TestServeToolbox: one toolbox chosen at the start is served as it is, under the tools' own names.
func TestServeToolbox(t *testing.T) {
	b := newBed(t)
	c := b.workbench(b.config("auto"), wiretest.Options{}, "serve", "--toolbox", "dev")
	c.Initialize(wiretest.Legacy, noCapabilities)
	got := map[string]json.RawMessage{}
	for _, item := range items(t, c.Result("tools/list", ""), "tools") {
		got[decode[struct{ Name string }](t, "tool", item).Name] = item
	}
	for _, name := range servers() {
		for _, item := range items(t, b.plainly(name).lists["tools/list"], "tools") {
			tool := decode[struct{ Name string }](t, "tool", item).Name
			wiretest.SameBytes(t, "definition of "+tool, got[tool], item)
		}
	}
	result := c.Result("tools/call", `{"name":"echo","arguments":{"message":"hi"}}`)
	if got, want := decode[toolResult](t, "echo", result).text(), "Echo: hi"; got != want {
		t.Errorf("got %q want %q", got, want)
	}
}
