package toolbox_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// listened is a modern server that keeps the subscriptions which are open.
type listened struct {
	*mcptest.Server
	agrees bool          // it acknowledges them
	inner  wire.Endpoint // what takes the rest; nil means Server
	mu     sync.Mutex
	open   map[string]string // by ids, what they are for
	said   []string          // what it was told of them, in order
	send   func([]byte)
}

func (l *listened) Connect(send func([]byte)) wire.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send = send
	if l.inner != nil {
		return &listenedSession{l.inner.Connect(send), l}
	}
	return &listenedSession{l.Server.Connect(send), l}
}

// heard gives what the server was told so far, and forgets it.
func (l *listened) heard() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	said := l.said
	l.said = nil
	return said
}

type listenedSession struct {
	wire.Session
	of *listened
}

func (s *listenedSession) Receive(raw []byte) {
	var m wire.Message
	if wire.Scan(raw, &m) != nil || !m.IsMethod("subscriptions/listen") && !m.IsMethod("notifications/cancelled") {
		s.Session.Receive(raw)
		return
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if m.Kind == wire.Request {
		id := string(m.Bytes(m.ID))
		s.of.open[id] = string(raw)
		s.of.said = append(s.of.said, fmt.Sprintf("open %d", len(s.of.open)))
		if s.of.agrees {
			s.of.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":{}}}`, id))
		}
	} else if id, err := wire.FindPath(raw, m.Params, "requestId"); err == nil {
		delete(s.of.open, string(m.Bytes(id)))
		s.of.said = append(s.of.said, "cancelled")
	}
}

// A subscription that takes another's place is open before that one ends, so that nothing is missed; one that the server
// ends by its notification is made again, and the client is told of what it may have missed.
func TestSubscriptionWithoutGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listened{Server: &mcptest.Server{Modern: true}, agrees: true, open: make(map[string]string)}
		p := newPeer()
		b, s := within(t, toolbox.Options{Peer: p}, func(int) (wire.Endpoint, error) { return l, nil })
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		l.heard()
		s.Watch("a:1", true)
		synctest.Wait()
		if got, want := l.heard(), []string{"open 2", "cancelled"}; !slices.Equal(got, want) {
			t.Errorf("when a resource was wanted: got %q, want %q", got, want)
		}
		if got := p.noted(); len(got) > 0 {
			t.Errorf("got %q, want nothing: nothing was missed", got)
		}
		l.mu.Lock()
		for id := range l.open {
			l.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
			delete(l.open, id)
		}
		l.mu.Unlock()
		time.Sleep(time.Minute)
		if got, want := l.heard(), []string{"open 1"}; !slices.Equal(got, want) {
			t.Errorf("when the server had ended it: got %q, want %q", got, want)
		}
		if got := p.noted(); len(got) != 1 || !strings.Contains(got[0], `"notifications/resources/updated","params":{"uri":"a:1"}`) {
			t.Errorf("got %q, want that a:1 may have changed", got)
		}
	})
}

// A resource may have changed while its server did not run.
func TestWatchedOverARestart(t *testing.T) {
	for name, modern := range map[string]bool{"legacy": false, "modern": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &listened{Server: &mcptest.Server{Modern: modern, Resources: []string{`{"uri":"a:1"}`}}, agrees: true, open: make(map[string]string)}
				p := newPeer()
				b, s := within(t, toolbox.Options{Peer: p}, func(int) (wire.Endpoint, error) { return l, nil })
				s.Watch("b:2", true) // of a server that does not run yet
				if err := b.Open(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
				s.Watch("a:1", true)
				s.Watch("c:3", true)
				s.Watch("c:3", false)
				time.Sleep(time.Minute)
				if got := p.noted(); len(got) > 0 {
					t.Errorf("got %q, want nothing: the server has just started", got)
				}
				if err := s.Restart(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				got := strings.Join(p.noted(), "")
				if strings.Count(got, "notifications/resources/updated") != 2 || !strings.Contains(got, `"a:1"`) || !strings.Contains(got, `"b:2"`) {
					t.Errorf("after a restart: got %s, want that a:1 and b:2 may have changed", got)
				}
			})
		})
	}
}

// A modern server tells of all that is wanted, however much comes to be wanted at the same time.
func TestWatchedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listened{Server: &mcptest.Server{Modern: true}, open: make(map[string]string)}
		b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return l, nil })
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		wantState(t, s, toolbox.Ready)
		for range 200 {
			for _, on := range []bool{true, false} {
				for i := range 4 {
					go s.Watch(fmt.Sprintf("a:%d", i), on)
				}
				synctest.Wait()
				l.mu.Lock()
				if len(l.open) != 1 {
					t.Errorf("got %d subscriptions, want one", len(l.open))
				}
				for _, raw := range l.open {
					if i := slices.IndexFunc([]int{0, 1, 2, 3}, func(i int) bool { return strings.Contains(raw, fmt.Sprintf("a:%d", i)) != on }); i >= 0 {
						t.Errorf("after all were wanted, %v: got the subscription %s", on, raw)
					}
				}
				l.mu.Unlock()
			}
		}
	})
}

// A server that has started tells of what clients want by then, whatever they say meanwhile, and is asked again when it
// did not answer.
func TestWatchedByTheLastWord(t *testing.T) {
	for name, tt := range map[string]struct {
		after time.Duration // that the client wants to hear of b:2 no more
		mute  bool          // the first request is not answered
		want  []string
	}{
		"before its turn": {500 * time.Millisecond, false, []string{"subscribe a:1"}},
		"in its turn":     {1500 * time.Millisecond, false, []string{"subscribe a:1", "subscribe b:2", "unsubscribe b:2"}},
		"never":           {time.Hour, false, []string{"subscribe a:1", "subscribe b:2"}},
		"no answer":       {time.Hour, true, []string{"subscribe a:1", "subscribe b:2", "subscribe a:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var got []string
				r := &reluctant{Server: &mcptest.Server{Resources: []string{`{"uri":"a:1"}`}}, method: "resources/"}
				r.do = func(_ int, m *wire.Message, pass func(), answer func([]byte)) {
					method, subscribes := strings.CutPrefix(string(m.Bytes(m.Method)), "resources/")
					uri, _ := m.Text(m.Params, "uri")
					if !subscribes || uri == "" {
						pass()
						return
					}
					mu.Lock()
					defer mu.Unlock()
					if got = append(got, method+" "+uri); tt.mute && len(got) == 1 {
						return
					}
					reply := wire.AppendResult(nil, m.Bytes(m.ID), []byte("{}"))
					time.AfterFunc(time.Second, func() { answer(reply) })
				}
				b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return r, nil })
				s.Watch("a:1", true)
				s.Watch("b:2", true)
				if err := b.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(tt.after, func() { s.Watch("b:2", false) })
				time.Sleep(time.Minute)
				mu.Lock()
				defer mu.Unlock()
				if !slices.Equal(got, tt.want) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// A server is not left stopped for idleness of which somebody wants to hear as it is stopped.
func TestWatchBesideIdleness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := within(t, toolbox.Options{Peer: toolbox.Nobody{}}, always(&mcptest.Server{Modern: true}), func(cfg *config.Server) { cfg.IdleTimeout = time.Minute })
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range 2000 {
			time.Sleep(time.Minute)
			s.Watch("a:1", true)
			synctest.Wait()
			if st := s.Status(); st.State != toolbox.Ready {
				t.Fatalf("round %d: got %s, want a server that tells of what is watched", i, st.State)
			}
			s.Watch("a:1", false)
		}
	})
}

// Who subscribes at a server as that is being replaced hears of it from the one in its place, also if that is ready
// before requests go there.
func TestWatchAtAServerThatIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := insideOptions()
		opts.Peer = newPeer()
		b := open(t, opts, inside("in", "resources=a:1,b:2", "tools=heard"))
		old := server(t, b, "in")
		old.Watch("b:2", true)
		gone := b.Update(config.Toolbox{Name: "box", Servers: []config.Server{inside("in", "resources=a:1,b:2", "tools=heard", "name=other")}})
		heir := server(t, b, "in")
		toolbox.Settle(t.Context(), heir)
		synctest.Wait()
		old.Watch("a:1", true)
		old.Watch("b:2", false)
		gone[0].Retire(heir)
		synctest.Wait()
		h := heard(t, heir)
		if err := <-h.done; err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`resources/subscribe {\"uri\":\"b:2\"}`, `resources/subscribe {\"uri\":\"a:1\"}`, `resources/unsubscribe {\"uri\":\"b:2\"}`} {
			if !strings.Contains(string(h.reply), want) {
				t.Errorf("got %s, want %s in it", h.reply, want)
			}
		}
	})
}

// What is late for a connection does not end the subscription over the one after it.
func TestListenOverAnEarlierConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listened{Server: &mcptest.Server{Modern: true}, open: make(map[string]string)}
		b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return l, nil })
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		earlier := toolbox.Live(s)
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		wantState(t, s, toolbox.Ready)
		l.mu.Lock()
		clear(l.open) // of the connection that ended
		l.mu.Unlock()
		s.Watch("a:1", true)
		toolbox.ListenOver(s, earlier)
		synctest.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.open) != 1 {
			t.Errorf("got the subscriptions %v, want the one over the newest connection", l.open)
		}
	})
}

// A modern server tells of changes where it was asked to. What changes as soon as its list was read, or by the first call
// that waited for it, is known too.
func TestChangeBehindTheFirstList(t *testing.T) {
	for name, changes := range map[string]string{"as it was read": "tools/list", "by the first call": "tools/call"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				changed, listens := false, false
				r := &reluctant{Server: &mcptest.Server{Modern: true}}
				r.do = func(n int, m *wire.Message, pass func(), answer func([]byte)) {
					method := string(m.Bytes(m.Method))
					listens = listens || method == "subscriptions/listen"
					switch {
					case method == "tools/list":
						tools := `{"name":"echo","inputSchema":{"type":"object"}}`
						if changed {
							tools += `,{"name":"more","inputSchema":{"type":"object"}}`
						}
						answer(wire.AppendResult(nil, m.Bytes(m.ID), []byte(`{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[`+tools+`]}`)))
					default:
						pass()
					}
					if method == changes && !changed {
						if changed = true; listens {
							go answer([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
						}
					}
				}
				b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return r, nil })
				if err := b.Open(t.Context(), 0); err != nil {
					t.Fatal(err)
				}
				call, _ := newCall(t, `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":{}}}`)
				s.Send(call)
				time.Sleep(time.Minute)
				if got := s.Items(toolbox.Tools); len(got) != 2 {
					t.Errorf("got %d tools, want the one that was added too", len(got))
				}
			})
		})
	}
}
