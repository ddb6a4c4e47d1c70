//go:build linux

package adversary

import (
	"encoding/json"
	"fmt"
	"strings"
)

// touch says that the resource has changed.
func (h *honest) touch(send func(string)) {
	if !h.modern {
		send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:good"}}`)
		return
	}
	h.mu.Lock()
	ids := h.listens
	h.mu.Unlock()
	for _, id := range ids {
		send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"uri":"x:good"}}`, id))
	}
}

// goodURI is the address that is the honest server's alone.
const goodURI = "workbench://box/good/x:good"

// subscribe wants to be told of each change of the resource of the honest server.
func (c *client) subscribe() {
	if !c.modern {
		if reply := c.request("resources/subscribe", `,"uri":"`+goodURI+`"`, &expected{evil: true}, patience); !strings.Contains(string(reply), `"result":{`) {
			c.w.find("the subscription was answered with %.300q", reply)
		}
		return
	}
	c.request("subscriptions/listen", `,"notifications":{"resourceSubscriptions":["`+goodURI+`"]}`, &expected{evil: true}, 0)
	if !eventually(patience, c.acknowledged.Load) {
		c.w.find("the subscription was not acknowledged")
	}
}

// changed judges the word that a resource has changed.
func (c *client) changed(params string) {
	var of struct{ URI string }
	if json.Unmarshal([]byte(params), &of) == nil && of.URI == goodURI {
		c.updates.Add(1)
		if !c.w.touches {
			c.w.find("somebody else says that the resource of the honest server has changed: %.300q", params)
		}
	}
}

// touch has the resource change, and wants to hear of it.
func (c *client) touch(nonce string) {
	c.alone.RLock()
	defer c.alone.RUnlock()
	before := c.updates.Load()
	reply := c.request("tools/call", fmt.Sprintf(`,"name":"workbench_use_tool","arguments":{"tool":{"toolbox":"box","server":"good","name":"echo"},"arguments":{"nonce":%q,"touch":true}}`, nonce), &expected{evil: true}, patience)
	if !eventually(patience, func() bool { return c.updates.Load() > before || c.cutOff.Load() }) {
		c.w.find("nobody was told that the resource has changed; the call was answered with %.300q", reply)
		return
	}
	c.w.answered(0)
}

// list reads a list, all pages of it, and wants the honest servers' tools in it.
func (c *client) list() {
	c.alone.RLock()
	defer c.alone.RUnlock()
	all, more := "", ""
	for range 100 {
		reply := c.request("tools/list", more, &expected{evil: true}, patience)
		var page struct {
			Result struct{ NextCursor string }
		}
		if reply == nil || json.Unmarshal(reply, &page) != nil {
			c.w.find("tools/list was not answered in %v: %.300q", patience, reply)
			return
		}
		all += string(reply)
		if page.Result.NextCursor == "" {
			break
		}
		more = `,"cursor":` + quote(page.Result.NextCursor)
	}
	for _, name := range []string{"box__good__echo", "box__good__work", "box__far__echo", "box__far__work"} {
		if !c.modern && !strings.Contains(all, `"name":"`+name+`"`) {
			c.w.find("the list lacks %s: %.1000q", name, all)
			return
		}
	}
	c.w.answered(0)
}

// discover asks what the program can do.
func (c *client) discover() {
	c.alone.RLock()
	defer c.alone.RUnlock()
	if reply := c.request("server/discover", "", &expected{evil: true}, patience); !strings.Contains(string(reply), `"2026-07-28"`) {
		c.w.find("server/discover was answered with %.300q", reply)
		return
	}
	c.w.answered(0)
}
