package toolbox_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Each of what a server does to one call is counted under its own name, once.
func TestCounters(t *testing.T) {
	for _, tt := range []struct {
		name, tool, arguments string
		cancel                bool // the call, before the server is let go on
		want                  toolbox.Counters
	}{
		{name: "a reply", tool: "echo", arguments: `{}`, want: toolbox.Counters{Calls: 1}},
		{name: "an error result is a reply", tool: "iserror", arguments: `{}`, want: toolbox.Counters{Calls: 1}},
		{name: "an error", tool: "fail", arguments: `{}`, want: toolbox.Counters{Calls: 1, Failures: 1}},
		{name: "no reply in time", tool: "hang", arguments: `{}`, want: toolbox.Counters{Calls: 1, Lost: 1}},
		{name: "a reply after the time", tool: "sleep", arguments: `{"n":70000}`, want: toolbox.Counters{Calls: 1, Lost: 1, Late: 1}},
		{name: "a reply after a cancel", tool: "sleep", arguments: `{"n":1000}`, cancel: true, want: toolbox.Counters{Calls: 1, Late: 1}},
		{name: "a reply to a request that was answered", tool: "say", arguments: `{"say":[{"jsonrpc":"2.0","id":1,"result":{}}]}`, want: toolbox.Counters{Calls: 1, Late: 1}},
		{name: "a reply to a request that was not made", tool: "say", arguments: `{"say":[{"jsonrpc":"2.0","id":999,"result":{}}]}`, want: toolbox.Counters{Calls: 1, Unknown: 1}},
		{name: "a reply to a name", tool: "say", arguments: `{"say":[{"jsonrpc":"2.0","id":"x","result":{}}]}`, want: toolbox.Counters{Calls: 1, Unknown: 1}},
		{name: "no message", tool: "say", arguments: `{"say":[{"hello":"world"}]}`, want: toolbox.Counters{Calls: 1, Noise: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, s := within(t, toolbox.Options{}, always(&mcptest.Server{}))
				if err := b.Open(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
				before := s.Counts().Read()
				c, h := newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tt.tool+`","arguments":`+tt.arguments+`}}`)
				s.Send(c)
				if got := s.Counts().Read().InFlight; got > 1 {
					t.Errorf("got %d calls in flight, want one at most", got)
				}
				if tt.cancel {
					synctest.Wait()
					if got := s.Counts().Read().InFlight; got != 1 {
						t.Errorf("got %d calls in flight, want the one", got)
					}
					c.Cancel(nil, wire.Span{})
				} else {
					<-h.done
				}
				time.Sleep(2 * time.Minute)
				got := s.Counts().Read()
				got.Calls -= before.Calls
				if got != tt.want {
					t.Errorf("got %+v, want %+v", got, tt.want)
				}
			})
		})
	}
}

// Restarts are counted, and a call that the end of its server lost.
func TestCountersOverRestarts(t *testing.T) {
	b := open(t, toolbox.Options{}, childServer("s", ""))
	s := server(t, b, "s")
	c, h := newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"exit","arguments":{"n":3}}}`)
	s.Send(c)
	if err := <-h.done; err == nil {
		t.Fatal("the call of exit has a result")
	}
	if _, err := callTool(t, s, "echo", "{}"); err != nil {
		t.Fatal(err)
	}
	if got := s.Counts().Read(); got.Restarts != 1 || got.Lost != 1 || got.InFlight != 0 {
		t.Errorf("got %+v, want one restart, one call lost and none in flight", got)
	}
}

// A notification whose params are null, as some languages write what is absent, is none the worse for it.
func TestNullParams(t *testing.T) {
	b := open(t, toolbox.Options{}, childServer("s", ""))
	s := server(t, b, "s")
	if _, err := callTool(t, s, "noise", `{"text":"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":null}"}`); err != nil {
		t.Fatal(err)
	}
	if got := s.Counts().Read().Noise; got != 0 {
		t.Errorf("got %d lines of noise, want none", got)
	}
}
