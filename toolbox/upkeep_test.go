package toolbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
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

// reluctant is a server that does with a request of one method, the nth that came, what its test says.
type reluctant struct {
	*mcptest.Server
	method string
	do     func(n int, m *wire.Message, pass func(), answer func([]byte))

	mu   sync.Mutex
	came int
}

func (r *reluctant) Connect(send func([]byte)) wire.Session {
	return &reluctantSession{r.Server.Connect(send), r, send}
}

type reluctantSession struct {
	wire.Session
	of   *reluctant
	send func([]byte)
}

func (s *reluctantSession) Receive(raw []byte) {
	m := new(wire.Message)
	raw = bytes.Clone(raw)
	if wire.Scan(raw, m) != nil || !strings.HasPrefix(string(m.Bytes(m.Method)), s.of.method) {
		s.Session.Receive(raw)
		return
	}
	s.of.mu.Lock()
	s.of.came++
	n := s.of.came
	s.of.mu.Unlock()
	s.of.do(n, m, func() { s.Session.Receive(raw) }, s.send)
}

func (r *reluctant) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.came
}

// A list that changed is known in the end, also if it takes as long as at a start or is refused at first.
func TestListIsReadLater(t *testing.T) {
	for name, tt := range map[string]struct {
		do     func(n int, m *wire.Message, pass func(), answer func([]byte))
		unread bool
	}{
		"slow": {func(n int, _ *wire.Message, pass func(), _ func([]byte)) {
			if n == 1 {
				pass()
			} else {
				time.AfterFunc(25*time.Second, pass)
			}
		}, false},
		"refused": {func(n int, m *wire.Message, pass func(), answer func([]byte)) {
			if n == 1 || n == 6 {
				pass()
			} else {
				answer(wire.AppendError(nil, m.Bytes(m.ID), wire.CodeInternal, "not now", nil))
			}
		}, true},
		"silent": {func(n int, _ *wire.Message, pass func(), _ func([]byte)) {
			if n != 2 {
				pass()
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &reluctant{Server: &mcptest.Server{}, method: "tools/list", do: tt.do}
				b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return r, nil })
				if err := b.Open(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
				if _, err := callTool(t, s, "add_tool", `{"text":"late"}`); err != nil {
					t.Fatal(err)
				}
				unread := false
				for range 60 {
					time.Sleep(time.Second)
					err := s.Unread(toolbox.Tools)
					unread = unread || err != nil
					if err != nil && !strings.Contains(strings.Join(s.Notes(), "; "), "its tools could not be read") {
						t.Errorf("got the notes %q, want that the tools could not be read", s.Notes())
					}
				}
				if unread != tt.unread {
					t.Errorf("the list was said to be unread: %v, want %v", unread, tt.unread)
				}
				if got := keys(s.Items(toolbox.Tools)); !slices.Contains(got, "late") || s.Unread(toolbox.Tools) != nil {
					t.Errorf("got %q, %v, want the new tool", got, s.Unread(toolbox.Tools))
				}
			})
		})
	}
}

// A list that cannot be read is no use that is made of a server, and one that a server does not have is not asked for
// again.
func TestListThatFailsIsNoUse(t *testing.T) {
	for name, tt := range map[string]struct {
		code, most int
	}{
		"for the moment": {wire.CodeInternal, 100},
		"for good":       {wire.CodeMethodNotFound, 1},
		"for our params": {wire.CodeInvalidParams, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &reluctant{Server: &mcptest.Server{Prompts: []string{`{"name":"x"}`}}, method: "prompts/list"}
				r.do = func(_ int, m *wire.Message, _ func(), answer func([]byte)) {
					answer(wire.AppendError(nil, m.Bytes(m.ID), tt.code, "no", nil))
				}
				b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return r, nil }, idling)
				if err := b.Open(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * idleTimeout)
				wantState(t, s, toolbox.Stopped)
				if n := r.count(); n > tt.most || tt.most > 1 && n < 3 {
					t.Errorf("the list was asked for %d times, want at most %d", n, tt.most)
				}
			})
		})
	}
}

// A list that is asked for while its server wants to be left alone is asked for again when that is over.
func TestListWaitsForItsServer(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var asked []time.Time
			s := &recorder{}
			s.answer = func(w http.ResponseWriter, r *http.Request, method string, id json.RawMessage) {
				switch {
				case method == "initialize":
					result(w, id, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
				case method == "tools/list":
					mu.Lock()
					asked = append(asked, time.Now())
					n := len(asked)
					mu.Unlock()
					if n == 2 {
						w.Header().Set("Retry-After", "2")
						w.WriteHeader(status)
						return
					}
					result(w, id, fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{"type":"object"}}]}`, n))
				case method == "tools/call":
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", id)
				default:
					w.WriteHeader(http.StatusMethodNotAllowed)
				}
			}
			srv, p := openHeard(t, s, "2025-11-25")
			if _, err := callTool(t, srv, "changes", "{}"); err != nil {
				t.Fatal(err)
			}
			awaitTool(t, srv, p, "t3")
			mu.Lock()
			defer mu.Unlock()
			if rest := asked[2].Sub(asked[1]); rest < 2*time.Second {
				t.Errorf("the list was asked for again after %s, want 2 s at least", rest)
			}
		})
	}
}

// openHeard opens a toolbox with a remote server, and gives what hears of its changes.
func openHeard(t *testing.T, s *recorder, version string) (*toolbox.Server, *peer) {
	t.Helper()
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	p := newPeer()
	b := open(t, toolbox.Options{Client: toolbox.Client{Version: version}, Peer: p}, config.Server{
		Name: "s", Transport: config.TransportHTTP, URL: web.URL,
		Timeouts: config.Timeouts{Start: 20 * time.Second, CallIdle: time.Minute, CallTotal: time.Minute},
	})
	return server(t, b, "s"), p
}

// awaitTool waits until a server has a tool.
func awaitTool(t *testing.T, s *toolbox.Server, p *peer, name string) {
	t.Helper()
	late := time.After(2 * time.Minute)
	for !slices.Contains(keys(s.Items(toolbox.Tools)), name) {
		select {
		case <-p.changed:
		case <-late:
			t.Fatalf("got the tools %q, want %s", keys(s.Items(toolbox.Tools)), name)
		}
	}
}

// The stream on which a modern server tells of changes is opened again when it was cut or could not be had, and what has
// changed meanwhile is known.
func TestListenedAgain(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	var mu sync.Mutex
	listens := 0
	s := &recorder{}
	s.answer = func(w http.ResponseWriter, r *http.Request, method string, id json.RawMessage) {
		mu.Lock()
		defer mu.Unlock()
		switch method {
		case "server/discover":
			result(w, id, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}`)
		case "tools/list":
			result(w, id, fmt.Sprintf(`{"resultType":"complete","tools":[{"name":"t%d","inputSchema":{"type":"object"}}]}`, listens))
		case "subscriptions/listen":
			listens++
			if listens == 2 {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{}}}\n\n")
			if listens == 3 {
				_ = http.NewResponseController(w).Flush()
				mu.Unlock()
				select {
				case <-r.Context().Done():
				case <-ended:
				}
				mu.Lock()
			}
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}
	srv, p := openHeard(t, s, "2026-07-28")
	defer close(ended)
	awaitTool(t, srv, p, "t3")
}

// Of a list that several want at once the answer is kept that was asked for last, whichever comes last.
func TestSkillsAreReadInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reluctant{Server: &mcptest.Server{Skills: []string{"first"}}, method: "skills/list"}
		r.do = func(n int, m *wire.Message, _ func(), answer func([]byte)) {
			reply := wire.AppendResult(nil, m.Bytes(m.ID), fmt.Appendf(nil, `{"skills":[{"uri":"skill://%d/SKILL.md"}]}`, n))
			late := time.Duration(0)
			if n == 2 {
				late = time.Second
			}
			time.AfterFunc(late, func() { answer(reply) })
		}
		b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return r, nil })
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		go s.ReadSkills(t.Context())
		synctest.Wait()
		last := s.ReadSkills(t.Context())
		time.Sleep(time.Minute)
		for _, list := range [][]toolbox.Item{last, s.Items(toolbox.Skills)} {
			if len(list) != 1 || list[0].Key.Verbatim() != "skill://3/SKILL.md" {
				t.Errorf("got %v, want what was asked for last", list)
			}
		}
	})
}

// A list that a server gave for a time is read anew after it when somebody asks for it, unless the server tells of its
// changes: a new tool could not be called otherwise for as long as the connection lasts.
func TestListsThatAreStale(t *testing.T) {
	for name, tt := range map[string]struct {
		capabilities, ttl string
		listens           bool // it acknowledges a subscription
		want              int  // how often the list was read after a minute and a half
	}{
		"does not tell":                   {`{"tools":{}}`, `,"ttlMs":60000`, false, 2},
		"would tell, but has no listener": {`{"tools":{"listChanged":true}}`, `,"ttlMs":60000`, false, 2},
		"tells":                           {`{"tools":{"listChanged":true}}`, `,"ttlMs":60000`, true, 1},
		"gives it for longer":             {`{"tools":{}}`, `,"ttlMs":1e300`, false, 1},
		"gives it for no time":            {`{"tools":{}}`, `,"ttlMs":-1`, false, 3},
		"does not say for how long":       {`{"tools":{}}`, ``, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &reluctant{Server: &mcptest.Server{Modern: true, Capabilities: tt.capabilities, Lack: []string{"subscriptions/listen"}}, method: "tools/list"}
				r.do = func(n int, m *wire.Message, _ func(), answer func([]byte)) {
					answer(wire.AppendResult(nil, m.Bytes(m.ID), fmt.Appendf(nil, `{"resultType":"complete","tools":[{"name":"tool%d","inputSchema":{"type":"object"}}]%s}`, n, tt.ttl)))
				}
				var e wire.Endpoint = r
				if tt.listens {
					e = &listened{Server: r.Server, inner: r, agrees: true, open: make(map[string]string)}
				}
				b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return e, nil })
				if err := b.Open(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					time.Sleep(45 * time.Second)
					b.Await(t.Context(), time.Minute)
				}
				if got := s.Items(toolbox.Tools)[0].Key.Verbatim(); r.count() != tt.want || got != fmt.Sprintf("tool%d", tt.want) {
					t.Errorf("after %d readings it has %s, want %d readings", r.count(), got, tt.want)
				}
			})
		})
	}
}

// A call that is refused for its header was made by a definition that the server has changed, which is read anew.
func TestListAfterAMismatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reluctant{Server: &mcptest.Server{Modern: true, Tools: []string{`{"name":"refuse","inputSchema":{"type":"object"}}`}}, method: "tools/list"}
		r.do = func(_ int, _ *wire.Message, pass func(), _ func([]byte)) { pass() }
		b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return r, nil })
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		for want, code := range []int{1: -32602, 2: -32020} {
			if code == 0 {
				continue
			}
			_, _ = callTool(t, s, "refuse", fmt.Sprintf(`{"result":{"code":%d,"message":"m"}}`, code))
			time.Sleep(time.Minute)
			if r.count() != want {
				t.Errorf("after the error %d the list was read %d times, want %d", code, r.count(), want)
			}
		}
	})
}
