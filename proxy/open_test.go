package proxy_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/mcptest"
)

// A server that rests after failures is tried again by an open, not by calls.
func TestUseDoesNotRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, false, map[string]*mcptest.Server{"s": {Refuse: []string{"initialize"}}})
		c.initialize()
		open := func(id string) {
			t.Helper()
			c.say(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}}}`, id)
			c.hear(fmt.Sprintf(`"id":%q`, id))
			synctest.Wait()
		}
		starts := func() int { return c.front.Status().Sessions[0].Toolboxes[0].Servers[0].Starts }
		open("first")
		time.Sleep(10 * time.Second) // the circuit is open
		before := starts()
		for i, tool := range []string{`"tool_name":"echo","toolbox_name":"box"`, `"tool":{"toolbox":"box","server":"s","name":"echo"}`} {
			c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{%s}}}`, i, tool)
			c.hear(fmt.Sprintf(`"id":%d`, i), `circuit-open`)
		}
		if got := starts(); got != before {
			t.Errorf("got %d starts after the calls, before %d", got, before)
		}
		open("again")
		if got := starts(); got != before+1 {
			t.Errorf("got %d starts after the open, want %d", got, before+1)
		}
	})
}

// An open holds its result so that the client knows the new tools when it reads it. That is so only if the list leaves
// first, however slowly it is written.
func TestOpenResultFollowsTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := readConfig(t, `{"toolboxes": {"dev": {"mcpServers": {"a": {"command": "inside", "args": ["tools=echo"]}}}}}`)
		var got []string
		session := newFront(t, cfg, "").Connect(func(msg []byte) {
			if strings.Contains(string(msg), `"id":"list"`) {
				synctest.Wait() // what can overtake it does
			}
			got = append(got, string(msg))
		})
		for _, text := range []string{
			`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":"open","method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"dev"}}}`,
			`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`,
		} {
			session.Receive([]byte(text))
			synctest.Wait()
		}
		if err := session.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		at := func(piece string) int {
			return slices.IndexFunc(got, func(msg string) bool { return strings.Contains(msg, piece) })
		}
		if list, open := at(`"id":"list"`), at(`"id":"open"`); list < 0 || open < list {
			t.Errorf("the list is message %d, the result of the open message %d of\n%s\nwant the list first", list, open, strings.Join(got, "\n"))
		}
	})
}

// A client that ends its input right after an open gets its result at once: it lists nothing any more, and the end
// waits no longer than an open may take.
func TestOpenResultBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := connect(t, newFront(t, readConfig(t, `{"toolboxes": {"dev": {"mcpServers": {"a": {"command": "inside", "args": ["tools=echo"]}}}}}`), ""))
		l.initialize("2025-11-25", "{}")
		l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"dev"}}}`)
		l.method("notifications/tools/list_changed")
		began := time.Now()
		got := strings.Join(l.close(), "\n")
		if !strings.Contains(got, `"servers_connected":1`) || time.Since(began) > 0 {
			t.Errorf("after %s got %s, want at once the result of the open", time.Since(began), got)
		}
	})
}
