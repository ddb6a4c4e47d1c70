package httpfront_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// deleting are the arguments of the tool "ask", whose server asks at once, or once it has another call.
func deleting(beside bool) string {
	return fmt.Sprintf(`{"beside":%t,"ask":{"method":"elicitation/create","params":{"message":"Delete everything?"}}}`, beside)
}

// outlasting are those of the tool "sleep", for a call that ends after another.
const outlasting = `{"beside":true}`

// patient is a front whose responses begin before there is a reply.
func patient(t *testing.T, config string) *web {
	return newWeb(t, config, webOptions{http: httpfront.Options{KeepAlive: 10 * time.Millisecond}})
}

// modern calls a tool as a program of revision 2026-07-28; more are further members of the params.
func (w *web) modern(id int, tool, arguments, more string) *messages {
	w.t.Helper()
	body, headers := modernCall(id, tool, arguments, more)
	return w.open("POST", "/mcp", body, headers...)
}

const (
	oneServer  = `{"toolboxes":{"dev":{"open":true,"mcpServers":{"s":{"command":"inside"}}}}}`
	oneShared  = `{"toolboxes":{"dev":{"open":true,"mcpServers":{"s":{"command":"inside","shared":true}}}}}`
	notKnown   = "cannot tell"
	inputAsked = `"resultType":"input_required"`
)

// A question of a server at which several programs of a user may have calls goes to none of them, whichever call is the
// newest.
func TestFaultG9_QuestionOfAnothersCall(t *testing.T) {
	t.Parallel()
	t.Run("another is newer", func(t *testing.T) {
		t.Parallel()
		w := patient(t, oneServer)
		first := w.modern(1, "dev__s__ask", deleting(true), "")
		second := w.modern(2, "dev__s__sleep", outlasting, "")
		first.want(`"id":1`, notKnown)
		second.want(`"id":2`, "slept")
	})
	t.Run("another waits for its client", func(t *testing.T) {
		t.Parallel()
		w := patient(t, oneServer)
		w.modern(1, "dev__s__ask", deleting(false), "").want(inputAsked)
		w.modern(2, "dev__s__ask", deleting(false), "").want(`"id":2`, notKnown)
	})
	t.Run("another was given up", func(t *testing.T) {
		t.Parallel()
		w := patient(t, oneServer)
		w.modern(1, "dev__s__hang", `{}`, "").close()
		waitFor(t, "the call to be given up", func() bool { return w.proxy.Status().Sessions[0].InFlight == 0 })
		w.modern(2, "dev__s__ask", deleting(false), "").want(`"id":2`, notKnown)
	})
	t.Run("its own was given up", func(t *testing.T) {
		t.Parallel()
		w := patient(t, oneServer)
		w.modern(1, "dev__s__ask", deleting(true), "").close()
		w.modern(2, "dev__s__sleep", `{"n":300}`, "").want(`"id":2`, "slept")
		w.modern(3, "dev__s__sleep", `{"n":1}`, "").want(`"id":3`, "slept")
	})
	t.Run("it is alone", func(t *testing.T) {
		t.Parallel()
		w := patient(t, oneServer)
		reply := w.modern(1, "dev__s__ask", deleting(false), "").want(inputAsked)
		var asked struct {
			Result struct {
				RequestState  string
				InputRequests map[string]json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(reply), &asked); err != nil {
			t.Fatal(err)
		}
		for key := range asked.Result.InputRequests {
			w.modern(2, "dev__s__ask", deleting(false), fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:{"action":"accept"}}`, asked.Result.RequestState, key)).want(`"id":2`, "accept")
		}
	})
	t.Run("a log line", func(t *testing.T) {
		t.Parallel()
		w := patient(t, oneServer)
		call := func(id int, tool, arguments string) *messages {
			body, headers := modernCall(id, tool, arguments, "")
			body = strings.Replace(body, `"progressToken"`, `"io.modelcontextprotocol/logLevel":"debug","progressToken"`, 1)
			return w.open("POST", "/mcp", body, headers...)
		}
		const line = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"of the first"}}`
		first := call(1, "dev__s__say", `{"beside":true,"say":[`+line+`]}`)
		second := call(2, "dev__s__sleep", outlasting)
		for _, m := range []*messages{first, second} {
			if got := m.rest(); len(got) != 1 {
				t.Errorf("got %q, want a reply alone", got)
			}
		}
		if got := call(3, "dev__s__say", `{"say":[`+line+`]}`).rest(); len(got) != 2 || got[0] != line {
			t.Errorf("a call that is alone: got %q, want the line and a reply", got)
		}
	})
}

// A remote server of the legacy era asks, and logs, on the stream of the very call, which is therefore known, whatever
// else is under way.
func TestFaultG9_QuestionOnTheStreamOfItsCall(t *testing.T) {
	asked := make(chan struct{})
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m wire.Message
		if wire.Scan(body, &m) != nil || m.Kind != wire.Request {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		answer := func(result string) {
			fmt.Fprintf(w, "data: %s\n\n", wire.AppendResult(nil, m.Bytes(m.ID), []byte(result)))
		}
		name, _ := wire.FindPath(m.Raw, m.Params, "name")
		switch method := string(m.Bytes(m.Method)); {
		case method == "initialize":
			answer(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"far","version":"1"}}`)
		case method == "tools/list":
			answer(`{"tools":[{"name":"ask","inputSchema":{"type":"object"}},{"name":"other","inputSchema":{"type":"object"}}]}`)
		case method != "tools/call":
			fmt.Fprintf(w, "data: %s\n\n", wire.AppendError(nil, m.Bytes(m.ID), wire.CodeMethodNotFound, "Method not found", nil))
		case string(m.Bytes(name)) == `"ask"`:
			<-asked
			fmt.Fprint(w, `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"asks"}}`+"\n\n")
			fmt.Fprint(w, `data: {"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Sure?"}}`+"\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			close(asked)
			<-r.Context().Done()
		}
	}))
	t.Cleanup(far.Close)
	w := patient(t, `{"toolboxes":{"dev":{"open":true,"mcpServers":{"s":{"url":"`+far.URL+`"}}}}}`)
	body, headers := modernCall(1, "dev__s__ask", `{}`, "")
	body = strings.Replace(body, `"progressToken"`, `"io.modelcontextprotocol/logLevel":"debug","progressToken"`, 1)
	first := w.open("POST", "/mcp", body, headers...)
	second := w.modern(2, "dev__s__other", `{}`, "")
	first.want("notifications/message", "asks")
	first.want(`"id":1`, inputAsked, "Sure?")
	second.close()
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

// What a server that several clients share asks of one goes to nobody else.
func TestFaultG9_QuestionOfASharedServer(t *testing.T) {
	t.Parallel()
	const ask = `{"beside":%t,"ask":{"method":"elicitation/create","params":{"message":"?"%s}}}`
	t.Run("two clients", func(t *testing.T) {
		t.Parallel()
		w := patient(t, oneShared)
		ada, bob := w.begin("/mcp", "2025-11-25"), w.begin("/mcp", "2025-11-25")
		first := w.open("POST", "/mcp", callOf(1, "dev__s__ask", fmt.Sprintf(ask, true, "")), ada)
		second := w.open("POST", "/mcp", callOf(1, "dev__s__sleep", outlasting), bob)
		first.want(`"id":1`, notKnown)
		second.want(`"id":1`, "slept")
	})
	t.Run("one had a call", func(t *testing.T) {
		t.Parallel()
		w := patient(t, oneShared)
		ada, bob := w.begin("/mcp", "2025-11-25"), w.begin("/mcp", "2025-11-25")
		w.open("POST", "/mcp", callOf(1, "dev__s__ask", fmt.Sprintf(ask, true, "")), ada)
		w.status("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, ada)
		w.open("POST", "/mcp", callOf(1, "dev__s__sleep", `{"n":400}`), bob).want(`"id":1`, "slept")
	})
	t.Run("a task", func(t *testing.T) {
		t.Parallel()
		w := patient(t, oneShared)
		ada, bob := w.begin("/mcp", "2025-11-25"), w.begin("/mcp", "2025-11-25")
		w.open("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dev__s__result","arguments":{"result":{"task":{"taskId":"a"}}},"task":{}}}`, ada).want("taskId")
		standing := w.open("GET", "/mcp", "", ada, "Content-Type:")
		call := w.open("POST", "/mcp", callOf(1, "dev__s__ask", fmt.Sprintf(ask, false, `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}`)), bob)
		asked := standing.want("elicitation/create")
		var m struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(asked), &m); err != nil {
			t.Fatal(err)
		}
		w.status("POST", "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, m.ID), ada)
		call.want(`"id":1`, "decline")
	})
}

// A question is taken back where it was put.
func TestQuestionIsTakenBackOnItsStream(t *testing.T) {
	t.Parallel()
	w := patient(t, oneServer)
	session := w.begin("/mcp", "2025-11-25")
	first := w.open("POST", "/mcp", callOf(1, "dev__s__ask", deleting(false)), session)
	first.want("elicitation/create")
	w.open("POST", "/mcp", callOf(2, "dev__s__sleep", `{"n":1000}`), session)
	w.open("POST", "/mcp", callOf(3, "dev__s__say", `{"say":[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]}`), session).want("said")
	first.want("notifications/cancelled", `"requestId":"wb-1"`)
	w.status("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, session) // the end waits for calls
}

// A list of a server that several share has the tasks of who asks for it.
func TestFaultG8_TasksOfOthers(t *testing.T) {
	w := newWeb(t, `{"toolboxes":{"dev":{"open":true,"mcpServers":{"all":{"command":"inside","shared":true,
		"args":["name=all","page=1","capabilities={\"tools\":{},\"tasks\":{\"list\":{}}}"]}}}}}`, webOptions{})
	const rest = `"status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null`
	list := func(session string) string {
		return w.open("POST", "/mcp", `{"jsonrpc":"2.0","id":9,"method":"tasks/list","params":{}}`, session).want(`"id":9`)
	}
	make := func(session, id string) {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dev__all__result","arguments":{"result":{"task":{"taskId":%q,"statusMessage":"secret of %s",%s}}},"task":{}}}`, id, id, rest)
		w.open("POST", "/mcp", body, session).want(id)
	}
	ada, bob := w.begin("/mcp", "2025-11-25"), w.begin("/mcp", "2025-11-25")
	make(ada, "a1")
	make(ada, "a2")
	if got := list(bob); !strings.Contains(got, `"tasks":[]`) {
		t.Errorf("bob sees %s, want no tasks", got)
	}
	make(bob, "b1")
	make(ada, "a3")
	if got, want := list(bob), `"tasks":[{"taskId":"b1","statusMessage":"secret of b1",`+rest+`}]`; !strings.Contains(got, want) {
		t.Errorf("bob sees %s, want %s", got, want)
	}
	if got := list(ada); strings.Count(got, "secret") != 3 || strings.Contains(got, "b1") {
		t.Errorf("ada sees %s, want a1, a2 and a3", got)
	}
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(peerWait); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, peerWait)
		}
	}
}

// A question that comes after the client has left its call, of which nothing was written to it, is on the stream of what
// belongs to no request.
func TestHTTPQuestionOfALeftCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newPipeWeb(t, webOptions{})
		session := w.begin("/mcp/box", "2025-11-25")
		listening := w.open("GET", "/mcp/box", "", session)
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "POST", "http://"+w.address+"/mcp/box",
			strings.NewReader(callOf(1, "ask", `{"ms":1000,"ask":{"method":"elicitation/create","params":{"message":"?"}}}`)))
		if err != nil {
			t.Fatal(err)
		}
		_, id, _ := strings.Cut(session, ": ")
		req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {id}}
		var called sync.WaitGroup
		called.Go(func() {
			if resp, err := w.client.Do(req); err == nil {
				_ = resp.Body.Close()
				t.Errorf("the call was answered with %s before it was left", resp.Status)
			}
		})
		synctest.Wait()
		leave()
		called.Wait()
		q := listening.want("elicitation/create")
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, field(t, q, "id"))
		if got, body := w.status("POST", "/mcp/box", answer, session); got != 202 {
			t.Errorf("the answer: got %d %q, want 202", got, body)
		}
	})
}
