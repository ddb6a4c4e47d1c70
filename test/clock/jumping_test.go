//go:build linux && amd64 && jumpingclock

package clock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
	_ "unsafe" // for the clock

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/rate"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

//go:linkname jump runtime.jump
var jump int64

// set puts the wall clock forward, or back.
func set(t *testing.T, by time.Duration) {
	before := time.Now()
	atomic.StoreInt64(&jump, int64(by/time.Second))
	t.Cleanup(func() { atomic.StoreInt64(&jump, 0) })
	if after := time.Now(); after.Round(0).Sub(before.Round(0)) < by-time.Minute || after.Sub(before) > time.Minute {
		t.Fatalf("the clock went from %v to %v, want it set by %v", before, after, by)
	}
}

// TestFaultG57 sets the clock an hour forward and back while something is under way.
func TestFaultG57(t *testing.T) {
	for name, f := range map[string]func(t *testing.T, by time.Duration){
		"a request that waits for its client's answer": parked,
		"a call that was given up":                     givenUp,
		"a turn of a conversation":                     turn,
		"a folder of workflows":                        folder,
		"how often something may be done":              often,
	} {
		for _, by := range []time.Duration{time.Hour, -time.Hour} {
			t.Run(fmt.Sprintf("%s, %v", name, by), func(t *testing.T) { f(t, by) })
		}
	}
}

// inside is a server in this process.
func inside(name string) config.Toolbox {
	return config.Toolbox{Name: "box", Servers: []config.Server{{Name: name, Transport: config.TransportBuiltin, Builtin: "test",
		Timeouts: config.Timeouts{Start: 2 * time.Minute, CallIdle: 5 * time.Minute, CallTotal: 5 * time.Minute}}}}
}

func options() toolbox.Options {
	return toolbox.Options{Peer: toolbox.Nobody{}, Builtins: map[string]toolbox.Builtin{
		"test": func(principal.Principal, config.Server) (wire.Endpoint, error) { return &mcptest.Server{}, nil },
	}}
}

func parked(t *testing.T, by time.Duration) {
	front, err := proxy.New(&config.Config{OpenTimeout: 2 * time.Minute, Toolboxes: []config.Toolbox{inside("s")}}, proxy.Options{Version: "test", Toolbox: options()})
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	got := make(chan []byte, 100)
	c := front.Connect(func(msg []byte) { got <- append([]byte(nil), msg...) })
	defer c.Close(t.Context())
	ask := func(more string) (result struct {
		ResultType, RequestState string
		InputRequests            map[string]any
	}) {
		c.Receive(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_use_tool",
			"arguments":{"toolbox_name":"box","tool_name":"ask","arguments":{"ask":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}}},%s
			"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`, more))
		reply := <-got
		if err := json.Unmarshal(reply, &struct{ Result any }{&result}); err != nil || result.ResultType == "" {
			t.Fatalf("got %s, want a result", reply)
		}
		return result
	}
	question := ask("")
	set(t, by)
	for id := range question.InputRequests {
		if result := ask(fmt.Sprintf(`"requestState":%q,"inputResponses":{%q:{"action":"accept","content":{}}},`, question.RequestState, id)); result.ResultType != "complete" {
			t.Errorf("got %+v, want the result of the call", result)
		}
	}
}

func givenUp(t *testing.T, by time.Duration) {
	b := toolbox.New(inside("s"), options())
	defer b.Close()
	if err := b.Open(t.Context(), 2*time.Minute); err != nil {
		t.Fatal(err)
	}
	s := b.Servers()[0]
	for !s.Counts().Strays() {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, _ = s.CallTool(ctx, "hang", []byte("{}"))
		cancel()
	}
	set(t, by)
	if !s.Counts().Strays() {
		t.Error("with another clock it is forgotten that the server may be at work on a call that was given up")
	}
}

func turn(t *testing.T, by time.Duration) {
	path := filepath.Join(t.TempDir(), "store")
	open := func() *store.Store {
		s, err := store.OpenSQLite(t.Context(), path, func(err error) { t.Error(err) }, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one, other := open(), open()
	defer one.Close()
	defer other.Close()
	session, err := one.Begin(t.Context(), "ada", "c", "w", "")
	if err != nil {
		t.Fatal(err)
	}
	f, err := one.Start(t.Context(), "ada", session.Conversation, store.Request{Key: "1"})
	if err != nil {
		t.Fatal(err)
	}
	set(t, by)
	next, err := other.Start(t.Context(), "ada", session.Conversation, store.Request{Key: "2"})
	_, ended := f.Finish(t.Context(), store.Turn{Status: "done"})
	switch {
	case errors.As(err, new(*store.BusyError)) && ended == nil:
		if next, err = other.Start(t.Context(), "ada", session.Conversation, store.Request{Key: "2"}); err != nil {
			t.Fatal(err)
		}
	case err == nil && by > 0 && errors.Is(ended, store.ErrLost):
		// As after a sleep of that length: the lease is over for others until it is renewed, and who has lost the turn
		// learns it.
	default:
		t.Fatalf("a second turn began with %v, and the first one ended with %v: want one of them alone", err, ended)
	}
	if _, err := next.Finish(t.Context(), store.Turn{}); err != nil {
		t.Error(err)
	}
	turns, err := one.Turns(t.Context(), "ada", session.Conversation, 0)
	if err != nil || len(turns) != 2 || turns[0].Key != "1" || (turns[0].Status == "done") != (ended == nil) {
		t.Errorf("got %+v and %v, want both turns in their order", turns, err)
	}
}

func folder(t *testing.T, by time.Duration) {
	dir := t.TempDir()
	s := definition.NewStore([]definition.Source{{Dir: dir}})
	for i, id := range []string{"one", "two"} {
		text := fmt.Sprintf(`{"id":%q,"name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"t","prompt":"p"}]}`, id)
		if err := os.WriteFile(filepath.Join(dir, id+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		end := time.Now().Add(2 * time.Minute)
		for len(s.Catalogue().Entries) != i+1 {
			if time.Now().After(end) {
				t.Fatalf("got %d workflows, want %d", len(s.Catalogue().Entries), i+1)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if i == 0 {
			set(t, by)
		}
	}
}

func often(t *testing.T, by time.Duration) {
	l := new(rate.Limit)
	l.Set(1)
	l.Take("ada")
	set(t, by)
	if wait := l.Take("ada"); wait <= 0 || wait > time.Minute {
		t.Errorf("got a wait of %v, want what is left of the minute", wait)
	}
}
