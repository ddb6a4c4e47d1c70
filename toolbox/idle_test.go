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
)

const idleTimeout = 10 * time.Minute

func idling(s *config.Server) { s.IdleTimeout = idleTimeout }

func wantState(t *testing.T, s *toolbox.Server, want toolbox.State) {
	t.Helper()
	synctest.Wait()
	if st := s.Status(); st.State != want {
		t.Errorf("got %s (%v), want %s", st.State, st.Cause, want)
	}
}

// A server that nobody uses is stopped, which is no failure; it keeps what it was known to have, and whoever wants it
// gets it.
func TestIdle(t *testing.T) {
	for name, want := range map[string]func(t *testing.T, b *toolbox.Toolbox, s *toolbox.Server) error{
		"a call": func(t *testing.T, _ *toolbox.Toolbox, s *toolbox.Server) error {
			c, h := newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
			s.Send(c)
			return <-h.done
		},
		"a request of our own": func(t *testing.T, _ *toolbox.Toolbox, s *toolbox.Server) error {
			_, err := callTool(t, s, "echo", "{}")
			return err
		},
		"an open": func(t *testing.T, b *toolbox.Toolbox, _ *toolbox.Server) error {
			return b.Open(t.Context(), time.Second)
		},
		"a subscription": func(_ *testing.T, _ *toolbox.Toolbox, s *toolbox.Server) error {
			s.Watch("a:1", true)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, s := within(t, toolbox.Options{}, always(&mcptest.Server{Resources: []string{`{"uri":"a:1"}`}}), idling)
				if err := b.Open(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
				time.Sleep(idleTimeout - time.Nanosecond)
				wantState(t, s, toolbox.Ready)
				time.Sleep(time.Nanosecond)
				wantState(t, s, toolbox.Stopped)
				st := s.Status()
				var idle *toolbox.IdleError
				if !errors.As(st.Cause, &idle) || idle.After != idleTimeout || !st.Next.IsZero() {
					t.Errorf("got cause %v and the next try at %v, want idleness and none", st.Cause, st.Next)
				}
				if got, want := len(s.Items(toolbox.Tools)), len(mcptest.DefaultTools()); got != want || !s.Offers(toolbox.Resources) {
					t.Errorf("got %d tools of a server that was stopped and resources %v, want %d and true", got, s.Offers(toolbox.Resources), want)
				}
				time.Sleep(time.Hour)
				asked := time.Now()
				if err := want(t, b, s); err != nil {
					t.Errorf("got %v, want it to work", err)
				}
				since(t, "the answer", asked, 0)
				wantState(t, s, toolbox.Ready)
				if got := s.Status().Starts; got != 2 {
					t.Errorf("got %d starts, want 2", got)
				}
			})
		})
	}
}

// What is under way, watched or kept holds a server.
func TestNotIdle(t *testing.T) {
	ask := `{"ask":{"method":"roots/list"}}`
	for _, tt := range []struct {
		name string
		use  func(t *testing.T, s *toolbox.Server, p *peer) (end func())
	}{
		{"a call", func(t *testing.T, s *toolbox.Server, _ *peer) func() {
			c, _ := newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}`)
			s.Send(c)
			return func() { c.Cancel(nil, wire.Span{}) }
		}},
		{"a question that the client has not answered", func(t *testing.T, s *toolbox.Server, p *peer) func() {
			c, _ := newCall(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":%s}}`, ask))
			s.Send(c)
			a := <-p.requests
			c.Cancel(nil, wire.Span{})
			return func() { a.Refuse(-1, "no") }
		}},
		{"a subscription", func(_ *testing.T, s *toolbox.Server, _ *peer) func() {
			s.Watch("a:1", true)
			return func() { s.Watch("a:1", false) }
		}},
		{"a task", func(_ *testing.T, s *toolbox.Server, _ *peer) func() {
			s.Keep(3 * idleTimeout)
			return func() {}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer()
				b, s := within(t, toolbox.Options{Peer: p}, always(&mcptest.Server{}), idling, func(s *config.Server) {
					s.Timeouts.CallIdle, s.Timeouts.CallTotal = 24*time.Hour, 24*time.Hour
				})
				if err := b.Open(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
				end := tt.use(t, s, p)
				time.Sleep(3*idleTimeout - time.Nanosecond)
				wantState(t, s, toolbox.Ready)
				end()
				time.Sleep(2*idleTimeout + idleTimeout/8)
				wantState(t, s, toolbox.Stopped)
			})
		})
	}
}

// Use puts the stop off, from its end on; without a limit there is no stop.
func TestIdleFromTheLastUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := within(t, toolbox.Options{}, always(&mcptest.Server{}), idling)
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			time.Sleep(idleTimeout - 30*time.Second)
			if _, err := callTool(t, s, "sleep", `{"n":20000}`); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(idleTimeout - time.Nanosecond)
		wantState(t, s, toolbox.Ready)
		time.Sleep(time.Nanosecond)
		wantState(t, s, toolbox.Stopped)
		if got := s.Status().Starts; got != 1 {
			t.Errorf("got %d starts, want 1", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b, s := within(t, toolbox.Options{IdleTimeout: idleTimeout}, always(&mcptest.Server{}))
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		wantState(t, s, toolbox.Ready) // it is a server of this process, which the default does not concern
	})
}

// Calls that come at the very moment of the stop are made all the same.
func TestIdleRace(t *testing.T) {
	t.Parallel()
	cfg := childServer("s", "")
	cfg.IdleTimeout = time.Millisecond
	b := open(t, toolbox.Options{}, cfg)
	s := server(t, b, "s")
	for i := range 40 {
		c, h := newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
		s.Send(c)
		if err := <-h.done; err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		time.Sleep(time.Duration(i%4) * 500 * time.Microsecond)
	}
	if got := s.Counts().Read(); got.Restarts == 0 || got.Lost > 0 || got.Queued > 0 || got.InFlight > 0 {
		t.Errorf("got %+v, want restarts, nothing lost and nothing left", got)
	}
}

// Three calls in a row without a reply bring a ping, and that without an answer a new start; a server that answers
// anything is left alone.
func TestSilence(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server mcptest.Server
		calls  []string
		want   int // starts
	}{
		{"answers the ping", mcptest.Server{}, []string{"hang", "hang", "hang"}, 1},
		{"answers the ping with an error", mcptest.Server{Refuse: []string{"ping"}}, []string{"hang", "hang", "hang"}, 1},
		{"answers nothing", mcptest.Server{Silent: []string{"ping"}}, []string{"hang", "hang", "hang"}, 2},
		{"answers a call in between", mcptest.Server{Silent: []string{"ping"}}, []string{"hang", "hang", "echo", "hang", "hang"}, 1},
		{"two calls", mcptest.Server{Silent: []string{"ping"}}, []string{"hang", "hang"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var causes []string
				b, s := within(t, toolbox.Options{Event: func(e toolbox.Event) {
					if e.Status.Cause != nil {
						causes = append(causes, e.Status.Cause.Error())
					}
				}}, always(&tt.server))
				if err := b.Open(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
				for _, tool := range tt.calls {
					c, h := newCall(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, tool))
					s.Send(c)
					<-h.done
				}
				time.Sleep(20 * time.Second)
				synctest.Wait()
				if got := s.Status(); got.Starts != tt.want || got.State != toolbox.Ready {
					t.Errorf("got %d starts and %s, want %d and ready", got.Starts, got.State, tt.want)
				}
				if told := strings.Contains(strings.Join(causes, "; "), "ping"); told != (tt.want > 1) {
					t.Errorf("got the causes %q, want the ping among them: %v", causes, tt.want > 1)
				}
			})
		})
	}
}
