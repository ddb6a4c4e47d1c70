package proxy_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A call that its client gives up while it waits in workbench does not reach a server.
func TestCallThatIsGivenUpIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := talkTo(t, newFront(t, readConfig(t, `{"openTimeout":"20s","toolboxes":{"dev":{"mcpServers":{
			"mute":{"command":"inside","args":["silent=initialize,server/discover"]},"s":{"command":"inside"}}}}}`), ""))
		c.initialize()
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"echo","arguments":{"note":true}}}}`)
		time.Sleep(5 * time.Second) // it waits for both, one of which might have it
		c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		synctest.Wait()
		c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"s/heard"}}}`)
		if got := c.hear(`"id":2`, "initialized"); strings.Contains(got, "tools/call") {
			t.Errorf("the server heard %s", got)
		}
	})
}

// A list that changes as a subscription begins is told: the client may have read it before it changed.
func TestChangeAsASubscriptionBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const served = `{"toolboxes":{"dev":{"open":true,"mcpServers":{"s":{"command":"inside"%s}}}}}`
		front := newFront(t, readConfig(t, fmt.Sprintf(served, "")), "")
		c := &talk{t: t, front: front, got: make(chan string, 100)}
		c.session = front.Connect(func(msg []byte) {
			c.got <- string(msg)
			if strings.Contains(string(msg), "notifications/subscriptions/acknowledged") {
				front.Reload(readConfig(t, fmt.Sprintf(served, `,"toolFilters":["echo"]`)))
			}
		})
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{%s}}`, meta(""))
		c.hear(`"id":1`, "dev__s__params")
		c.say(`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},%s}}`, meta(""))
		c.hear("notifications/tools/list_changed")
		_ = c.session.Close(t.Context())
		_ = front.Close()
	})
}

// A subscription to a resource that is refused before its server hears of it is none: nothing is kept of it.
func TestSubscriptionRefusedHere(t *testing.T) {
	for name, kind := range map[string]string{"legacy server": "name=legacy", "modern server": "modern"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := talkTo(t, newFront(t, readConfig(t, fmt.Sprintf(`{"toolboxes":{"dev":{"open":true,"mcpServers":{"s":{"command":"inside","args":["resources=a:1","tools=hang",%q]}}}}}`, kind)), ""))
				c.initialize()
				c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
				c.hear(`"id":1`, "hang")
				c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"dev__s__hang"}}`)
				synctest.Wait()
				kept := func() int64 { return c.front.Status().Sessions[0].Kept.Bytes }
				before := kept()
				c.say(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"a:1"}}`)
				c.hear(`"id":2`, "a request with this id is in progress")
				if after := kept(); after != before {
					t.Errorf("got %d bytes kept, want %d as before", after, before)
				}
			})
		})
	}
}
