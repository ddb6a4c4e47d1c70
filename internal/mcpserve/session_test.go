package mcpserve_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A peer is the client's side of a session.
type peer struct {
	t       *testing.T
	session wire.Session
	heard   chan string
}

func connect(t *testing.T, capabilities string, call func(context.Context, mcpserve.Call) mcpserve.Result) *peer {
	t.Helper()
	server := &mcpserve.Server{Name: "test", Version: "1", Engine: mcpserver.NewMCPServer("test", "1"), Logger: zerolog.New(testLog{t}),
		Requests: map[string]mcpserve.Request{"resources/list": func(context.Context, []byte) ([]byte, error) { panic("it is broken") }},
		Knows:    func(tool string) bool { return tool == "do" }, Call: call, MaxRunning: 2}
	return greet(t, capabilities, server)
}

// greet begins a session and shakes hands.
func greet(t *testing.T, capabilities string, server *mcpserve.Server) *peer {
	t.Helper()
	p := &peer{t: t, heard: make(chan string, 100)}
	p.session = server.Connect(func(msg []byte) { p.heard <- string(msg) })
	p.say(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"tester","version":"1"}}}`)
	p.hear(`"id":"hello"`)
	return p
}

func (p *peer) say(msg string) { p.session.Receive([]byte(msg)) }

// hear waits for a message that has a piece of text in it.
func (p *peer) hear(want string) string {
	p.t.Helper()
	select {
	case got := <-p.heard:
		if !strings.Contains(got, want) {
			p.t.Fatalf("got %s, want %s in it", got, want)
		}
		return got
	case <-time.After(2 * time.Minute):
		p.t.Fatalf("nothing came, want %s", want)
		return ""
	}
}

const call = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"do","arguments":{"a":1}%s}}`

func answer(text string) mcpserve.Result {
	return mcpserve.Result{Text: wire.AppendQuote(nil, text), Structured: []byte(`{}`)}
}

// A call is told who calls, and reports its progress where that was asked for.
func TestCall(t *testing.T) {
	p := connect(t, `{}`, func(_ context.Context, c mcpserve.Call) mcpserve.Result {
		if c.Progress != nil {
			c.Progress("half", []byte(`{"n":1}`))
		}
		return answer(fmt.Sprintf("%s %s %s %t %t %t", c.Client, c.Tool, c.Arguments, c.Era.IsStateless(), c.Elicit != nil, c.Sample != nil))
	})
	p.say(fmt.Sprintf(call, 1, ""))
	p.hear(`tester do {\"a\":1} false false false`)
	p.say(fmt.Sprintf(call, 2, `,"_meta":{"progressToken":"p"}`))
	p.hear(`"params":{"progressToken":"p","progress":1,"message":"half","_meta":{"n":1}}`)
	p.hear(`"id":2`)
	p.say(fmt.Sprintf(call, 3, `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"other","version":"1"}}`))
	p.hear(`other do {\"a\":1} true false false`)
	if err := p.session.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// testLog has a test say what is logged.
type testLog struct{ t *testing.T }

func (l testLog) Write(line []byte) (int, error) {
	l.t.Logf("%s", line)
	return len(line), nil
}

// A panic costs the one request that it was in, of a tool or not, and the session goes on.
func TestFaultB15_PanicInARequest(t *testing.T) {
	p := connect(t, `{}`, func(_ context.Context, c mcpserve.Call) mcpserve.Result {
		if strings.Contains(string(c.Arguments), "1") {
			panic("it is broken")
		}
		return answer("well")
	})
	for range 3 { // more than are worked on at a time
		p.say(fmt.Sprintf(call, 1, ""))
		p.hear(`"id":1,"error":{"code":-32603,"message":"Internal error: this is a fault of the server; its log says more"`)
		p.say(`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`)
		p.hear(`"id":2,"error":{"code":-32603,"message":"Internal error: this is a fault of the server; its log says more"`)
	}
	p.say(strings.Replace(fmt.Sprintf(call, 3, ""), `"a":1`, `"a":2`, 1))
	p.hear(`well`)
	if err := p.session.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A client that takes elicitations is asked, and its answer, its refusal or its silence is what the call gets.
func TestAsk(t *testing.T) {
	p := connect(t, `{"elicitation":{}}`, func(ctx context.Context, c mcpserve.Call) mcpserve.Result {
		result, err := c.Elicit(ctx, []byte(`{"message":"?"}`))
		if err != nil {
			return answer("error: " + err.Error())
		}
		return answer("answer: " + string(result))
	})
	p.say(fmt.Sprintf(call, 1, ""))
	p.hear(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}`)
	p.say(`{"jsonrpc":"2.0","id":7,"result":{}}`) // to no question of ours
	p.say(`{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`)
	p.hear(`answer: {\"action\":\"decline\"}`)
	p.say(fmt.Sprintf(call, 2, ""))
	p.hear(`"id":2,"method":"elicitation/create"`)
	p.say(`{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"not now"}}`)
	p.hear(`error: the client refused: not now`)
	p.say(fmt.Sprintf(call, 3, ""))
	p.hear(`"id":3,"method":"elicitation/create"`)
	p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	p.hear(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	if err := p.session.Close(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case got := <-p.heard:
		t.Errorf("got %s, want no answer to what was cancelled", got)
	default:
	}
}

// A session that is closed answers what it has taken, or cancels it when there is no time.
func TestClose(t *testing.T) {
	entered, leave := make(chan struct{}, 2), make(chan struct{})
	p := connect(t, `{}`, func(ctx context.Context, _ mcpserve.Call) mcpserve.Result {
		entered <- struct{}{}
		select {
		case <-leave:
		case <-ctx.Done():
		}
		return answer("done")
	})
	p.say(fmt.Sprintf(call, 1, ""))
	<-entered
	p.say(fmt.Sprintf(call, 1, ""))
	p.hear(`a request with this id is running`)
	closed := make(chan error, 1)
	go func() { closed <- p.session.Close(context.Background()) }()
	close(leave)
	p.hear(`"id":1,"result"`)
	if err := <-closed; err != nil {
		t.Error(err)
	}

	leave = make(chan struct{})
	p = connect(t, `{}`, func(ctx context.Context, _ mcpserve.Call) mcpserve.Result {
		entered <- struct{}{}
		<-ctx.Done()
		return answer("too late")
	})
	p.say(fmt.Sprintf(call, 1, ""))
	<-entered
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.session.Close(now); err == nil {
		t.Error("got no error from closing in no time, want the reason")
	}
	select {
	case got := <-p.heard:
		t.Errorf("got %s after the end", got)
	default:
	}
}
