package httpfront_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// What a server says in the midst of a call is on the stream of that call, in order, and the reply is the last.
func TestHTTPProgress(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{})
	session := w.begin("/mcp/box", "2025-06-18")
	check := func(id int, got []string) {
		t.Helper()
		if len(got) != 21 {
			t.Fatalf("call %d: got %d messages, want 20 of progress and the reply: %q", id, len(got), got)
		}
		for i, msg := range got[:20] {
			if want := fmt.Sprintf(`"progressToken":%d,"progress":%d,`, id, i+1); !strings.Contains(msg, want) {
				t.Errorf("call %d: message %d is %s, want %s", id, i, msg, want)
			}
		}
		if want := fmt.Sprintf(`"id":%d,`, id); !strings.Contains(got[20], want) || !strings.Contains(got[20], `"result"`) {
			t.Errorf("call %d: the last message is %s, want the reply", id, got[20])
		}
	}
	var streams []*messages
	for id := 1; id <= 10; id++ {
		if id%2 == 0 {
			body, header := modernCall(id, "progress", `{"n":20}`, "")
			streams = append(streams, w.open("POST", "/mcp/box", body, header...))
		} else {
			streams = append(streams, w.open("POST", "/mcp/box", callOf(id, "progress", `{"n":20}`), session))
		}
	}
	for i, m := range streams {
		check(i+1, m.rest())
		if m.resp.Header.Get("X-Accel-Buffering") != "no" || m.resp.Header.Get("Cache-Control") != "no-cache, no-transform" {
			t.Errorf("the header of a stream is %v", m.resp.Header)
		}
		if hasID := m.lastID != ""; hasID != (i%2 == 0) {
			t.Errorf("call %d: the last event has the id %q; only the legacy era has some", i+1, m.lastID)
		}
	}
}

const question = `{"ask":{"method":"elicitation/create","params":{"message":"?"}}}`

// A server's question is on the stream of the call that it works on.
func TestHTTPElicitation(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{})
	session := w.begin("/mcp/box", "2025-11-25")
	m := w.open("POST", "/mcp/box", callOf(1, "ask", question), session)
	q := m.want("elicitation/create")
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"n":9007199254740993}}}`, field(t, q, "id"))
	if got, body := w.status("POST", "/mcp/box", answer, session); got != 202 || body != "" {
		t.Errorf("the answer: got %d %q, want 202 and nothing", got, body)
	}
	if got := m.want(`"id":1`); !strings.Contains(got, "9007199254740993") {
		t.Errorf("got %s, want the client's answer in it", got)
	}
	// Modern: input_required, and a retry as a request of its own.
	body, header := modernCall(1, "ask", question, "")
	_, first := w.status("POST", "/mcp/box", body, header...)
	if !strings.Contains(first, `"input_required"`) {
		t.Fatalf("got %s", first)
	}
	more := fmt.Sprintf(`,"requestState":%s,"inputResponses":{"r1":{"action":"decline"}}`, field(t, first, "result", "requestState"))
	body, header = modernCall(1, "ask", question, more)
	if got, reply := w.status("POST", "/mcp/box", body, header...); got != 200 || !strings.Contains(reply, "decline") {
		t.Errorf("the retry: got %d %s", got, reply)
	}
}

// holder makes servers that have a tool "hold", which tells of its progress and then waits to be let go.
type holder struct {
	began     chan struct{} // told of each call
	cancelled chan string   // what was sent to cancel it
	release   chan struct{} // lets one go
}

func newHolder() *holder {
	return &holder{began: make(chan struct{}, 100), cancelled: make(chan string, 100), release: make(chan struct{})}
}

func (h *holder) make(principal.Principal, config.Server) (wire.Endpoint, error) {
	return &holding{h, &mcptest.Server{Tools: append(mcptest.DefaultTools(), `{"name":"hold","inputSchema":{"type":"object"}}`)}}, nil
}

type holding struct {
	*holder
	server *mcptest.Server
}

func (h *holding) Connect(send func([]byte)) wire.Session {
	return &holdSession{Session: h.server.Connect(send), holder: h.holder, send: send, done: make(chan struct{})}
}

type holdSession struct {
	wire.Session
	*holder
	send func([]byte)
	work sync.WaitGroup
	done chan struct{}
}

func (s *holdSession) Receive(raw []byte) {
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		panic(err)
	}
	if m.IsMethod("notifications/cancelled") {
		s.cancelled <- string(raw)
	}
	if name, _ := wire.FindPath(raw, m.Params, "name"); !m.IsMethod("tools/call") || string(m.Bytes(name)) != `"hold"` {
		s.Session.Receive(raw)
		return
	}
	if token, _ := wire.FindPath(raw, m.Params, "_meta", "progressToken"); token.Present() {
		s.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.Bytes(token)))
	}
	s.began <- struct{}{}
	id := string(m.Bytes(m.ID))
	s.work.Go(func() {
		select {
		case <-s.release:
			s.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"let go"}]}}`, id))
		case <-s.done:
		}
	})
}

func (s *holdSession) Close(ctx context.Context) error {
	close(s.done)
	s.work.Wait()
	return s.Session.Close(ctx)
}

const listen = `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},%s}}`

// listenHeader belongs to listen.
func listenHeader() []string {
	return []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen"}
}

// A modern client cancels by closing the response; nobody else's request with that id is touched.
func TestFaultC7_ModernClientLeaves(t *testing.T) {
	h := newHolder()
	w := newWeb(t, oneBox, webOptions{inside: h.make})
	other := w.open("POST", "/mcp/box", fmt.Sprintf(listen, meta("")), listenHeader()...)
	other.want("subscriptions/acknowledged", `"io.modelcontextprotocol/subscriptionId":7`)
	body, header := modernCall(7, "hold", "{}", "")
	gone := w.open("POST", "/mcp/box", body, header...)
	gone.want("notifications/progress")
	stays := w.open("POST", "/mcp/box", body, header...)
	stays.want("notifications/progress")
	gone.close()
	if got := <-h.cancelled; !strings.Contains(got, `"requestId"`) {
		t.Errorf("the server heard %s", got)
	}
	h.release <- struct{}{} // the server lets the one go
	h.release <- struct{}{} // and the other, in whatever order
	stays.want(`"id":7`, "let go")
	add, addHeader := modernCall(7, "add_tool", `{"text":"late"}`, "")
	if got, text := w.status("POST", "/mcp/box", add, addHeader...); got != 200 {
		t.Errorf("got %d %s", got, text)
	}
	other.want("tools/list_changed", `"io.modelcontextprotocol/subscriptionId":7`)
	if n := len(h.cancelled); n != 0 {
		t.Errorf("%d more calls were cancelled", n)
	}
}

// A client of the legacy era that goes away has not cancelled; it may come back for the rest, as often as it likes.
func TestFaultC7_LegacyClientComesBack(t *testing.T) {
	for _, tt := range []struct {
		version string
		prime   bool
	}{{"2025-11-25", true}, {"2025-06-18", false}} {
		t.Run(tt.version, func(t *testing.T) {
			h := newHolder()
			w := newWeb(t, oneBox, webOptions{inside: h.make})
			session := w.begin("/mcp/box", tt.version)
			m := w.open("POST", "/mcp/box", callOf(1, "hold", "{}"), session)
			if tt.prime {
				var text strings.Builder
				for !strings.HasSuffix(text.String(), "\n\n") {
					line, err := m.r.ReadString('\n')
					if err != nil {
						t.Fatal(err)
					}
					text.WriteString(line)
				}
				if got, want := text.String(), "id: 1-0\nevent: message\ndata: \n\n"; got != want {
					t.Errorf("the stream begins with %q, want %q", got, want)
				}
			}
			m.want("notifications/progress")
			seen := m.lastID
			m.close()
			h.release <- struct{}{}
			for range 2 {
				got := w.open("GET", "/mcp/box", "", session, "Last-Event-ID: "+seen).rest()
				if len(got) != 1 || !strings.Contains(got[0], "let go") {
					t.Errorf("after the event %s: got %q, want the reply alone", seen, got)
				}
			}
			if got := w.open("GET", "/mcp/box", "", session, "Last-Event-ID: 1-0").rest(); len(got) != 2 {
				t.Errorf("from the beginning: got %q, want the progress and the reply", got)
			}
			if len(h.cancelled) != 0 {
				t.Errorf("the call was cancelled: %s", <-h.cancelled)
			}
			// Cancelling is said in so many words, and then there is no reply.
			m = w.open("POST", "/mcp/box", callOf(2, "hold", "{}"), session)
			m.want("notifications/progress")
			w.status("POST", "/mcp/box", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"enough"}}`, session)
			if got := m.rest(); len(got) != 0 {
				t.Errorf("a cancelled call got %q", got)
			}
			if got := <-h.cancelled; !strings.Contains(got, `"reason":"enough"`) {
				t.Errorf("the server heard %s", got)
			}
		})
	}
}

// What belongs to no request waits for the GET stream; the latest GET has it.
func TestHTTPStandingStream(t *testing.T) {
	w := newWeb(t, `{"toolboxes":{"box":{"mcpServers":{"s":{"command":"inside","args":["resources=x:1"]}}}}}`, webOptions{})
	session := w.begin("/mcp/box", "2025-11-25")
	for i, name := range []string{"a", "b", "c"} {
		w.status("POST", "/mcp/box", callOf(i, "add_tool", fmt.Sprintf(`{"text":%q}`, name)), session)
	}
	one := w.open("GET", "/mcp/box", "", session)
	one.want("tools/list_changed")
	at := one.lastID
	two := w.open("GET", "/mcp/box", "", session, "Last-Event-ID: "+at)
	if got := one.rest(); len(got) > 1 {
		t.Errorf("the first stream went on with %q when there was a second", got)
	}
	w.status("POST", "/mcp/box", `{"jsonrpc":"2.0","id":9,"method":"resources/subscribe","params":{"uri":"x:1"}}`, session)
	w.status("POST", "/mcp/box", callOf(10, "update", `{"text":"x:1"}`), session)
	two.want("resources/updated", `"uri":"x:1"`)
	// From the beginning again: what is kept is sent anew.
	again := w.open("GET", "/mcp/box", "", session, "Last-Event-ID: 0-0")
	again.want("tools/list_changed")
	again.want("resources/updated")
	w.status("DELETE", "/mcp/box", "", session)
	for _, got := range again.rest() {
		if !strings.Contains(got, "resources/list_changed") { // which may be told late
			t.Errorf("after the end of the session: got %q", got)
		}
	}
}

// An opened toolbox changes the tools of a legacy client, which hears of it.
func TestHTTPOpenToolbox(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{})
	session := w.begin("/mcp", "2025-11-25")
	news := w.open("GET", "/mcp", "", session)
	opened := make(chan string, 1)
	go func() {
		_, text := w.status("POST", "/mcp", callOf(1, "workbench_open_toolbox", `{"toolbox_name":"box"}`), session)
		opened <- text
	}()
	news.want("tools/list_changed")
	_, list := w.status("POST", "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, session)
	if !strings.Contains(list, `"box__s__echo"`) {
		t.Errorf("the list after the news lacks the new tools: %.300s", list)
	}
	if got := <-opened; !strings.Contains(got, `"servers_connected":1`) {
		t.Errorf("got %.300s", got)
	}
	if got, text := w.status("POST", "/mcp", callOf(3, "box__s__echo", `{"x":1}`), session); got != 200 || !strings.Contains(text, `{\"x\":1}`) {
		t.Errorf("got %d %s", got, text)
	}
}

// At the end subscriptions have a last message, calls under way are answered, and nothing new begins.
func TestFaultC17_End(t *testing.T) {
	h := newHolder()
	w := newWeb(t, oneBox, webOptions{inside: h.make})
	session := w.begin("/mcp/box", "2025-11-25")
	subscribed := w.open("POST", "/mcp/box", fmt.Sprintf(listen, meta("")), listenHeader()...)
	subscribed.want("subscriptions/acknowledged")
	standing := w.open("GET", "/mcp/box", "", session)
	call := w.open("POST", "/mcp/box", callOf(1, "hold", "{}"), session)
	call.want("notifications/progress")
	ended := make(chan error, 1)
	go func() { ended <- w.stop() }()
	if got, want := subscribed.rest(), `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":7}}}`; !slices.Equal(got, []string{want}) {
		t.Errorf("the subscription ended with %q, want %q", got, want)
	}
	h.release <- struct{}{}
	call.want(`"id":1`, "let go")
	for _, msg := range standing.rest() {
		if !strings.Contains(msg, "tools/list_changed") {
			t.Errorf("the standing stream had %s", msg)
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := net.Dial("tcp", w.address); err == nil {
		t.Error("the port is still open")
	}
}

// A call that nobody lets go does not hold up the end beyond the drain time, and its client is told.
func TestHTTPShutdownOfHangingCall(t *testing.T) {
	h := newHolder()
	w := newWeb(t, oneBox, webOptions{inside: h.make, http: httpfront.Options{Drain: time.Millisecond}})
	session := w.begin("/mcp/box", "2025-11-25")
	call := w.open("POST", "/mcp/box", callOf(1, "hold", "{}"), session)
	call.want("notifications/progress")
	if err := w.stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if got := call.rest(); len(got) != 1 || !strings.Contains(got[0], `"id":1,"error"`) || !strings.Contains(got[0], "whether the request was carried out is unknown") {
		t.Errorf("the call had %q, want an error that says what is not known", got)
	}
}

// A call that may have been carried out when the program ends is answered so that nobody makes it again.
func TestHTTPShutdownOfSilentCall(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			h := newHolder()
			w := newWeb(t, oneBox, webOptions{inside: h.make, http: httpfront.Options{Drain: time.Millisecond}})
			body := `{"jsonrpc":"2.0","id":"once","method":"tools/call","params":{"name":"hold","arguments":{}}}`
			header := []string{w.begin("/mcp/box", "2025-11-25")}
			if era == "modern" {
				body, header = modernCall(7, "hold", `{}`, "")
				body = strings.Replace(strings.Replace(body, `"id":7`, `"id":"once"`, 1), `,"progressToken":7`, "", 1)
			}
			type answer struct {
				status int
				header http.Header
				text   string
			}
			got := make(chan answer, 1)
			go func() {
				resp := w.do(context.Background(), "POST", "/mcp/box", body, header...)
				defer resp.Body.Close()
				text, _ := io.ReadAll(resp.Body) // what is missing of it is seen below
				got <- answer{resp.StatusCode, resp.Header, string(text)}
			}()
			<-h.began
			if err := w.stop(); err != nil {
				t.Errorf("Serve: %v", err)
			}
			a := <-got
			if a.status != http.StatusOK || a.header.Get("Retry-After") != "" || !strings.Contains(a.text, `"id":"once"`) || !strings.Contains(a.text, "whether the request was carried out is unknown") {
				t.Errorf("got %d %v %s, want an error that says what is not known", a.status, a.header, a.text)
			}
		})
	}
}

// What was given on a GET stream is not given again to a client that does not say where it was.
func TestHTTPGivenOnce(t *testing.T) {
	w := newWeb(t, `{"toolboxes":{"box":{"mcpServers":{"s":{"command":"inside","args":["resources=x:1"]}}}}}`, webOptions{})
	session := w.begin("/mcp/box", "2025-11-25")
	w.status("POST", "/mcp/box", `{"jsonrpc":"2.0","id":9,"method":"resources/subscribe","params":{"uri":"x:1"}}`, session)
	w.status("POST", "/mcp/box", callOf(10, "update", `{"text":"x:1"}`), session)
	one := w.open("GET", "/mcp/box", "", session)
	one.want("resources/updated")
	w.status("POST", "/mcp/box", callOf(11, "add_tool", `{"text":"a"}`), session) // by whose news the one before was written
	one.want("tools/list_changed")
	two := w.open("GET", "/mcp/box", "", session)
	one.rest()
	w.status("DELETE", "/mcp/box", "", session)
	for _, got := range two.rest() {
		if strings.Contains(got, "resources/updated") {
			t.Errorf("got %s again", got)
		}
	}
}
