package toolbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// remotes are the ways a server is reached over HTTP.
func remotes() map[string]struct {
	transport config.Transport
	remote    *farServer
} {
	return map[string]struct {
		transport config.Transport
		remote    *farServer
	}{
		"streams":   {config.TransportHTTP, &farServer{}},
		"documents": {config.TransportHTTP, &farServer{json: true, deaf: true}},
		"modern":    {config.TransportHTTP, &farServer{fake: &mcptest.Server{Modern: true}}},
		"sse":       {config.TransportSSE, &farServer{}},
	}
}

func TestRemoteCalls(t *testing.T) {
	t.Parallel()
	for name, tt := range remotes() {
		t.Run(name, func(t *testing.T) {
			r := newFarServer(t, tt.remote)
			_, s := r.open(tt.transport, toolbox.Options{})
			if got, want := len(s.Items(toolbox.Tools)), len(mcptest.DefaultTools()); got != want {
				t.Fatalf("got %d tools, want %d; the server is %+v", got, want, s.Status())
			}
			if got, want := string(s.Items(toolbox.Tools)[0].Raw), mcptest.DefaultTools()[0]; got != want {
				t.Errorf("got the tool %s, want %s", got, want)
			}
			plain := func(result string) string {
				return strings.Replace(result, `{"resultType":"complete",`, "{", 1)
			}
			arguments := `{"z":[1e400,-0,1.10],"a":"\u0000\ud83d\ude00\/é"}`
			got, err := callTool(t, s, "echo", arguments)
			want := `{"content":[{"type":"text","text":` + string(wire.AppendQuote(nil, arguments)) + `}]}`
			if err != nil || plain(got) != want {
				t.Errorf("echo: got %s, %v; want %s", got, err, want)
			}
			if got, err := callTool(t, s, "odd", "{}"); err != nil || plain(got) != mcptest.Odd {
				t.Errorf("odd: got %s, %v; want %s", got, err, mcptest.Odd)
			}
			if got, err := callTool(t, s, "big", `{"n":3000000}`); err != nil || len(got) < 3000000 {
				t.Errorf("big: got %d bytes, %v; want 3 MB", len(got), err)
			}
			var failed *link.RPCError
			if _, err := callTool(t, s, "fail", "{}"); !errors.As(err, &failed) || failed.Code != -32001 {
				t.Errorf("fail: got %v, want the server's error -32001", err)
			}
		})
	}
}

// closes counts the connections that our side has closed.
type closes struct {
	net.Conn
	n *atomic.Int32
}

func (c closes) Close() error {
	c.n.Add(1)
	return c.Conn.Close()
}

// A connection is used again, whatever form the replies have: one that ends behind its reply has its end waited for.
func TestRemoteKeepsConnections(t *testing.T) {
	for name, tt := range remotes() {
		t.Run(name, func(t *testing.T) {
			r := newFarServer(t, tt.remote)
			var n atomic.Int32
			to := r.Client().Transport.(*http.Transport)
			to.MaxIdleConnsPerHost = 100
			to.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, address)
				return closes{c, &n}, err
			}
			const calls = 20
			had := make(chan struct{}, calls)
			r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
				streams := tt.transport == config.TransportHTTP && !r.json && m != nil && m.IsMethod("tools/call")
				if streams {
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"resultType\":\"complete\",\"content\":[]}}\n\n", m.Bytes(m.ID))
					_ = http.NewResponseController(w).Flush()
					select {
					case <-had:
					case <-req.Context().Done():
					}
				}
				return streams
			}
			_, s := r.open(tt.transport, toolbox.Options{})
			for range calls {
				if _, err := callTool(t, s, "odd", "{}"); err != nil {
					t.Fatal(err)
				}
				had <- struct{}{}
			}
			// A machine under load may be late with the end of a few.
			if got := n.Load(); got > calls/2 {
				t.Errorf("%d connections were closed in %d calls, want none", got, calls)
			}
		})
	}
}

// What a server says behind a reply, on the same stream, is heard.
func TestRemoteSaysMore(t *testing.T) {
	for name, tt := range remotes() {
		if tt.remote.json || tt.transport == config.TransportSSE { // there is nothing behind a reply, or it is one stream for all
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := newFarServer(t, tt.remote)
			r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
				if m == nil || !m.IsMethod("tools/call") {
					return false
				}
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"resultType\":\"complete\",\"content\":[]}}\n\n", m.Bytes(m.ID))
				_ = http.NewResponseController(w).Flush()
				fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
				return true
			}
			_, s := r.open(tt.transport, toolbox.Options{})
			before := len(r.came("POST", "tools/list"))
			if _, err := callTool(t, s, "odd", "{}"); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(time.Minute); len(r.came("POST", "tools/list")) == before; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("its list was not read again")
				}
			}
		})
	}
}

// A server that has answered before and breaks off a connection is said to do so, and not to speak TLS.
func TestRemoteBreaksOff(t *testing.T) {
	r := newFarServer(t, &farServer{})
	r.before = func(_ http.ResponseWriter, _ *http.Request, m *wire.Message) bool {
		if m != nil && m.IsMethod("tools/call") {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	_, s := r.open(config.TransportHTTP, toolbox.Options{})
	if _, err := callTool(t, s, "echo", "{}"); err == nil || strings.Contains(err.Error(), "TLS") || !strings.Contains(err.Error(), "it broke off the connection before it answered") {
		t.Errorf("got %v", err)
	}
}

// A message may be written in several lines; it is handed on as one.
func TestRemoteLineBreaks(t *testing.T) {
	for name, tt := range remotes() {
		t.Run(name, func(t *testing.T) {
			tt.remote.lines = true
			r := newFarServer(t, tt.remote)
			_, s := r.open(tt.transport, toolbox.Options{})
			c, h := newCall(t, `{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":"progress","arguments":{"n":1},"_meta":{"progressToken":"tok"}}}`)
			s.Send(c)
			if err := <-h.done; err != nil {
				t.Fatal(err)
			}
			got := append([]string{string(h.reply)}, drain(h.progress)...)
			if len(got) == 1 && !tt.remote.json {
				t.Error("no progress came")
			}
			for _, text := range got {
				if strings.ContainsAny(text, "\r\n") {
					t.Errorf("got %q, want one line", text)
				}
			}
		})
	}
}

// drain takes what a channel holds.
func drain(c <-chan string) (all []string) {
	for len(c) > 0 {
		all = append(all, <-c)
	}
	return all
}

// Progress comes on the stream of its own request, before the reply.
func TestRemoteProgress(t *testing.T) {
	for name, tt := range remotes() {
		if tt.remote.json {
			continue // a document has no room for it
		}
		t.Run(name, func(t *testing.T) {
			r := newFarServer(t, tt.remote)
			_, s := r.open(tt.transport, toolbox.Options{})
			c, h := newCall(t, `{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":"progress","arguments":{"n":50},"_meta":{"progressToken":"tok"}}}`)
			s.Send(c)
			if err := <-h.done; err != nil {
				t.Fatal(err)
			}
			if got := len(h.progress); got != 50 {
				t.Errorf("got %d notifications before the reply, want 50", got)
			}
			got := <-h.progress
			if want := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":T,"progress":1,"total":50,"x":1.0}}`; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// A server of the legacy era asks the client while it works on a call.
func TestRemoteAsks(t *testing.T) {
	for name, tt := range remotes() {
		if tt.remote.json || tt.remote.fake != nil {
			continue // there is no way to ask
		}
		t.Run(name, func(t *testing.T) {
			r := newFarServer(t, tt.remote)
			p := newPeer()
			_, s := r.open(tt.transport, toolbox.Options{Peer: p})
			go func() {
				raw := []byte(`{"jsonrpc":"2.0","id":"wb-1","result":{"roots":[],"n":9007199254740993}}`)
				var m wire.Message
				if err := wire.Scan(raw, &m); err != nil {
					t.Error(err)
				}
				(<-p.requests).Reply(raw, m.ID)
			}()
			got, err := callTool(t, s, "ask", `{"ask":{"method":"roots/list"}}`)
			if want := `{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"roots\":[],\"n\":9007199254740993}}`; err != nil || !strings.Contains(got, want) {
				t.Errorf("got %s, %v; want the client's answer: %s", got, err, want)
			}
		})
	}
}

func TestRemoteCancel(t *testing.T) {
	for name, tt := range remotes() {
		if tt.remote.fake != nil {
			continue // the end of the stream is the cancel, of which a fake in this process hears nothing
		}
		t.Run(name, func(t *testing.T) {
			r := newFarServer(t, tt.remote)
			_, s := r.open(tt.transport, toolbox.Options{})
			c, h := newCall(t, `{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":"hang"}}`)
			s.Send(c)
			c.Cancel(nil, wire.Span{})
			for t.Context().Err() == nil {
				got, err := callTool(t, s, "heard", "{}")
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(got, "requestId") {
					break
				}
			}
			select {
			case err := <-h.done:
				t.Errorf("a cancelled call ended with %v", err)
			default:
			}
		})
	}
}

// In the modern era the end of the stream is how a request is cancelled.
func TestHTTPCancelClosesTheStream(t *testing.T) {
	called, closed := make(chan struct{}), make(chan struct{})
	r := newFarServer(t, &farServer{fake: &mcptest.Server{Modern: true}})
	r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
		if m == nil || !m.IsMethod("tools/call") {
			return false
		}
		close(called)
		<-req.Context().Done()
		close(closed)
		return true
	}
	_, s := r.open(config.TransportHTTP, toolbox.Options{})
	c, _ := newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}`)
	s.Send(c)
	<-called
	c.Cancel(nil, wire.Span{})
	<-closed
}

// Every request has what the configuration and the specification want on it.
func TestHTTPHeaders(t *testing.T) {
	r := newFarServer(t, &farServer{})
	b, s := r.open(config.TransportHTTP, toolbox.Options{})
	if _, err := callTool(t, s, "echo", "{}"); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	first := r.came("POST", "initialize")[0]
	if got := first.header.Get("Mcp-Session-Id") + first.header.Get("Mcp-Protocol-Version"); got != "" {
		t.Errorf("initialize: got the session and version %q, want none", got)
	}
	for _, s := range slices.Concat(r.came("POST", ""), r.came("DELETE", "")) {
		want := map[string]string{"X-Api-Key": "k3y", "Authorization": "Bearer t0ken", "Host": "tools.example"}
		if s.verb == "POST" {
			want["Content-Type"], want["Accept"] = "application/json", "application/json, text/event-stream"
		}
		if s.method != "initialize" {
			want["Mcp-Session-Id"], want["Mcp-Protocol-Version"] = "session-1", "2025-11-25"
		}
		for k, v := range want {
			if got := s.header.Get(k); got != v {
				t.Errorf("%s %s: got %s %q, want %q", s.verb, s.method, k, got, v)
			}
		}
	}
	if got := len(r.came("DELETE", "")); got != 1 {
		t.Errorf("got %d DELETE requests, want the session ended once", got)
	}
}

// A 404 to a known session means that it is gone. The call that it answers was certainly not carried out, what else was
// in flight may have been; neither is made again, and the next call is in a new session.
func TestHTTPSessionEnds(t *testing.T) {
	var gone atomic.Bool
	hangs := make(chan struct{}, 1)
	r := newFarServer(t, &farServer{})
	r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
		if gone.Load() && req.Header.Get("Mcp-Session-Id") == "session-1" {
			http.Error(w, "no such session", http.StatusNotFound)
			return true
		}
		if m != nil && m.IsMethod("tools/call") && strings.Contains(string(m.Raw), "hang") {
			hangs <- struct{}{}
			<-req.Context().Done()
			return true
		}
		return false
	}
	_, s := r.open(config.TransportHTTP, toolbox.Options{})
	c, flying := newCall(t, `{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":"echo","arguments":{"call":"hang"}}}`)
	s.Send(c)
	<-hangs
	gone.Store(true)
	_, err := callTool(t, s, "echo", `{"call":"first"}`)
	if _, undone := errors.AsType[*rpc.UndoneError](err); !undone || !strings.Contains(err.Error(), "session; the request was not carried out") {
		t.Errorf("got %v, want an UndoneError that names the session", err)
	}
	if err := <-flying.done; !errors.As(err, new(*rpc.LostError)) || !strings.Contains(err.Error(), "session; whether") {
		t.Errorf("the call under way: got %v, want a LostError that names the session", err)
	}
	if _, err := callTool(t, s, "echo", `{"call":"second"}`); err != nil {
		t.Errorf("the next call: %v", err)
	}
	calls := r.came("POST", "tools/call")
	if len(calls) != 3 || !strings.Contains(calls[1].body, "first") || !strings.Contains(calls[2].body, "second") {
		t.Errorf("got calls %v, want each once", calls)
	}
	if got := calls[len(calls)-1].header.Get("Mcp-Session-Id"); got != "session-2" {
		t.Errorf("the next call was in session %q, want a new one", got)
	}
	if got := len(r.came("DELETE", "")); got != 0 {
		t.Errorf("got %d DELETE requests for a session that is gone, want none", got)
	}
}

// Many servers refuse the id of a session that they do not know with 400, and that again after each of their restarts.
// A server that refuses a call so and knows the session keeps it.
func TestHTTPSessionIsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ kind, body string }{
		"a page":         {"text/plain", "Bad Request: No valid session ID provided"},
		"error, no id":   {"application/json", `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`},
		"error, some id": {"application/json", `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Bad Request: No valid session ID provided"},"id":"server-error"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var gone, choosy atomic.Value
			gone.Store("")
			choosy.Store("")
			r := newFarServer(t, &farServer{})
			r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
				id := req.Header.Get("Mcp-Session-Id")
				if id == "" || id != gone.Load() && (id != choosy.Load() || !m.IsMethod("tools/call")) {
					return false
				}
				w.Header().Set("Content-Type", tt.kind)
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, tt.body)
				return true
			}
			_, s := r.open(config.TransportHTTP, toolbox.Options{})
			session := func() string {
				if _, err := callTool(t, s, "echo", "{}"); err != nil {
					t.Fatalf("a call: %v", err)
				}
				calls := r.came("POST", "tools/call")
				return calls[len(calls)-1].header.Get("Mcp-Session-Id")
			}
			for range 3 {
				gone.Store(session())
				if _, err := callTool(t, s, "echo", "{}"); err == nil || !strings.Contains(err.Error(), "No valid session ID") {
					t.Errorf("got %v, want the words of the server", err)
				}
			}
			before := session()
			choosy.Store(before)
			for range 3 {
				if _, err := callTool(t, s, "echo", "{}"); err == nil {
					t.Error("the call succeeded")
				}
			}
			choosy.Store("")
			if got := session(); got != before {
				t.Errorf("the next call was in session %q, want %q", got, before)
			}
		})
	}
}

// refusals are HTTP errors and what the caller is told of them.
func refusals() map[string]struct {
	status int
	header map[string]string
	body   string
	want   []string
} {
	return map[string]struct {
		status int
		header map[string]string
		body   string
		want   []string
	}{
		"login":            {401, map[string]string{"WWW-Authenticate": `Bearer realm="x"`}, "who are you?", []string{"HTTP 401 Unauthorized", `"headers"`, "who are you?"}},
		"forbidden":        {403, nil, "not for you", []string{"HTTP 403 Forbidden", "not for you"}},
		"not found":        {404, nil, "404 page not found", []string{"HTTP 404 Not Found", "url"}},
		"too many":         {429, map[string]string{"Retry-After": "59"}, "slow down", []string{"HTTP 429 Too Many Requests", "again in 5", "slow down"}},
		"broken":           {500, map[string]string{"Content-Type": "text/html"}, "<html>\n  <h1>oops</h1>\n" + strings.Repeat("x", 10000), []string{"HTTP 500 Internal Server Error", "<h1>oops</h1>"}},
		"gateway":          {502, nil, "", []string{"HTTP 502 Bad Gateway"}},
		"not MCP":          {200, map[string]string{"Content-Type": "text/html"}, "<html>a web page</html>", []string{"HTTP 200", "a web page"}},
		"json, no message": {200, map[string]string{"Content-Type": "application/json"}, `{"hello":1}`, []string{"not a message"}},
		"json error":       {400, map[string]string{"Content-Type": "application/json"}, `{"error":"bad version"}`, []string{"HTTP 400 Bad Request", "bad version"}},
		"accepted":         {202, nil, "", []string{"HTTP 202", "no reply"}},
	}
}

// An HTTP error is told in words: what the server said, and what may help.
func TestRemoteRefuses(t *testing.T) {
	for name, tt := range refusals() {
		for _, transport := range []config.Transport{config.TransportHTTP, config.TransportSSE} {
			if transport == config.TransportSSE && (tt.status < 300 || name == "not found") {
				continue // replies come on the stream
			}
			t.Run(fmt.Sprintf("%s, %s", transport, name), func(t *testing.T) {
				var refuse atomic.Bool
				r := newFarServer(t, &farServer{deaf: true})
				r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
					if !refuse.Load() {
						return false
					}
					for k, v := range tt.header {
						w.Header().Set(k, v)
					}
					w.WriteHeader(tt.status)
					_, _ = io.WriteString(w, tt.body)
					return true
				}
				_, s := r.open(transport, toolbox.Options{})
				refuse.Store(true)
				_, err := callTool(t, s, "echo", "{}")
				if err == nil {
					t.Fatal("the call succeeded")
				}
				want := tt.want
				if name == "not found" {
					want = []string{"session"} // the session was known before
				}
				for _, piece := range append(want, `"far"`) {
					if !strings.Contains(err.Error(), piece) {
						t.Errorf("got %v, want %q in it", err, piece)
					}
				}
				if len(err.Error()) > 1000 {
					t.Errorf("got an error of %d bytes, want the beginning of the page at most", len(err.Error()))
				}
				refuse.Store(false)
				if tt.status == http.StatusTooManyRequests {
					return // it is left alone for a while
				}
				if _, err := callTool(t, s, "echo", "{}"); err != nil {
					t.Errorf("the next call: %v", err)
				}
			})
		}
	}
}

// A server that refuses to be opened is told of with the same words.
func TestRemoteRefusesTheHandshake(t *testing.T) {
	for name, tt := range refusals() {
		for _, transport := range []config.Transport{config.TransportHTTP, config.TransportSSE} {
			if transport == config.TransportSSE && tt.status < 300 {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s", transport, name), func(t *testing.T) {
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					for k, v := range tt.header {
						w.Header().Set(k, v)
					}
					w.WriteHeader(tt.status)
					_, _ = io.WriteString(w, tt.body)
				}))
				defer srv.Close()
				cfg := config.Server{Name: "far", Transport: transport, URL: srv.URL, Timeouts: config.Timeouts{Start: 10 * time.Second, CallIdle: time.Minute, CallTotal: time.Minute}}
				b := open(t, toolbox.Options{HTTP: srv.Client()}, cfg)
				st := server(t, b, "far").Status()
				if st.State == toolbox.Ready || st.Cause == nil {
					t.Fatalf("got %+v, want a failure with its cause", st)
				}
				for _, piece := range tt.want {
					if !strings.Contains(st.Cause.Error(), piece) {
						t.Errorf("got %v, want %q in it", st.Cause, piece)
					}
				}
			})
		}
	}
}

// A server that wants credentials is not tried again and again without them.
func TestRemoteNeedsLogin(t *testing.T) {
	for _, transport := range []config.Transport{config.TransportHTTP, config.TransportSSE} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		}))
		cfg := config.Server{Name: "far", Transport: transport, URL: srv.URL, Timeouts: config.Timeouts{Start: 10 * time.Second, CallIdle: time.Minute, CallTotal: time.Minute}}
		b := open(t, toolbox.Options{HTTP: srv.Client()}, cfg)
		if st := server(t, b, "far").Status(); st.State != toolbox.NeedsLogin || !st.Next.IsZero() {
			t.Errorf("%s: got %s, tried again at %v; want %s, and not tried again", transport, st.State, st.Next, toolbox.NeedsLogin)
		}
		srv.Close()
	}
}

// A stream that ends before the reply loses the call, and nothing else.
func TestRemoteStreamEnds(t *testing.T) {
	for name, tt := range remotes() {
		if tt.remote.json {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := newFarServer(t, tt.remote)
			r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
				if m == nil || !m.IsMethod("tools/call") || !strings.Contains(string(m.Raw), `"first"`) {
					return false
				}
				if tt.transport == config.TransportSSE {
					r.hangUp() // and not all connections, of which one may already serve the next stream
					return true
				}
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\"")
				return true
			}
			again := make(chan struct{}, 100)
			_, s := r.open(tt.transport, toolbox.Options{Event: func(e toolbox.Event) {
				if e.Status.State == toolbox.Starting && e.Status.Starts > 1 {
					again <- struct{}{}
				}
			}})
			_, err := callTool(t, s, "echo", `{"call":"first"}`)
			var lost *rpc.LostError
			if !errors.As(err, &lost) || !strings.Contains(err.Error(), "unknown") {
				t.Errorf("got %v, want a LostError", err)
			}
			if tt.transport == config.TransportSSE {
				<-again // the end of the stream may be seen after that of the call's own connection
			}
			if _, err := callTool(t, s, "echo", `{"call":"second"}`); err != nil {
				t.Errorf("the next call: %v", err)
			}
			if calls := r.came("POST", "tools/call"); len(calls) != 2 {
				t.Errorf("got %d calls, want each once", len(calls))
			}
		})
	}
}

// A reply that is too long loses its call; the next call works.
func TestRemoteTooLong(t *testing.T) {
	for name, tt := range remotes() {
		t.Run(name, func(t *testing.T) {
			r := newFarServer(t, tt.remote)
			_, s := r.open(tt.transport, toolbox.Options{})
			_, err := callTool(t, s, "big", fmt.Sprintf(`{"n":%d}`, 17<<20))
			if err == nil || !strings.Contains(err.Error(), "limit") {
				t.Errorf("got %v, want an error that names the limit", err)
			}
			if _, err := callTool(t, s, "echo", "{}"); err != nil {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

// What the configuration gives for one origin is not sent to another.
func TestRemoteRedirect(t *testing.T) {
	for _, transport := range []config.Transport{config.TransportHTTP, config.TransportSSE} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			t.Run(fmt.Sprintf("%s, %d", transport, status), func(t *testing.T) {
				var stolen atomic.Pointer[http.Header]
				thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					h := req.Header.Clone()
					stolen.Store(&h)
					w.WriteHeader(http.StatusTeapot)
				}))
				defer thief.Close()
				r := newFarServer(t, &farServer{})
				r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
					http.Redirect(w, req, thief.URL+"/mcp", status)
					return true
				}
				_, s := r.open(transport, toolbox.Options{})
				if h := stolen.Load(); h != nil && (h.Get("X-Api-Key") != "" || h.Get("Authorization") != "") {
					t.Errorf("another origin was sent %v", *h)
				}
				if st := s.Status(); st.State == toolbox.Ready || st.Cause == nil {
					t.Errorf("got %+v, want a failure", st)
				}
			})
		}
	}
}

// Redirects within an origin are followed, and a call stays a call.
func TestHTTPRedirectWithinTheOrigin(t *testing.T) {
	r := newFarServer(t, &farServer{})
	r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
		if req.URL.RawQuery != "" {
			return false
		}
		http.Redirect(w, req, "/mcp?moved", http.StatusTemporaryRedirect)
		return true
	}
	_, s := r.open(config.TransportHTTP, toolbox.Options{})
	if _, err := callTool(t, s, "echo", "{}"); err != nil {
		t.Errorf("got %v, want a result", err)
	}
}

// What a server answers to a notification holds up nothing behind it, though it does not end.
func TestHTTPEndlessAnswerToANotification(t *testing.T) {
	for _, kind := range []string{"text/event-stream", "application/json"} {
		t.Run(kind, func(t *testing.T) {
			r := newFarServer(t, &farServer{})
			r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
				if m == nil || m.Kind != wire.Notification {
					return false
				}
				w.Header().Set("Content-Type", kind)
				w.WriteHeader(http.StatusOK)
				_ = http.NewResponseController(w).Flush()
				select {
				case <-req.Context().Done():
				case <-r.ended:
				}
				return true
			}
			_, s := r.open(config.TransportHTTP, toolbox.Options{})
			if _, err := callTool(t, s, "echo", "{}"); err != nil {
				t.Error(err)
			}
		})
	}
}

// Closing does not wait for a server that does not answer.
func TestHTTPCloseOfADeadServer(t *testing.T) {
	r := newFarServer(t, &farServer{})
	b, _ := r.open(config.TransportHTTP, toolbox.Options{})
	r.CloseClientConnections()
	r.Listener.Close()
	if err := b.Close(); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}

// An answer to a question of a server reaches it when the server no longer wants to be left alone. If the server does not
// take it, the call does not wait for it any longer.
func TestHTTPAnswersArrive(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		limit  bool // another call is refused first
		status int  // of the first answer
		want   string
	}{
		"another call was too much": {limit: true},
		"the answer is too much":    {status: http.StatusTooManyRequests},
		"the answer is refused":     {status: http.StatusInternalServerError, want: "the answer to its question did not reach it: HTTP 500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answered, refused := make(chan struct{}), false
			s := &recorder{}
			s.answer = func(w http.ResponseWriter, r *http.Request, method string, id json.RawMessage) {
				switch {
				case method == "initialize":
					w.Header().Set("Mcp-Session-Id", "1")
					result(w, id, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)
				case method == "tools/call":
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\"}\n\n")
					_ = http.NewResponseController(w).Flush()
					select {
					case <-answered:
						fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", id)
					case <-r.Context().Done():
					case <-t.Context().Done():
					}
				case method == "prompts/get":
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(http.StatusTooManyRequests)
				case method == "" && r.Method == http.MethodPost && tt.status != 0 && !refused:
					refused = true
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(tt.status)
				case method == "" && r.Method == http.MethodPost:
					w.WriteHeader(http.StatusAccepted)
					close(answered)
				default:
					w.WriteHeader(http.StatusMethodNotAllowed)
				}
			}
			srv, p := openHeard(t, s, "2025-11-25")
			c, h := newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asks"}}`)
			srv.Send(c)
			a := <-p.requests
			if tt.limit {
				if _, err := srv.Request(t.Context(), "prompts/get", nil); err == nil {
					t.Error("the other call succeeded")
				}
			}
			a.Refuse(-1, "no")
			if err := <-h.done; (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
