package proxy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
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
	for i := range 20000 {
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
