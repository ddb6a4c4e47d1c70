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

// TestModern is what tests have in common that need a client of revision 2026-07-28 and all servers.
func TestModern(t *testing.T) {
	b := newBed(t)
	c := b.workbench(b.farConfig("auto"), wiretest.Options{})
	for _, test := range []struct {
		name string
		run  func(*testing.T, *bed, *wiretest.Client)
	}{
		{"version", testModernVersion},
		{"lists", testModernLists},
		{"calls", testModernCalls},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, b.in(t), c.In(t)) })
	}
}

// testModernLists: without a handshake, lists are static and every tool is reached through workbench_use_tool.
func testModernLists(t *testing.T, _ *bed, c *wiretest.Client) {
	discovered := decode[struct {
		SupportedVersions []string
		Capabilities      map[string]json.RawMessage
		TTLMs             *int
		CacheScope        string
	}](t, "server/discover", modern(t, c, "server/discover", ""))
	if !slices.Contains(discovered.SupportedVersions, wiretest.ModernOnly) {
		t.Errorf("got versions %q, want %s among them", discovered.SupportedVersions, wiretest.ModernOnly)
	}
	if discovered.Capabilities["tools"] == nil || discovered.TTLMs == nil || discovered.CacheScope == "" {
		t.Errorf("got %+v, want tools, ttlMs and cacheScope", discovered)
	}
	list := modern(t, c, "tools/list", "")
	if got := names(t, list, "tools"); !slices.Equal(got, metaTools()) {
		t.Errorf("got tools %q want %q", got, metaTools())
	}
	for _, member := range []string{`"ttlMs"`, `"cacheScope"`} {
		if !strings.Contains(string(list), member) {
			t.Errorf("got list %s, want %s in it", wiretest.Clip(string(list)), member)
		}
	}
	// spare was never opened: use_tool opens it.
	used := modern(t, c, "tools/call",
		`{"name":"workbench_use_tool","arguments":{"toolbox_name":"spare","tool_name":"echo","arguments":{"message":"hi"}}}`)
	if got, want := decode[toolResult](t, "echo", used).text(), "Echo: hi"; got != want {
		t.Errorf("got %q want %q", got, want)
	}
	open := func() opened {
		reply := decode[toolResult](t, "open", modern(t, c, "tools/call", openParams("dev")))
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
	wiretest.SameBytes(t, "tools/list after open", modern(t, c, "tools/list", ""), list)
	if at := place(c.Transcript(0), func(m wiretest.Message) bool { return m.IsNotification(toolsChanged) }); at >= 0 {
		t.Error("got a list_changed that nobody subscribed to")
	}
}

// testModernCalls: results are the server's own, with the member that this revision adds.
func testModernCalls(t *testing.T, b *bed, c *wiretest.Client) {
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

// testModernVersion: a version nobody has is refused with those that are spoken, and the next request works.
func testModernVersion(t *testing.T, _ *bed, c *wiretest.Client) {
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
	modern(t, c, "tools/list", "")
}
