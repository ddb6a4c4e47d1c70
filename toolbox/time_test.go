package toolbox_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
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

// within makes a toolbox of one server in this process, made anew at each start, for a test in a bubble of its own
// time. tune changes its configuration.
func within(t *testing.T, opts toolbox.Options, make func(start int) (wire.Endpoint, error), tune ...func(*config.Server)) (*toolbox.Toolbox, *toolbox.Server) {
	t.Helper()
	starts := 0
	opts.Builtins = map[string]toolbox.Builtin{
		"test": func(principal.Principal, config.Server) (wire.Endpoint, error) { starts++; return make(starts) },
	}
	if opts.Peer == nil {
		opts.Peer = newPeer()
	}
	cfg := config.Server{
		Name: "in", Transport: config.TransportBuiltin, Builtin: "test",
		Timeouts: config.Timeouts{Start: 30 * time.Second, CallIdle: time.Minute, CallTotal: 150 * time.Second},
	}
	for _, change := range tune {
		change(&cfg)
	}
	b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{cfg}}, opts)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return b, server(t, b, "in")
}

func always(s *mcptest.Server) func(int) (wire.Endpoint, error) {
	return func(int) (wire.Endpoint, error) { return s, nil }
}

// since checks that something happened at a moment of the bubble's time.
func since(t *testing.T, what string, began time.Time, want time.Duration) {
	t.Helper()
	if got := time.Since(began); got != want {
		t.Errorf("%s: got it after %s, want after %s", what, got, want)
	}
}

func TestFaultA12A13A14_CallTimes(t *testing.T) {
	for _, tt := range []struct {
		name, tool, arguments string
		meta                  string
		want                  time.Duration
		timeout               string // "" means that the call has a result
		progress              int
	}{
		{"silence", "hang", `{}`, `{}`, time.Minute, "idle", 0},
		{"a reply just in time", "sleep", `{"n":59999}`, `{}`, 59999 * time.Millisecond, "", 0},
		{"a reply too late", "sleep", `{"n":60001}`, `{}`, time.Minute, "idle", 0},
		{"progress", "progress", `{"n":3,"ms":45000}`, `{"progressToken":1}`, 135 * time.Second, "", 3},
		{"progress without end", "progress", `{"n":9,"ms":45000}`, `{"progressToken":1}`, 150 * time.Second, "total", 3},
		{"silence after progress", "progress", `{"n":2,"ms":61000}`, `{"progressToken":1}`, time.Minute, "idle", 0},
		{"a reply at once", "echo", `{}`, `{}`, 0, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, s := within(t, toolbox.Options{}, always(&mcptest.Server{}))
				if err := b.Open(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
				// Another call that began long before and ended changes nothing.
				if _, err := callTool(t, s, "sleep", `{"n":50000}`); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				c, h := newCall(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":%s}}`, tt.tool, tt.arguments, tt.meta))
				s.Send(c)
				err := <-h.done
				since(t, "the end of the call", began, tt.want)
				if got := len(h.progress); got != tt.progress {
					t.Errorf("got %d notifications, want %d", got, tt.progress)
				}
				var timeout *rpc.TimeoutError
				if tt.timeout == "" {
					if err != nil {
						t.Errorf("got %v, want a result", err)
					}
					return
				}
				if !errors.As(err, &timeout) || timeout.What != tt.timeout || !errors.As(err, new(*rpc.LostError)) {
					t.Errorf("got %v, want a LostError for the %s time", err, tt.timeout)
				}
				// The server is told, what it says later goes nowhere, and the next call works.
				time.Sleep(10 * time.Minute)
				got, err := callTool(t, s, "heard", "{}")
				if err != nil || strings.Count(got, "notifications/cancelled") != 1 {
					t.Errorf("the server heard %s, %v; want one cancel", got, err)
				}
				if len(h.done)+len(h.progress) > tt.progress {
					t.Error("the call was told of what came after its end")
				}
			})
		})
	}
}

// Calls that overlap end each at its own time.
func TestCallTimesOfManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := within(t, toolbox.Options{}, always(&mcptest.Server{}))
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 100 {
			time.Sleep(time.Second)
			began := time.Now()
			n := i * 1000
			all.Go(func() {
				_, err := callTool(t, s, "sleep", fmt.Sprintf(`{"n":%d}`, n))
				if n < 60000 {
					since(t, "a reply", began, time.Duration(n)*time.Millisecond)
				} else if n > 60000 {
					since(t, "the time-out", began, time.Minute)
				}
				if late := errors.As(err, new(*rpc.TimeoutError)); late != (n > 60000) && n != 60000 {
					t.Errorf("after %d ms: got %v", n, err)
				}
			})
		}
		all.Wait()
	})
}

// A server that hangs in its start is given up when its time is over; whoever opens the toolbox waits no longer than
// asked.
func TestStartTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := within(t, toolbox.Options{}, func(start int) (wire.Endpoint, error) {
			if start == 1 {
				return &mcptest.Server{Silent: []string{"initialize"}}, nil
			}
			return &mcptest.Server{}, nil
		})
		began := time.Now()
		if err := b.Open(t.Context(), 10*time.Second); err != nil {
			t.Fatal(err)
		}
		since(t, "the open", began, 10*time.Second)
		if st := s.Status(); st.State != toolbox.Starting {
			t.Errorf("got %s, want it starting", st.State)
		}
		time.Sleep(20*time.Second + time.Millisecond)
		st := s.Status()
		var timeout *rpc.TimeoutError
		if st.State != toolbox.Backoff || !errors.As(st.Cause, &timeout) || timeout.What != "start" {
			t.Errorf("got %s (%v), want a rest after the start's time", st.State, st.Cause)
		}
		// A call waits for a rest that is short.
		if _, err := callTool(t, s, "echo", "{}"); err != nil {
			t.Errorf("the call: %v", err)
		}
	})
}

// Starts that fail are tried again later and later, then left alone; what is asked meanwhile is told when. An open has
// it tried at once.
func TestFaultA10_Restarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var starts []time.Time
		var states []toolbox.State
		works := false
		b, s := within(t, toolbox.Options{Event: func(e toolbox.Event) {
			mu.Lock()
			defer mu.Unlock()
			states = append(states, e.Status.State)
		}}, func(int) (wire.Endpoint, error) {
			mu.Lock()
			defer mu.Unlock()
			starts = append(starts, time.Now())
			if works {
				return &mcptest.Server{}, nil
			}
			return nil, errors.New("the disk is full")
		})
		began := time.Now()
		if err := b.Open(t.Context(), 10*time.Second); err != nil {
			t.Fatal(err)
		}
		since(t, "the open of what fails at once", began, 0)
		time.Sleep(70 * time.Second)
		mu.Lock()
		var gaps []time.Duration
		for i := range starts[1:] {
			gaps = append(gaps, starts[i+1].Sub(starts[i]))
		}
		mu.Unlock()
		want := []time.Duration{250 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 30 * time.Second, 30 * time.Second}
		near := func(a, b time.Duration) bool { return a >= b*75/100 && a <= b*125/100 }
		if !slices.EqualFunc(gaps, want[:len(gaps)], near) || len(gaps) < 5 {
			t.Errorf("it was started again after %v, want about %v", gaps, want)
		}
		st := s.Status()
		if st.State != toolbox.Open || st.Cause == nil || st.Next.Before(time.Now()) {
			t.Errorf("got %+v, want the circuit open, and when it is tried again", st)
		}

		asked := time.Now()
		_, err := callTool(t, s, "echo", "{}")
		since(t, "the refusal of a call", asked, 0)
		if err == nil || !strings.Contains(err.Error(), "the disk is full") || !strings.Contains(err.Error(), "it is tried again in") {
			t.Errorf("got %v, want why and when", err)
		}

		mu.Lock()
		works, states = true, nil
		mu.Unlock()
		if err := b.Open(t.Context(), 10*time.Second); err != nil {
			t.Fatal(err)
		}
		since(t, "the open of what works again", asked, 0)
		if _, err := callTool(t, s, "echo", "{}"); err != nil {
			t.Errorf("the call: %v", err)
		}
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if want := []toolbox.State{toolbox.Starting, toolbox.Ready}; !slices.Equal(states, want) {
			t.Errorf("got the states %v, want %v", states, want)
		}
	})
}

// Closing waits neither for a rest nor for a start nor for a call.
func TestCloseAtOnce(t *testing.T) {
	for name, endpoint := range map[string]func(int) (wire.Endpoint, error){
		"resting":  func(int) (wire.Endpoint, error) { return nil, errors.New("no") },
		"starting": always(&mcptest.Server{Silent: []string{"initialize"}}),
		"listing":  always(&mcptest.Server{Prompts: []string{`{"name":"x"}`}, Silent: []string{"prompts/list"}}),
		"calling":  always(&mcptest.Server{}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, s := within(t, toolbox.Options{}, endpoint)
				if err := b.Open(t.Context(), 3*time.Second); err != nil {
					t.Fatal(err)
				}
				var h *handler
				if name == "calling" {
					var c *toolbox.Call
					c, h = newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}`)
					s.Send(c)
				}
				began := time.Now()
				if err := b.Close(); err != nil {
					t.Errorf("got %v, want nil", err)
				}
				since(t, "the end", began, 0)
				if h != nil {
					if err := <-h.done; !errors.Is(err, toolbox.ErrClosed) {
						t.Errorf("the call ended with %v, want ErrClosed", err)
					}
				}
			})
		})
	}
}

// spy stands before a server and may answer requests in its place.
type spy struct {
	wire.Endpoint
	answer func(m *wire.Message) (result string, ok bool)
}

type spySession struct {
	wire.Session
	spy  *spy
	send func([]byte)
}

func (s *spy) Connect(send func([]byte)) wire.Session {
	return &spySession{s.Endpoint.Connect(send), s, send}
}

func (s *spySession) Receive(raw []byte) {
	var m wire.Message
	if wire.Scan(raw, &m) == nil && m.Kind == wire.Request {
		if result, ok := s.spy.answer(&m); ok {
			s.send(wire.AppendResult(nil, m.Bytes(m.ID), []byte(result)))
			return
		}
	}
	s.Session.Receive(raw)
}

// A list that a server never gives holds up neither its tools nor an open for long.
func TestListNeverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := within(t, toolbox.Options{}, always(&mcptest.Server{Prompts: []string{`{"name":"x"}`}, Resources: []string{`{"uri":"a:1"}`}, Silent: []string{"prompts/list"}}))
		began := time.Now()
		if err := b.Open(t.Context(), 10*time.Second); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the open took %s", took)
		}
		if st := s.Status(); st.State != toolbox.Ready || len(s.Items(toolbox.Resources)) != 1 {
			t.Errorf("got %+v and resources %v, want it ready with one", st, s.Items(toolbox.Resources))
		}
		time.Sleep(10 * time.Second)
		if notes := strings.Join(s.Notes(), "; "); notes == "" {
			t.Error("nothing is noted of a list that did not come")
		}
	})
}

// A storm of changes is read once a second.
func TestFaultA39_ListStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		lists := 0
		b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) {
			return &spy{&mcptest.Server{}, func(m *wire.Message) (string, bool) {
				if m.IsMethod("tools/list") {
					mu.Lock()
					defer mu.Unlock()
					lists++
				}
				return "", false
			}}, nil
		})
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		for i := range 300 {
			if _, err := callTool(t, s, "add_tool", fmt.Sprintf(`{"text":"tool%d"}`, i)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		if lists > 6 {
			t.Errorf("the list was read %d times in 3 seconds of changes", lists)
		}
		if got, want := len(s.Items(toolbox.Tools)), len(mcptest.DefaultTools())+300; got != want {
			t.Errorf("got %d tools at the end, want %d", got, want)
		}
	})
}

// Lists without end are cut, and that is noted.
func TestFaultA37G22_ListWithoutEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		cursor func(page int) string
		note   string
	}{
		"new cursors":     {func(page int) string { return fmt.Sprint(page) }, "has more"},
		"the same cursor": {func(int) string { return "more" }, "repeated a cursor"},
		"long cursors":    {func(page int) string { return strings.Repeat("x", page*10_000) }, "20002 bytes; at most 16384"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				page := 0
				b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) {
					return &spy{&mcptest.Server{}, func(m *wire.Message) (string, bool) {
						if !m.IsMethod("tools/list") {
							return "", false
						}
						page++
						return fmt.Sprintf(`{"tools":[{"name":"t%d"},{"no":"name"},7],"nextCursor":%q}`, page, tt.cursor(page)), true
					}}, nil
				})
				if err := b.Open(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
				if page > 100 || page < 2 {
					t.Errorf("%d pages were read, want at most 100", page)
				}
				if got := len(s.Items(toolbox.Tools)); got != page || s.Status().State != toolbox.Ready {
					t.Errorf("got %d tools of a server that is %s, want those of %d pages", got, s.Status().State, page)
				}
				if notes := strings.Join(s.Notes(), "; "); !strings.Contains(notes, "have no name") || !strings.Contains(notes, tt.note) {
					t.Errorf("got the notes %q, want that entries have no name, and %q", notes, tt.note)
				}
			})
		})
	}
}

// What is odd about a list is noted once, however often it is read.
func TestNotesDoNotGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := within(t, toolbox.Options{}, always(&mcptest.Server{Resources: []string{`{"uri":"a:1"}`}, Refuse: []string{"resources/list"}}))
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		before := len(s.Notes())
		for range 20 {
			if _, err := callTool(t, s, "say", `{"say":[{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}]}`); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second)
		}
		if got := len(s.Notes()); before == 0 || got > before {
			t.Errorf("got %d notes after %d at first, want as many: %q", got, before, s.Notes())
		}
	})
}

// While the circuit is open there is one probe at a time, whoever asks for it, and what waited for it fails with it.
func TestOneProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := 0
		b, s := within(t, toolbox.Options{}, func(start int) (wire.Endpoint, error) {
			starts = start
			time.Sleep(time.Second)
			return nil, errors.New("the disk is full")
		})
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		wantState(t, s, toolbox.Open)
		before, began := starts, time.Now()
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { _ = b.Open(t.Context(), time.Minute) })
		}
		synctest.Wait() // the probe is under way
		for range 50 {
			all.Go(func() {
				c, h := newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
				s.Send(c)
				if err := <-h.done; !errors.As(err, new(*toolbox.UnavailableError)) {
					t.Errorf("a call: got %v, want that the server is not available", err)
				}
				since(t, "the end of a call", began, time.Second)
			})
		}
		all.Wait()
		wantState(t, s, toolbox.Open)
		if got := starts - before; got != 1 {
			t.Errorf("got %d starts, want one probe", got)
		}
	})
}
