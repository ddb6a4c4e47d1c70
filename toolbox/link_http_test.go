package toolbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/toolbox"
)

// recorder is a server over HTTP that answers as the test says and keeps the requests.
type recorder struct {
	answer func(w http.ResponseWriter, r *http.Request, method string, id json.RawMessage)

	mu   sync.Mutex
	seen []*http.Request
}

func (s *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.Unmarshal(body, &m) // a GET has no body
	s.mu.Lock()
	s.seen = append(s.seen, r)
	s.mu.Unlock()
	if r.Method == http.MethodPost && m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.answer(w, r, m.Method, m.ID)
}

// header gives what the requests had in a header, "" left out.
func (s *recorder) header(name string) (values []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.seen {
		if v := r.Header.Get(name); v != "" {
			values = append(values, v)
		}
	}
	return values
}

func result(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func openRemote(t *testing.T, s *recorder, version string) *toolbox.Server {
	t.Helper()
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	b := open(t, toolbox.Options{Client: toolbox.Client{Version: version}}, config.Server{
		Name: "s", Transport: config.TransportHTTP, URL: web.URL,
		Timeouts: config.Timeouts{Start: 20 * time.Second, CallIdle: time.Minute, CallTotal: time.Minute},
	})
	return server(t, b, "s")
}

// A stream that a legacy server closes before the reply is taken up again behind its last event, as often as it is
// closed.
func TestStreamIsTakenUpAgain(t *testing.T) {
	var call json.RawMessage
	s := &recorder{}
	s.answer = func(w http.ResponseWriter, r *http.Request, method string, id json.RawMessage) {
		switch last := r.Header.Get("Last-Event-ID"); {
		case method == "initialize":
			result(w, id, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)
		case method == "tools/call":
			call = id
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: a\nretry: 1\ndata: \n\n")
		case last == "a":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: b\n\n") // without data, too
		case last == "b":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: c\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", call)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}
	got, err := callTool(t, openRemote(t, s, "2025-11-25"), "late", "{}")
	if err != nil || !strings.Contains(got, `"content":[]`) {
		t.Errorf("got %s, %v, want the result", got, err)
	}
	if got, want := s.header("Last-Event-ID"), []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("got Last-Event-ID %q, want %q", got, want)
	}
}

// A modern server that refuses the first revision is asked again; arguments go into the headers that its schemas name;
// a tool with faulty names of headers is not offered.
func TestModernOverHTTP(t *testing.T) {
	const tools = `{"resultType":"complete","tools":[
		{"name":"good","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer"}}}},
		{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A B"}}}},
		{"name":"plain","inputSchema":{"type":"object"}}]}`
	refused := false
	s := &recorder{}
	s.answer = func(w http.ResponseWriter, _ *http.Request, method string, id json.RawMessage) {
		switch {
		case !refused:
			refused = true
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"x"}}}`, id)
		case method == "server/discover":
			result(w, id, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
		case method == "tools/list":
			result(w, id, tools)
		default:
			result(w, id, `{"resultType":"complete","content":[]}`)
		}
	}
	srv := openRemote(t, s, "2026-07-28")
	if got, want := keys(srv.Items(toolbox.Tools)), []string{"good", "plain"}; !slices.Equal(got, want) {
		t.Errorf("got tools %q, want %q", got, want)
	}
	if _, err := callTool(t, srv, "good", `{"region":"größe","n":3}`); err != nil {
		t.Error(err)
	}
	if got, want := s.header("Mcp-Param-Region"), []string{"=?base64?Z3LDtsOfZQ==?="}; !slices.Equal(got, want) {
		t.Errorf("got Mcp-Param-Region %q, want %q", got, want)
	}
	if !srv.Era().IsStateless() {
		t.Error("the server was taken for one of the legacy era")
	}
}

// A server that asks faster than it takes the answers has so many kept for it and no more, and works on afterwards.
func TestAnswersWaitInBounds(t *testing.T) {
	const asked = 5000
	release := make(chan struct{})
	var answers atomic.Int32
	s := &recorder{}
	s.answer = func(w http.ResponseWriter, r *http.Request, method string, id json.RawMessage) {
		switch {
		case method == "initialize":
			result(w, id, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)
		case method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			if answers.Load() == 0 {
				for i := range asked {
					fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n\n", i)
				}
			}
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", id)
		case method == "" && r.Method == http.MethodPost:
			<-release
			answers.Add(1)
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}
	srv := openRemote(t, s, "2025-11-25")
	before := runtime.NumGoroutine()
	if _, err := callTool(t, srv, "asks", "{}"); err != nil {
		t.Fatal(err)
	}
	if more := runtime.NumGoroutine() - before; more > asked/2 {
		t.Errorf("%d goroutines wait, want a bound", more)
	}
	close(release)
	if _, err := callTool(t, srv, "later", "{}"); err != nil {
		t.Fatal(err)
	}
	if n := answers.Load(); n < 1000 || n > asked/2 {
		t.Errorf("%d of %d were answered, want those for which there was room", n, asked)
	}
}

// A stream is read whatever the status that says that all is well.
func TestStreamOfAnyStatus(t *testing.T) {
	s := &recorder{}
	s.answer = func(w http.ResponseWriter, _ *http.Request, method string, id json.RawMessage) {
		switch method {
		case "initialize":
			result(w, id, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)
		case "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", id)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}
	if _, err := callTool(t, openRemote(t, s, "2025-11-25"), "creates", "{}"); err != nil {
		t.Error(err)
	}
}

// What a server goes on to say behind a reply is not read for long.
func TestEndlessBehindReply(t *testing.T) {
	said := make(chan int, 1)
	s := &recorder{}
	s.answer = func(w http.ResponseWriter, _ *http.Request, method string, id json.RawMessage) {
		switch method {
		case "initialize":
			result(w, id, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)
		case "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", id)
			more := ": " + strings.Repeat("x", 1000) + "\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n"
			for n := 0; ; n += len(more) {
				if _, err := io.WriteString(w, more); err != nil {
					said <- n
					return
				}
			}
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}
	if _, err := callTool(t, openRemote(t, s, "2025-11-25"), "talks", "{}"); err != nil {
		t.Fatal(err)
	}
	if n := <-said; n > 20<<20 { // beside what fits into buffers between
		t.Errorf("%d bytes behind the reply were taken", n)
	}
}
