package proxy_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// counting is the outlet of one request.
type counting struct{ finished atomic.Int32 }

func (*counting) Message([]byte)     {}
func (*counting) Behind() bool       { return false }
func (*counting) From() proxy.Origin { return proxy.Origin{} }
func (c *counting) Finish([]byte)    { c.finished.Add(1) }

// Over HTTP requests come while their session is being closed: each is finished once, at the end of the session at the
// latest.
func TestRequestsDuringClose(t *testing.T) {
	cfg := readConfig(t, `{"toolboxes":{}}`)
	for range 100 {
		p, err := proxy.New(cfg, proxy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewSession(proxy.Client{Principal: principal.Principal{Name: principal.Default}, Send: func([]byte) {}})
		var callers sync.WaitGroup
		var outs [3][50]counting
		for of := range uint64(3) {
			callers.Go(func() {
				for id := range 50 {
					m := new(incoming.Request)
					raw := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"none","_meta":{`+
						`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},`+
						`"io.modelcontextprotocol/clientCapabilities":{}}}}`, id)
					if err := wire.Scan(raw, &m.Message); err != nil {
						t.Error(err)
					}
					if err := m.Read(); err != nil {
						t.Error(err)
					}
					s.Handle(m, &outs[of][id], of+1)
				}
			})
		}
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
		callers.Wait()
		for of := range outs {
			for id := range outs[of] {
				if n := outs[of][id].finished.Load(); n != 1 {
					t.Fatalf("a request was finished %d times", n)
				}
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A script that closes standard input before the answers are there is told which calls have none. A call that the
// client cancelled has none either way.
func TestUnansweredAtTheEnd(t *testing.T) {
	t.Parallel()
	l := connect(t, newFront(t, readConfig(t, oneServer), ""))
	l.initialize("2025-11-25", "{}")
	l.send(callOf(1, "dev__s__hang", "{}"))
	l.send(callOf(2, "dev__s__hang", "{}"))
	l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	var replies []string
	for _, text := range l.close() {
		if strings.Contains(text, `"id":`) {
			replies = append(replies, text)
		}
	}
	const want = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the request was not answered before workbench ended`
	if len(replies) != 1 || !strings.HasPrefix(replies[0], want) {
		t.Errorf("got %q, want one that begins with %s", replies, want)
	}
}

// What a session holds at a server that others share is given back at its end: what it subscribed to, unless another
// client has it too, and the questions that it has not answered.
func TestEndOfASessionAtASharedServer(t *testing.T) {
	front := newFront(t, readConfig(t, strings.Replace(oneServer, `"inside"`, `"inside","shared":true,"args":["resources=x:1,x:2","tools=say,heard"]`, 1)), "")
	begin := func() *line {
		l := connect(t, front)
		l.initialize("2025-11-25", `{"elicitation":{}}`)
		l.call(way{}, "1", "tools/list", "", "")
		l.reply("1")
		return l
	}
	stays, goes := begin(), begin()
	subscribe := func(l *line, id, uri string) {
		l.call(way{}, id, "resources/subscribe", fmt.Sprintf(`"uri":%q`, uri), "")
		l.reply(id)
	}
	subscribe(goes, "2", "x:1")
	subscribe(goes, "3", "x:2")
	subscribe(stays, "2", "x:2")
	goes.call(way{}, "4", "tools/call", `"name":"dev__s__say","arguments":{"say":[{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?"}}]}`, "")
	goes.method("elicitation/create")
	goes.reply("4")
	goes.close()
	stays.call(way{}, "4", "tools/call", `"name":"dev__s__heard"`, "")
	got := stays.reply("4")
	for _, want := range []string{`resources/unsubscribe {\"uri\":\"x:1\"}`, `\"id\":\"q\",\"error\"`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
	if strings.Contains(got, `resources/unsubscribe {\"uri\":\"x:2\"}`) {
		t.Errorf("got %s, want what another client has left alone", got)
	}
	stays.close()
	if err := front.Close(); err != nil {
		t.Error(err)
	}
}

// A subscription that the server refuses is none: it does not keep the server from being stopped.
func TestRefusedSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := talkTo(t, newFront(t, readConfig(t, strings.Replace(oneServer, `"inside"`, `"inside","idleTimeout":"10m","args":["resources=x:1","refuse=resources/subscribe"]`, 1)), ""))
		c.initialize()
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		c.hear(`"id":1`)
		c.say(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"x:1"}}`)
		c.hear(`"id":2`, "refused by the test")
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := c.front.Status().Sessions[0].Toolboxes[0].Servers[0].State; got != string(toolbox.Stopped) {
			t.Errorf("got %s, want the server stopped", got)
		}
	})
}
