package commandsrv_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/principal"
)

// Events are sent as they happen, in either form: those of the first command are there while the second one waits.
func TestStream(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ accept, media string }{
		"ndjson":    {"", "application/x-ndjson"},
		"preferred": {"application/x-ndjson", "application/x-ndjson"},
		"sse":       {"text/event-stream", "text/event-stream"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, withPlanner)
			srv := httptest.NewServer(b)
			defer srv.Close()
			id := b.begin(t, "default_user")
			req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/invoke_agent_stream",
				strings.NewReader(fmt.Sprintf(`{"session_id":%q,"user_query":"list_orders; search_books <words>slow</words>"}`, id)))
			if err != nil {
				t.Fatal(err)
			}
			if tt.accept != "" {
				req.Header.Set("Accept", tt.accept)
			}
			resp, err := srv.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if got := resp.Header.Get("Content-Type"); got != tt.media {
				t.Errorf("got Content-Type %q, want %q", got, tt.media)
			}
			lines := bufio.NewScanner(resp.Body)
			next := func() (kind string, data map[string]any) {
				t.Helper()
				for lines.Scan() {
					line := lines.Text()
					if announced, ok := strings.CutPrefix(line, "event: "); ok {
						kind = announced
						continue
					}
					line = strings.TrimPrefix(line, "data: ")
					if line == "" {
						continue
					}
					var event struct {
						Type string         `json:"type"`
						Data map[string]any `json:"data"`
					}
					if err := json.Unmarshal([]byte(line), &event); err != nil {
						t.Fatalf("%s: %v", line, err)
					}
					if tt.accept == "text/event-stream" && kind != event.Type {
						t.Errorf("got the event %q with the type %q", kind, event.Type)
					}
					return event.Type, event.Data
				}
				t.Fatalf("the stream ended early: %v", lines.Err())
				return "", nil
			}
			for _, direction := range []string{"agent_to_workflow", "workflow_to_agent", "agent_to_workflow"} {
				if kind, data := next(); kind != "trace" || data["direction"] != direction {
					t.Errorf("got %s %v, want a trace %s", kind, data, direction)
				}
			}
			b.gate.release()
			if kind, _ := next(); kind != "trace" {
				t.Errorf("got %s, want the last trace", kind)
			}
			kind, data := next()
			if _, again := data["traces"]; kind != "output" || data["success"] != true || again {
				t.Errorf("got %s %v, want the output without traces", kind, data)
			}
			if lines.Scan() && lines.Text() != "" {
				t.Errorf("got %q after the output", lines.Text())
			}
		})
	}
}

// limited is a response whose time to write is noted.
type limited struct {
	http.ResponseWriter
	until chan time.Time // the last one
}

func (l *limited) Unwrap() http.ResponseWriter { return l.ResponseWriter }

func (l *limited) SetWriteDeadline(t time.Time) error {
	select {
	case <-l.until:
	default:
	}
	l.until <- t
	return nil
}

// A turn may be quiet for as long as it likes: a time to write that is over would end its stream over HTTP/2.
func TestQuietStream(t *testing.T) {
	b := newBed(t, withPlanner)
	until := make(chan time.Time, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		until <- time.Now() // of the front
		b.ServeHTTP(&limited{w, until}, r)
	}))
	defer srv.Close()
	id := b.begin(t, "default_user")
	resp, err := srv.Client().Post(srv.URL+"/invoke_agent_stream", "application/json",
		strings.NewReader(fmt.Sprintf(`{"session_id":%q,"user_query":"search_books <words>slow</words>"}`, id)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	rests := func(lines *bufio.Scanner) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("got no event: %v", lines.Err())
		}
		for end := time.After(time.Minute); ; {
			select {
			case at := <-until:
				if at.IsZero() {
					return
				}
			case <-end:
				t.Fatal("the stream is bound to end while nothing happens")
			}
		}
	}
	lines := bufio.NewScanner(resp.Body)
	rests(lines)
	var began struct {
		Data struct {
			Key string `json:"turn_key"`
		}
	}
	busy, err := srv.Client().Post(srv.URL+"/execute_command", "application/json", strings.NewReader(fmt.Sprintf(`{"session_id":%q,"command":"list_orders"}`, id)))
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Body.Close()
	if err := json.NewDecoder(busy.Body).Decode(&began); err != nil || began.Data.Key == "" {
		t.Fatalf("got %v and %+v of a second turn, want the key of the first", err, began)
	}
	<-until
	events, err := srv.Client().Get(srv.URL + "/turns/" + began.Data.Key + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	rests(bufio.NewScanner(events.Body))
	b.gate.release()
	for lines.Scan() {
	}
}

// What the agent says comes as it says it: to who began the turn, over HTTP and over MCP, and to who comes later; it is
// not kept beside the answer.
func TestSaid(t *testing.T) {
	const query = "say I look it up.; list_orders; say There are two; search_books <words>slow</words>; say And now\nthe end."
	want := "1 I look it up.|3 There are two|5 And now\nthe end."
	b := newBed(t, withPlanner)
	srv := httptest.NewServer(principals(b))
	defer srv.Close()
	id := b.begin(t, "alice")
	heard := func(events *bufio.Scanner, enough func(said string) bool) string {
		t.Helper()
		var replies []string
		for last := ""; events.Scan(); {
			ev := object(t, events.Bytes())
			data := ev["data"].(map[string]any)
			if ev["type"] != "text" {
				continue
			}
			if reply := fmt.Sprint(data["reply"]); reply != last {
				last = reply
				replies = append(replies, reply+" ")
			}
			replies[len(replies)-1] += data["text"].(string)
			if enough(strings.Join(replies, "|")) {
				break
			}
		}
		return strings.Join(replies, "|")
	}
	request, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/invoke_agent_stream", strings.NewReader(fmt.Sprintf(`{"session_id":%q,"user_query":%q}`, id, query)))
	if err != nil {
		t.Fatal(err)
	}
	first, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Body.Close()
	scan := bufio.NewScanner(first.Body)
	meanwhile := "1 I look it up.|3 There are two"
	if got := heard(scan, func(said string) bool { return said == meanwhile }); got != meanwhile {
		t.Errorf("got %q while the turn goes on, want %q", got, meanwhile)
	}
	_, busy := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,"command":"list_orders"}`, id))
	key := busy["data"].(map[string]any)["turn_key"].(string)
	second, err := http.Get(srv.URL + "/turns/" + key + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer second.Body.Close()
	late := bufio.NewScanner(second.Body)
	if got := heard(late, func(said string) bool { return said == meanwhile }); got != meanwhile {
		t.Errorf("the second reader got %q, want %q", got, meanwhile)
	}
	b.gate.release()
	for name, events := range map[string]*bufio.Scanner{"the first": scan, "the second": late} {
		if got := heard(events, func(string) bool { return false }); got != "5 And now\nthe end." {
			t.Errorf("%s got %q in the end", name, got)
		}
	}
	if _, kept := b.send(t.Context(), t, "alice", "GET", "/turns/"+key, ""); strings.Contains(fmt.Sprint(kept), "I look it up") || kept["exec_state"] != "done" {
		t.Errorf("got %v kept, want the answer alone", kept)
	}

	k := b.talk(t, principal.Principal{Name: "alice"})
	k.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`)
	quick := strings.Replace(query, "slow", "x", 1)
	all := k.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"p"},"name":"invoke_agent","arguments":{"session_id":%q,"user_query":%q}}}`, id, quick))
	var said strings.Builder
	reply := ""
	for line := range strings.Lines(all) {
		params, _ := object(t, []byte(line))["params"].(map[string]any)
		meta, _ := params["_meta"].(map[string]any)
		piece, ok := meta["io.github.mcp-workbench/text"].(map[string]any)
		if !ok {
			continue
		}
		if piece["text"] != params["message"] {
			t.Errorf("got %v, want the text as the message", params)
		}
		if number := fmt.Sprint(piece["reply"]); number != reply {
			reply = number
			said.WriteString("|" + reply + " ")
		}
		said.WriteString(piece["text"].(string))
	}
	if said.String() != "|"+want {
		t.Errorf("over MCP got %q, want %q", said.String(), want)
	}
}
