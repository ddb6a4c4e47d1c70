package proxy_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// byHand is a server of the legacy era with one tool, t, whose calls a test answers.
type byHand struct {
	begun chan func(msg []byte) // is given what says something for the server
	call  func(id string, say func(msg []byte))
}

// handling is a session of it.
type handling struct {
	*byHand
	say func([]byte)
}

func (s *byHand) Connect(say func([]byte)) wire.Session {
	s.begun <- say
	return &handling{s, say}
}

func (s *handling) Close(context.Context) error { return nil }

func (s *handling) Receive(msg []byte) {
	m := new(wire.Message)
	if wire.Scan(msg, m) != nil || m.Kind != wire.Request {
		return
	}
	id := string(m.Bytes(m.ID))
	switch string(m.Bytes(m.Method)) {
	case "initialize":
		s.say(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`, id))
	case "tools/list":
		s.say(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}`, id))
	case "tools/call":
		s.call(id, s.say)
	default:
		s.say(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not by hand"}}`, id))
	}
}

// talkByHand has a client talk to a front with that server, s of the toolbox dev.
func talkByHand(t *testing.T, s *byHand) *talk {
	s.begun = make(chan func([]byte), 1)
	front, err := proxy.New(readConfig(t, oneServer), proxy.Options{Version: "test", Toolbox: toolbox.Options{Builtins: map[string]toolbox.Builtin{
		inside: func(principal.Principal, config.Server) (wire.Endpoint, error) { return s, nil },
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return talkTo(t, front)
}

// A server has asked something while no call could carry it, and replies to the next call as that is to carry it: the
// client gets the reply, or it is asked and gets the reply then.
func TestReplyBesideAQuestionThatWaited(t *testing.T) {
	answering := make(chan struct{})
	server := &byHand{call: func(id string, say func([]byte)) {
		go func() {
			<-answering
			say(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`, id))
		}()
		answering <- struct{}{}
	}}
	c := talkByHand(t, server)
	c.say(`{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{%s}}`, meta(""))
	c.hear(`"id":"list"`)
	say := <-server.begun
	for i := range 5000 {
		say(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"q%d","method":"roots/list"}`, i))
		c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"dev__s__t",%s}}`, i, meta(""))
		asked := c.hear(fmt.Sprintf(`"id":%d,`, i))
		if strings.Contains(asked, "input_required") {
			state := field(t, asked, "result", "requestState")
			c.say(`{"jsonrpc":"2.0","id":"again%d","method":"tools/call","params":{"name":"dev__s__t","requestState":%s,"inputResponses":{"r1":{"roots":[]}},%s}}`, i, state, meta(""))
			if got := c.hear(fmt.Sprintf(`"id":"again%d"`, i)); !strings.Contains(got, "done") {
				t.Fatalf("round %d: got %s, want the reply", i, got)
			}
		}
		say(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q%d"}}`, i))
	}
}

// A server that clients share is shared until the last of them has let go of it: while a reload replaces it none of them
// is told of the tasks of another.
func TestTasksOfASharedServerBesideAReload(t *testing.T) {
	served := func(spec, filter string) *config.Config {
		return readConfig(t, `{"toolboxes":{"dev":{"open":true,"mcpServers":{
			"s":{"command":"inside","shared":true,"args":["tools=result","capabilities={\"tools\":{},\"tasks\":{\"list\":{}}}","`+spec+`"]},
			"own":{"command":"inside","args":["tools=a,b"],"toolFilters":["`+filter+`"]}}}}}`)
	}
	front := newFront(t, served("name=old", "a"), "")
	var clients [2]*talk
	var armed atomic.Bool
	told, goOn := make(chan int, len(clients)), make(chan struct{})
	for i := range clients {
		c := &talk{t: t, front: front, got: make(chan string, 100)}
		c.session = front.Connect(func(msg []byte) {
			c.got <- string(msg)
			if armed.Load() && strings.Contains(string(msg), "list_changed") { // the reload goes no further meanwhile
				told <- i
				<-goOn
			}
		})
		c.initialize()
		c.say(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
		c.hear(`"id":"list"`)
		c.say(`{"jsonrpc":"2.0","id":"task","method":"tools/call","params":{"name":"dev__s__result","arguments":{"result":{"task":{"taskId":"of-%d","status":"working",`+
			`"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}}},"task":{"ttl":60000}}}`, i)
		c.hear(`"id":"task"`)
		clients[i] = c
	}
	armed.Store(true)
	var reload sync.WaitGroup
	reload.Go(func() { front.Reload(served("gate="+filepath.Join(t.TempDir(), "none"), "b")) })
	other := 1 - <-told
	clients[other].say(`{"jsonrpc":"2.0","id":"tasks","method":"tasks/list"}`)
	// Its own task is in the list unless the server that has it is replaced for it already.
	if got := clients[other].hear(`"id":"tasks"`); strings.Contains(got, fmt.Sprintf("of-%d", 1-other)) || strings.Contains(got, `"error"`) {
		t.Errorf("got %s, want no task of another client", got)
	}
	close(goOn)
	reload.Wait()
	for _, c := range clients {
		_ = c.session.Close(t.Context())
	}
	_ = front.Close()
}

// Over HTTP a request may be given up as it comes. What is recorded of it then is that.
func TestGivenUpAsItComes(t *testing.T) {
	log := calls.New(calls.Full)
	front := newFrontWith(t, readConfig(t, oneServer), proxy.Options{Calls: log})
	s := front.NewSession(proxy.Client{Principal: principal.Principal{Name: principal.Default}, Send: func([]byte) {}})
	handle := func(format string, args ...any) {
		m := new(incoming.Request)
		if err := wire.Scan(fmt.Appendf(nil, format, args...), &m.Message); err != nil {
			t.Error(err)
		}
		if err := m.Read(); err != nil && m.Kind == wire.Request {
			t.Error(err)
		}
		s.Handle(m, new(counting), 0)
	}
	handle(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	handle(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
	for id := range 2000 {
		var both sync.WaitGroup
		both.Go(func() {
			handle(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"dev__s__echo","arguments":{"a":1},"_meta":{"progressToken":1}}}`, id)
		})
		both.Go(func() { handle(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id) })
		both.Wait()
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for _, call := range log.Calls(calls.Filter{}) {
		if call.Outcome == calls.Running {
			t.Errorf("got %+v, which has ended", call)
		}
	}
	_ = front.Close()
}

// A call that waited for a server which a reload replaces is made of the one in its place. What that asks for it the
// client finds in the answer to the call.
func TestQuestionOfTheServerInThePlaceOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := 0
		opts := proxy.Options{Version: "test"}
		opts.Toolbox.Builtins = map[string]toolbox.Builtin{inside: func(_ principal.Principal, s config.Server) (wire.Endpoint, error) {
			if starts++; starts == 2 {
				return mcptest.New("silent=initialize")
			}
			return mcptest.New(s.Args...)
		}}
		served := func(spec string) *config.Config {
			return readConfig(t, strings.Replace(oneServer, `"inside"`, `"inside","args":["tools=ask","`+spec+`"]`, 1))
		}
		front, err := proxy.New(served("name=old"), opts)
		if err != nil {
			t.Fatal(err)
		}
		c := talkTo(t, front)
		c.say(`{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{%s}}`, meta(""))
		c.hear(`"id":"list"`)
		if _, err := front.Restart(principal.Principal{Admin: true}, "dev", "s"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		const call = `"name":"dev__s__ask","arguments":{"ask":{"method":"elicitation/create","params":{"message":"?"}}}`
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,%s}}`, call, meta(""))
		synctest.Wait()
		front.Reload(served("name=new"))
		state := field(t, c.hear(`"id":1`, "input_required"), "result", "requestState")
		c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{%s,"requestState":%s,"inputResponses":{"r1":{"action":"accept"}},%s}}`, call, state, meta(""))
		c.hear(`"id":2`, "accept")
	})
}
