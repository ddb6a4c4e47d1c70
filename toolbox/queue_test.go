package toolbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

func atMost(n int) func(*config.Server) {
	return func(s *config.Server) { s.MaxInFlight = n }
}

// sendTool makes a call and does not wait for it.
func sendTool(t *testing.T, s *toolbox.Server, name, arguments string) (*toolbox.Call, *handler) {
	t.Helper()
	c, h := newCall(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":1}}}`, name, arguments))
	s.Send(c)
	return c, h
}

// A server has no more calls than it may at any time; the others take their turn in the order they came, and none is
// lost.
func TestQueueTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := within(t, toolbox.Options{}, always(&mcptest.Server{}), atMost(3))
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var all []*handler
		for range 10 {
			_, h := sendTool(t, s, "sleep", `{"n":10000}`)
			all = append(all, h)
		}
		if got := s.Counts().Read(); got.InFlight != 3 || got.Queued != 7 {
			t.Errorf("got %d in flight and %d queued, want 3 and 7", got.InFlight, got.Queued)
		}
		for i, h := range all {
			if err := <-h.done; err != nil {
				t.Fatalf("call %d: %v", i, err)
			}
			since(t, fmt.Sprintf("reply %d", i), began, time.Duration(i/3+1)*10*time.Second)
		}
		if got := s.Counts().Read(); got.InFlight != 0 || got.Queued != 0 || got.Refused != 0 {
			t.Errorf("at the end: got %+v, want nothing in flight, queued or refused", got)
		}
	})
}

// What is not ours to hold up is not held up: requests of workbench itself.
func TestQueueIsForClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := within(t, toolbox.Options{}, always(&mcptest.Server{}), atMost(1))
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		sendTool(t, s, "hang", "{}")
		began := time.Now()
		if _, err := s.Request(t.Context(), "tools/list", nil); err != nil {
			t.Error(err)
		}
		since(t, "the list", began, 0)
	})
}

// A call that waits can be cancelled, and is then never made; its place is free.
func TestQueueCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := within(t, toolbox.Options{}, always(&mcptest.Server{}), atMost(1))
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		first, _ := sendTool(t, s, "hang", "{}")
		second, h2 := sendTool(t, s, "add_tool", `{"text":"cancelled"}`)
		_, h3 := sendTool(t, s, "progress", `{"n":2,"ms":10}`)
		second.Cancel(nil, wire.Span{})
		if got := s.Counts().Read().Queued; got != 1 {
			t.Errorf("got %d queued after a cancel, want 1", got)
		}
		began := time.Now()
		first.Cancel(nil, wire.Span{}) // which makes room
		if err := <-h3.done; err != nil {
			t.Error(err)
		}
		since(t, "the reply to a call that had waited", began, 20*time.Millisecond)
		if got := len(h3.progress); got != 2 {
			t.Errorf("got %d notifications of a call that had waited, want 2", got)
		}
		if len(h2.done) > 0 {
			t.Error("a cancelled call was told of its end")
		}
		time.Sleep(time.Minute)
		if strings.Contains(strings.Join(keys(s.Items(toolbox.Tools)), " "), "cancelled") {
			t.Error("a call that was cancelled while it waited was made")
		}
	})
}

// The queue is bounded in number and in bytes; what is over is told so at once.
func TestQueueIsBounded(t *testing.T) {
	for _, tt := range []struct {
		name      string
		arguments string
		want      int // calls that wait
	}{
		{"in number", `{}`, 1024},
		{"in bytes", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, s := within(t, toolbox.Options{}, always(&mcptest.Server{}), atMost(2))
				if err := b.Open(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					sendTool(t, s, "hang", "{}")
				}
				for range tt.want {
					sendTool(t, s, "echo", tt.arguments)
				}
				if got := s.Counts().Read(); got.Queued != tt.want || got.Refused != 0 {
					t.Errorf("got %d queued and %d refused, want %d and none", got.Queued, got.Refused, tt.want)
				}
				_, h := sendTool(t, s, "echo", "{}")
				select {
				case err := <-h.done:
					var over *toolbox.OverloadError
					if !errors.As(err, &over) || over.InFlight != 2 || over.Queued != tt.want || errors.As(err, new(*rpc.LostError)) {
						t.Errorf("got %v, want an OverloadError with the figures", err)
					}
					for _, want := range []string{`"in"`, `"box"`, fmt.Sprint(tt.want), "not sent", "maxInFlight"} {
						if !strings.Contains(fmt.Sprint(err), want) {
							t.Errorf("the error lacks %q: %v", want, err)
						}
					}
				default:
					t.Error("a call over the bound waits")
				}
			})
		})
	}
}

// No call waits for ever: not for a server that is busy, nor for one whose start hangs, nor for one that is being
// stopped.
func TestQueueEnds(t *testing.T) {
	t.Run("busy", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, s := within(t, toolbox.Options{}, always(&mcptest.Server{}), atMost(1), func(s *config.Server) {
				s.Timeouts.CallIdle, s.Timeouts.CallTotal = time.Minute, time.Minute
			})
			if err := b.Open(t.Context(), time.Second); err != nil {
				t.Fatal(err)
			}
			sendTool(t, s, "progress", `{"n":100,"ms":30000}`)
			time.Sleep(time.Second)
			began := time.Now()
			_, h2 := sendTool(t, s, "hang", "{}") // its turn comes when the first is over
			_, h3 := sendTool(t, s, "echo", "{}") // its turn does not come in time
			err := <-h3.done
			since(t, "the end", began, time.Minute)
			var timeout *rpc.TimeoutError
			if !errors.As(err, &timeout) || timeout.What != "queue" || errors.As(err, new(*rpc.LostError)) {
				t.Errorf("got %v, want the queue's time-out", err)
			}
			if got := s.Counts().Read(); got.Queued != 0 || got.InFlight != 1 {
				t.Errorf("got %+v, want one in flight and none queued", got)
			}
			<-h2.done
		})
	})
	t.Run("the start hangs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, s := within(t, toolbox.Options{}, always(&mcptest.Server{Silent: []string{"initialize"}}))
			if err := b.Open(t.Context(), time.Second); err != nil {
				t.Fatal(err)
			}
			_, h := sendTool(t, s, "echo", "{}") // within the first start
			began := time.Now()
			err := <-h.done
			if took := time.Since(began); took < 29*time.Second || took > 65*time.Second {
				t.Errorf("got the end after %s, want it after the second start at the latest", took)
			}
			var timeout *rpc.TimeoutError
			if !errors.As(err, new(*toolbox.UnavailableError)) || !errors.As(err, &timeout) || timeout.What != "start" {
				t.Errorf("got %v, want that the start took too long", err)
			}
		})
	})
	t.Run("close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, s := within(t, toolbox.Options{}, always(&mcptest.Server{}), atMost(1))
			if err := b.Open(t.Context(), time.Second); err != nil {
				t.Fatal(err)
			}
			sendTool(t, s, "hang", "{}")
			_, h := sendTool(t, s, "echo", "{}")
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			if err := <-h.done; !errors.As(err, new(*toolbox.UnavailableError)) {
				t.Errorf("got %v, want that it is not available", err)
			}
		})
	})
}

// Calls that wait when the server dies are made by the next one: it has not seen them.
func TestQueueOutlivesACrash(t *testing.T) {
	cfg := childServer("s", "")
	cfg.MaxInFlight = 1
	b := open(t, toolbox.Options{}, cfg)
	s := server(t, b, "s")
	c, lost := newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}`)
	s.Send(c)
	var waiting []*handler
	for range 20 {
		_, h := sendTool(t, s, "echo", "{}")
		waiting = append(waiting, h)
	}
	if _, err := callTool(t, s, "exit", `{"n":3}`); err == nil {
		t.Fatal("the call of exit has a result")
	}
	if err := <-lost.done; !errors.As(err, new(*rpc.LostError)) {
		t.Errorf("the call in flight: got %v, want it lost", err)
	}
	for i, h := range waiting {
		if err := <-h.done; err != nil {
			t.Errorf("call %d that waited: %v", i, err)
		}
	}
	if got := s.Status().Starts; got != 2 {
		t.Errorf("got %d starts, want 2", got)
	}
}
