package toolbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// On the GET stream a server speaks of its own accord. It is opened again when it ends, from where it ended.
func TestHTTPListens(t *testing.T) {
	var gets atomic.Int32
	again := make(chan string, 1)
	r := newFarServer(t, &farServer{})
	r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
		if req.Method != http.MethodGet {
			return false
		}
		switch gets.Add(1) {
		case 1:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "retry: 1\n\nid: event-7\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/vendor/news\"}\n\n"+
				"event: endpoint\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/vendor/other\"}\n\n"+ // no message, whatever it looks like
				"event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/vendor/more\"}\n\n")
			return true
		case 2:
			again <- req.Header.Get("Last-Event-ID")
		}
		return false
	}
	p := newPeer()
	_, s := r.open(config.TransportHTTP, toolbox.Options{Peer: p})
	if got := <-again; got != "event-7" {
		t.Errorf("the stream was opened again after event %q, want event-7", got)
	}
	p.mu.Lock()
	notes := slices.Clone(p.notes)
	p.mu.Unlock()
	if want := []string{`{"jsonrpc":"2.0","method":"notifications/vendor/news"}`, `{"jsonrpc":"2.0","method":"notifications/vendor/more"}`}; !slices.Equal(notes, want) {
		t.Errorf("got %q, want %q", notes, want)
	}
	r.push(`{"jsonrpc":"2.0","id":99,"method":"roots/list"}`)
	a := <-p.requests
	a.Refuse(wire.CodeMethodNotFound, "not here")
	for t.Context().Err() == nil {
		got, err := callTool(t, s, "heard", "{}")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(got, `\"id\":99,\"error\"`) {
			break
		}
	}
}

// A stream that ends is opened again also where a proxy first says that the server is away, or the server that it has too
// many; calls go on meanwhile. A server that does not know the session any more is found out by that.
func TestHTTPListensAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status, session int
	}{
		"away": {http.StatusBadGateway, 1},
		"rest": {http.StatusServiceUnavailable, 1},
		"many": {http.StatusTooManyRequests, 1},
		"ill":  {http.StatusInternalServerError, 1},
		"late": {http.StatusRequestTimeout, 1},
		"new":  {http.StatusNotFound, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var gets, stale atomic.Int32
			refused, again := make(chan bool, 1), make(chan string, 1)
			r := newFarServer(t, &farServer{})
			r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
				id := req.Header.Get("Mcp-Session-Id")
				if req.Method != http.MethodGet {
					if id == "session-1" && stale.Load() != 0 {
						w.WriteHeader(http.StatusNotFound)
						return true
					}
					return false
				}
				switch gets.Add(1) {
				case 1:
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprint(w, "retry: 1\n\n")
				case 2:
					stale.Store(int32(tt.session - 1))
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(tt.status)
					refused <- true
				case 3:
					again <- id
					return false
				}
				return true
			}
			_, s := r.open(config.TransportHTTP, toolbox.Options{})
			if <-refused; tt.session == 1 {
				if _, err := callTool(t, s, "echo", "{}"); err != nil {
					t.Errorf("a call after that: %v", err)
				}
			}
			select {
			case got := <-again:
				if want := fmt.Sprintf("session-%d", tt.session); got != want {
					t.Errorf("the stream was opened again in session %q, want %q", got, want)
				}
			case <-time.After(20 * time.Second):
				t.Error("the stream was not opened again")
			}
		})
	}
}

// A server that answers the GET at once has the stream before it is asked anything, so nothing that it says is lost.
func TestHTTPListensFirst(t *testing.T) {
	var mu sync.Mutex
	var got []string
	r := newFarServer(t, &farServer{})
	r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
		line := req.Method
		switch line {
		case http.MethodGet:
			time.Sleep(20 * time.Millisecond) // in which all else would overtake it
		case http.MethodPost:
			line = string(m.Bytes(m.Method))
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, line)
		return false
	}
	r.open(config.TransportHTTP, toolbox.Options{})
	mu.Lock()
	defer mu.Unlock()
	if at := slices.Index(got, "GET"); at < 1 || got[at-1] != "notifications/initialized" || slices.Index(got, "tools/list") < at {
		t.Errorf("got %q, want the GET between notifications/initialized and tools/list", got)
	}
}

// A legacy server speaks on the GET stream also if it gives no session id. A list that changes while it is asked for the
// first time is asked for again, and the older answer does not replace the newer one.
func TestHTTPListensWithoutSession(t *testing.T) {
	ended, asked := make(chan struct{}), make(chan struct{}, 1)
	var lists, together atomic.Int32
	s := &recorder{}
	s.answer = func(w http.ResponseWriter, r *http.Request, method string, id json.RawMessage) {
		switch {
		case method == "initialize":
			result(w, id, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}`)
		case method == "tools/list":
			if together.Add(1) > 1 {
				t.Error("a list is asked for twice at once")
			}
			defer together.Add(-1)
			n := lists.Add(1)
			if n == 1 {
				asked <- struct{}{}
				time.Sleep(100 * time.Millisecond) // in which the newer answer would overtake this one
			}
			result(w, id, fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{"type":"object"}}]}`, n))
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-asked:
				fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
				_ = http.NewResponseController(w).Flush()
			case <-ended:
			}
			select {
			case <-r.Context().Done():
			case <-ended:
			}
		}
	}
	srv, p := openHeard(t, s, "2025-11-25")
	defer close(ended)
	awaitTool(t, srv, p, "t2")
}
