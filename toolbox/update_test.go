package toolbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// update gives a toolbox other servers and retires those in whose place they are.
func update(b *toolbox.Toolbox, servers ...config.Server) {
	for _, s := range b.Update(config.Toolbox{Name: "box", Servers: servers}) {
		heir, _ := b.Server(s.Name)
		s.Retire(heir)
	}
}

// inside is a server in this process, of the specs of mcptest.
func inside(name string, specs ...string) config.Server {
	return config.Server{Name: name, Transport: config.TransportBuiltin, Builtin: "test", Args: specs,
		Timeouts: config.Timeouts{Start: 30 * time.Second, CallIdle: time.Minute, CallTotal: time.Hour}}
}

func insideOptions() toolbox.Options {
	return toolbox.Options{Builtins: map[string]toolbox.Builtin{
		"test": func(_ principal.Principal, s config.Server) (wire.Endpoint, error) { return mcptest.New(s.Args...) },
	}}
}

// begin sends a call to a server that is ready, which has it when this returns.
func begin(t *testing.T, s *toolbox.Server, tool, arguments string) *handler {
	t.Helper()
	c, h := newCall(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments))
	s.Send(c)
	if got := s.Counts().Read().InFlight; got != 1 {
		t.Fatalf("got %d calls in flight want the one that was sent", got)
	}
	return h
}

// finished wants a call to have slept, as it was asked to.
func (h *handler) finished(t *testing.T) {
	t.Helper()
	if err := <-h.done; err != nil || !bytes.Contains(h.reply, []byte("slept")) {
		t.Errorf("the call under way: got %v, %s want its result", err, h.reply)
	}
}

func TestUpdateKeepsWhatDidNotChange(t *testing.T) {
	t.Parallel()
	plain, other := childServer("plain", ""), childServer("other", "")
	b := open(t, toolbox.Options{}, plain, other)
	s := server(t, b, "plain")
	pid := s.Status().PID
	under := begin(t, s, "sleep", `{"n":300}`)

	plain.ToolFilters = []string{"e*"}
	plain.Timeouts.CallIdle = 30 * time.Second
	changed := childServer("other", "page=3 prompts=greet resources=a:1")
	update(b, changed, plain, childServer("third", ""))

	if got := server(t, b, "plain"); got != s || got.Status().PID != pid {
		t.Errorf("got another server for an entry that is started as before: pid %d want %d", got.Status().PID, pid)
	}
	if got, want := keys(s.Items(toolbox.Tools)), []string{"echo", "env", "exit"}; !slices.Equal(got, want) {
		t.Errorf("after a change of the filters: got tools %v want %v", got, want)
	}
	under.finished(t)
	plain.ToolFilters = nil
	update(b, changed, plain, childServer("third", ""))
	if got, want := len(s.Items(toolbox.Tools)), len(mcptest.DefaultTools()); got != want {
		t.Errorf("without filters: got %d tools want %d", got, want)
	}
	if err := b.Open(t.Context(), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"other", "plain", "third"} {
		if got := b.Servers()[i]; got.Name != name || got.Status().State != toolbox.Ready {
			t.Errorf("server %d: got %s, %s want %s, ready", i, got.Name, got.Status().State, name)
		}
	}
	if got := len(server(t, b, "other").Items(toolbox.Prompts)); got != 1 {
		t.Errorf("the changed server: got %d prompts want the 1 of its new command", got)
	}
}

func TestUpdateReplacesWhatChanged(t *testing.T) {
	t.Parallel()
	events := make(chan toolbox.Event, 100)
	b := open(t, toolbox.Options{Event: func(e toolbox.Event) { events <- e }}, childServer("plain", ""))
	old := server(t, b, "plain")
	pid := old.Status().PID
	under := begin(t, old, "sleep", `{"n":500}`)

	changed := childServer("plain", "")
	changed.Env["MARK"] = "new"
	update(b, changed)
	now := server(t, b, "plain")
	if now == old {
		t.Fatal("got the same server for an entry that is started in another way")
	}
	if got, want := keys(now.Items(toolbox.Tools)), keys(old.Items(toolbox.Tools)); !slices.Equal(got, want) {
		t.Errorf("while it starts: got tools %v want those of the one before, %v", got, want)
	}
	for _, it := range now.Items(toolbox.Tools) {
		if it.Server != now {
			t.Fatalf("tool %s belongs to the server before", it.Key)
		}
	}
	// Who looked the server up before the change is served by the new one.
	for _, s := range []*toolbox.Server{now, old} {
		text, err := callTool(t, s, "env", `{}`)
		if err != nil || !strings.Contains(text, "MARK=new") {
			t.Errorf("a call after the change: got %v, %.100s want it to reach the new server", err, text)
		}
	}
	under.finished(t)
	if got := now.Status().PID; got == pid || got == 0 {
		t.Errorf("got pid %d, want another than %d", got, pid)
	}
	for e := range events {
		if e.Status.State == toolbox.Stopped {
			break // the old one, when it had nothing left to do
		}
	}
	if got := old.Status(); got.PID != 0 {
		t.Errorf("the old server: got %+v want it stopped", got)
	}
}

func TestUpdateRemoves(t *testing.T) {
	t.Parallel()
	b := open(t, toolbox.Options{}, childServer("plain", ""), childServer("other", ""))
	old := server(t, b, "plain")
	under := begin(t, old, "sleep", `{"n":300}`)
	update(b, childServer("other", ""))
	if _, ok := b.Server("plain"); ok {
		t.Error("the server that was removed is still there")
	}
	_, err := callTool(t, old, "echo", `{}`)
	var gone *toolbox.UnavailableError
	if !errors.Is(err, toolbox.ErrRetired) || !errors.As(err, &gone) || gone.Server != "plain" {
		t.Errorf("a call after the change: got %v want that the server was removed", err)
	}
	under.finished(t)
}

func TestRetireToolbox(t *testing.T) {
	t.Parallel()
	b := open(t, toolbox.Options{}, childServer("plain", ""))
	s := server(t, b, "plain")
	under := begin(t, s, "sleep", `{"n":300}`)
	if err := b.Retire(t.Context()); err != nil {
		t.Error(err)
	}
	under.finished(t)
	if got := s.Status().State; got != toolbox.Stopped {
		t.Errorf("got state %s want stopped", got)
	}
}

func TestDrainIsBounded(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(b *toolbox.Toolbox)
		want time.Duration
		text string
	}{
		{"removed", func(b *toolbox.Toolbox) { update(b) }, 30 * time.Second, "was not finished 30s later"},
		{"replaced", func(b *toolbox.Toolbox) { update(b, inside("in", "page=3")) }, 30 * time.Second, "was not finished 30s later"},
		{"closed meanwhile", func(b *toolbox.Toolbox) { update(b); time.Sleep(time.Second); _ = b.Close() }, time.Second, "toolbox is closed"},
		{"retired until", func(b *toolbox.Toolbox) {
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
			defer cancel()
			_ = b.Retire(ctx)
		}, 3 * time.Second, "toolbox is closed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := open(t, insideOptions(), inside("in"))
				s := server(t, b, "in")
				under := begin(t, s, "hang", `{}`)
				began := time.Now()
				tt.end(b)
				err := <-under.done
				since(t, "the end of the call", began, tt.want)
				if lost := (*rpc.LostError)(nil); !errors.As(err, &lost) || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("got %v want it lost, with %q", err, tt.text)
				}
			})
		})
	}
}

// TestUpdateOfTimeouts covers that calls under way follow other time-outs.
func TestUpdateOfTimeouts(t *testing.T) {
	for _, tt := range []struct {
		name string
		idle time.Duration
		want time.Duration
	}{
		{"shorter", 10 * time.Second, 10 * time.Second},
		{"shorter than what is over", time.Second, 5 * time.Second},
		{"longer", 90 * time.Second, 90 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := open(t, insideOptions(), inside("in"))
				s := server(t, b, "in")
				began := time.Now()
				under := begin(t, s, "hang", `{}`)
				time.Sleep(5 * time.Second)
				other := inside("in")
				other.Timeouts.CallIdle = tt.idle
				update(b, other)
				if err := <-under.done; !errors.As(err, new(*rpc.TimeoutError)) {
					t.Errorf("got %v want a time-out", err)
				}
				since(t, "the end of the call", began, tt.want)
			})
		})
	}
}

// TestUpdateUnderLoad covers that no call is lost while the server that it is for is replaced again and again.
func TestUpdateUnderLoad(t *testing.T) {
	opts, p := insideOptions(), newPeer()
	p.changed = make(chan toolbox.Kind, 1000)
	opts.Peer = p
	b := open(t, opts, inside("in"))
	var stop atomic.Bool
	var calls atomic.Int64
	var load sync.WaitGroup
	for worker := range 4 {
		load.Go(func() {
			s := server(t, b, "in")
			for i := 0; !stop.Load(); i++ {
				if i%7 == 0 {
					s = server(t, b, "in") // else as it was looked up a while ago
				}
				want := fmt.Sprintf(`%d-%d`, worker, i)
				text, err := callTool(t, s, "echo", fmt.Sprintf(`{"text":%q}`, want))
				if err != nil || !strings.Contains(text, want) {
					t.Errorf("call %s: got %v, %s", want, err, text)
					return
				}
				calls.Add(1)
			}
		})
	}
	for i := range 200 {
		update(b, inside("in", fmt.Sprintf("page=%d", i+5)))
		for seen := calls.Load(); calls.Load() < seen+20 && !t.Failed(); {
			time.Sleep(100 * time.Microsecond) // the load is given its turn
		}
	}
	stop.Store(true)
	load.Wait()
	t.Logf("%d calls during 200 updates", calls.Load())
}

// TestUpdateOfIdleness covers that a server that runs is stopped by an idle time-out that it did not have when it was
// started, and not by one that is gone.
func TestUpdateOfIdleness(t *testing.T) {
	for _, tt := range []struct {
		name    string
		was, is time.Duration
		want    toolbox.State
	}{
		{"given one", 0, time.Minute, toolbox.Stopped},
		{"given a shorter one", time.Hour, time.Minute, toolbox.Stopped},
		{"given a longer one", 30 * time.Second, time.Hour, toolbox.Ready},
		{"freed of it", 30 * time.Second, config.NeverIdle, toolbox.Ready},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := inside("in")
				cfg.IdleTimeout = tt.was
				b := open(t, insideOptions(), cfg)
				s := server(t, b, "in")
				time.Sleep(20 * time.Second)
				cfg.IdleTimeout = tt.is
				update(b, cfg)
				time.Sleep(59 * time.Second)
				if got := s.Status().State; got != toolbox.Ready {
					t.Errorf("after 59 s: got %s want ready", got)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if got := s.Status().State; got != tt.want {
					t.Errorf("after 61 s: got %s want %s", got, tt.want)
				}
			})
		})
	}
}

// TestUpdateOfMaxInFlight covers that calls which wait for room get it.
func TestUpdateOfMaxInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := inside("in")
		cfg.MaxInFlight = 1
		b := open(t, insideOptions(), cfg)
		s := server(t, b, "in")
		begin(t, s, "hang", `{}`)
		c, h := newCall(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}`)
		s.Send(c)
		if got := s.Counts().Read().Queued; got != 1 {
			t.Fatalf("got %d calls waiting want 1", got)
		}
		cfg.MaxInFlight = 2
		update(b, cfg)
		if err := <-h.done; err != nil || h.reply == nil {
			t.Errorf("got %v, %s want the call done", err, h.reply)
		}
	})
}

// Who opens a toolbox does not wait for a server that is taken out meanwhile.
func TestOpenWaitsForNoRetiredServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := inside("slow", "silent=initialize,server/discover")
		slow.Timeouts.Start = 24 * time.Hour
		opts := insideOptions()
		opts.Peer = newPeer()
		b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{slow}}, opts)
		defer b.Close()
		began := time.Now()
		opened := make(chan error, 1)
		go func() { opened <- b.Open(t.Context(), time.Hour) }()
		synctest.Wait()
		update(b, inside("other"))
		if err := <-opened; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the open took %v, want no wait", took)
		}
	})
}

// What is watched at a server is watched again when that comes back into the configuration, unless the client said
// otherwise meanwhile.
func TestUpdateKeepsWhatIsWatched(t *testing.T) {
	off := inside("a", "resources=x:1")
	off.Disabled = true
	for name, between := range map[string][]config.Server{"removed": nil, "disabled": {off}, "changed": {inside("a", "resources=x:1,y:1")}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := open(t, insideOptions(), inside("a", "resources=x:1"))
				before := server(t, b, "a")
				before.Watch("x:1", true)
				before.Watch("x:2", true)
				update(b, between...)
				before.Watch("x:2", false)
				update(b, inside("a", "resources=x:1"))
				if err := b.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				heard, err := callTool(t, server(t, b, "a"), "heard", "{}")
				if err != nil || strings.Count(heard, "resources/subscribe") != 1 || !strings.Contains(heard, "x:1") {
					t.Errorf("the server heard %s, %v, want one subscription, of x:1", heard, err)
				}
			})
		})
	}
}
