package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// modern makes a request of revision 2026-07-28 and returns its result, which must be complete.
func modern(tb testing.TB, c *wiretest.Client, method, params string) json.RawMessage {
	tb.Helper()
	result := c.Result(method, wiretest.Modern(params, noCapabilities))
	if got := decode[struct{ ResultType string }](tb, method, result).ResultType; got != "complete" {
		tb.Errorf("%s: got resultType %q want complete", method, got)
	}
	return result
}

// TestModern: without a handshake, lists are static and every tool is reached through workbench_use_tool.
func TestModern(t *testing.T) {
	b := newBed(t)
	c := b.workbench(b.config("auto"), wiretest.Options{})

	discovered := decode[struct {
		SupportedVersions []string
		Capabilities      map[string]json.RawMessage
		TTLMs             *int
		CacheScope        string
	}](t, "server/discover", modern(t, c.Client, "server/discover", ""))
	if !slices.Contains(discovered.SupportedVersions, wiretest.ModernOnly) {
		t.Errorf("got versions %q, want %s among them", discovered.SupportedVersions, wiretest.ModernOnly)
	}
	if discovered.Capabilities["tools"] == nil || discovered.TTLMs == nil || discovered.CacheScope == "" {
		t.Errorf("got %+v, want tools, ttlMs and cacheScope", discovered)
	}
	list := modern(t, c.Client, "tools/list", "")
	if got := names(t, list, "tools"); !slices.Equal(got, metaTools()) {
		t.Errorf("got tools %q want %q", got, metaTools())
	}
	for _, member := range []string{`"ttlMs"`, `"cacheScope"`} {
		if !strings.Contains(string(list), member) {
			t.Errorf("got list %s, want %s in it", wiretest.Clip(string(list)), member)
		}
	}
	// spare was never opened: use_tool opens it.
	used := modern(t, c.Client, "tools/call",
		`{"name":"workbench_use_tool","arguments":{"toolbox_name":"spare","tool_name":"echo","arguments":{"message":"hi"}}}`)
	if got, want := decode[toolResult](t, "echo", used).text(), "Echo: hi"; got != want {
		t.Errorf("got %q want %q", got, want)
	}
	open := func() opened {
		reply := decode[toolResult](t, "open", modern(t, c.Client, "tools/call", openParams("dev")))
		return decode[opened](t, "open", reply.Structured)
	}
	dev := open()
	if len(dev.Tools) < 30 {
		t.Errorf("got %d tools, want those of 3 servers", len(dev.Tools))
	}
	// A server that is known from the toolbox before is offered while it starts.
	for end := time.Now().Add(time.Minute); dev.Connected < 3 && time.Now().Before(end); dev = open() {
		time.Sleep(50 * time.Millisecond)
	}
	if dev.Connected != 3 {
		t.Errorf("got %d servers connected after a minute, want 3: %+v", dev.Connected, dev.Servers)
	}
	wiretest.SameBytes(t, "tools/list after open", modern(t, c.Client, "tools/list", ""), list)
	if at := place(c.Transcript(0), func(m wiretest.Message) bool { return m.IsNotification(toolsChanged) }); at >= 0 {
		t.Error("got a list_changed that nobody subscribed to")
	}
}

// TestModernCalls: results are the server's own, with the member that this revision adds.
func TestModernCalls(t *testing.T) {
	b := newBed(t)
	c := b.workbench(b.config("auto"), wiretest.Options{})
	for _, server := range servers() {
		t.Run(server, func(t *testing.T) {
			b := b.in(t)
			want := b.outcomes(server)
			defer b.reset()
			for i, call := range b.calls(server) {
				params := fmt.Sprintf(`{"name":"workbench_use_tool","arguments":{"tool":{"toolbox":"dev","server":%q,"name":%q},"arguments":%s}}`,
					server, call.tool, call.arguments)
				got := decode[map[string]json.RawMessage](t, "result", modern(t, c.In(t), "tools/call", params))
				delete(got, "resultType")
				delete(got, "_meta") // who answered
				wiretest.Same(t, call.tool+" "+call.arguments, explained(t, []byte(wiretest.JSON(got))), want[i])
			}
		})
	}
}

// TestModernVersion: a version nobody has is refused with those that are spoken, and the next request works.
func TestModernVersion(t *testing.T) {
	b := newBed(t)
	c := b.workbench(b.config("auto"), wiretest.Options{})
	for _, method := range []string{"server/discover", "tools/list"} {
		params := strings.Replace(wiretest.Modern("", noCapabilities), wiretest.ModernOnly, "2099-01-01", 1)
		reply := c.Call(method, params)
		if reply.Error == nil || reply.Error.Code != -32022 {
			t.Fatalf("%s: got %s want error -32022", method, wiretest.Clip(string(reply.Raw)))
		}
		data := decode[struct {
			Supported []string
			Requested string
		}](t, "data", reply.Error.Data)
		if !slices.Contains(data.Supported, wiretest.ModernOnly) || data.Requested != "2099-01-01" {
			t.Errorf("%s: got data %s want the versions that are spoken and the one that was asked for", method, reply.Error.Data)
		}
	}
	modern(t, c.Client, "tools/list", "")
}

// TestModernOpenToolbox: a toolbox that is marked open is listed from the start, in both eras.
func TestModernOpenToolbox(t *testing.T) {
	b := newBed(t)
	config := fmt.Sprintf(`{"openTimeout": "2m", "toolboxes": {"spare": {"open": true, "mcpServers": {"everything": %s}}}}`, b.server("everything"))
	want := items(t, b.plainly("everything").lists["tools/list"], "tools")
	check := func(t *testing.T, list []byte) {
		t.Helper()
		got := items(t, list, "tools")[len(metaTools()):]
		if len(got) != len(want) {
			t.Fatalf("got %d tools want %d", len(got), len(want))
		}
		for i := range got {
			name := decode[struct{ Name string }](t, "tool", want[i]).Name
			shown := decode[struct{ Name string }](t, "tool", got[i]).Name
			if !strings.HasPrefix("spare__everything__"+name, shown[:min(len(shown), 30)]) {
				t.Errorf("got %s for %s, want spare__everything__ before it, or the beginning of that", shown, name)
			}
			wiretest.SameBytes(t, name, renamed(got[i], shown, name), want[i])
		}
	}
	t.Run("modern", func(t *testing.T) {
		c := b.in(t).workbench(config, wiretest.Options{})
		check(t, modern(t, c.Client, "tools/list", ""))
	})
	t.Run("legacy", func(t *testing.T) {
		c := b.in(t).workbench(config, wiretest.Options{})
		c.Initialize(wiretest.Legacy, noCapabilities)
		check(t, c.Result("tools/list", ""))
	})
}
