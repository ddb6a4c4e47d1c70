package commandsrv_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/principal"
)

// held begins a turn that waits at the gate and gives its key; then waits for its result.
func (b *bed) held(t *testing.T, id, path, members string) (key string, then func() map[string]any) {
	t.Helper()
	request := fmt.Sprintf(`{"session_id":%q,%s`, id, members)
	var result map[string]any
	var all sync.WaitGroup
	all.Go(func() { _, result = b.post(t, "alice", path, request+`}`) })
	<-b.gate.came
	_, late := b.post(t, "alice", path, request+`,"timeout_seconds":0.001}`)
	key = late["data"].(map[string]any)["turn_key"].(string)
	return key, func() map[string]any { all.Wait(); return result }
}

// A turn is stopped by its key, by abort, and by the client that began it: the call of the tool is cancelled, what was
// done before is said, and the conversation is free again.
func TestStop(t *testing.T) {
	t.Parallel()
	stops := map[string]func(t *testing.T, b *bed, id, key string){
		"by its key": func(t *testing.T, b *bed, _, key string) {
			if status, answer := b.send(t.Context(), t, "bob", "DELETE", "/turns/"+key, ""); status != http.StatusNotFound {
				t.Errorf("got %d, %v for somebody else, want 404", status, answer)
			}
			for range 2 { // one that is over stays as it is
				status, answer := b.send(t.Context(), t, "alice", "DELETE", "/turns/"+key, "")
				if output, _ := answer["output"].(map[string]any); status != http.StatusOK || answer["exec_state"] != "done" || output["status"] != "cancelled" {
					t.Errorf("got %d, %v, want what has become of it", status, answer)
				}
			}
		},
		"by abort": func(t *testing.T, b *bed, id, _ string) {
			if got := b.do(t, id, "/invoke_assistant", `"user_query":"/abort"`); got["status"] != "cancelled" {
				t.Errorf("got %v, want that it is stopped", got)
			}
		},
		"by abort, exactly": func(t *testing.T, b *bed, id, _ string) {
			if got := b.do(t, id, "/run_command", `"name":"abort"`); got["status"] != "cancelled" {
				t.Errorf("got %v, want that it is stopped", got)
			}
		},
	}
	for name, stop := range stops {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, withPlanner)
			id := b.begin(t, "alice")
			key, then := b.held(t, id, "/invoke_agent", `"user_query":"list_orders; search_books <words>slow</words>"`)
			stop(t, b, id, key)
			result := then()
			said := fmt.Sprint(result["command_responses"])
			if result["status"] != "cancelled" || result["success"] != false || !strings.Contains(said, "Done before that, and not undone: list_orders.") ||
				!strings.Contains(said, "search_books was running") {
				t.Errorf("got %v, want what was done and what was not", result)
			}
			if got := b.do(t, id, "/execute_command", `"command":"list_orders"`); got["success"] != true {
				t.Errorf("got %v, want the conversation free", got)
			}
			// The same request again is another turn.
			again, then := b.held(t, id, "/invoke_agent", `"user_query":"list_orders; search_books <words>slow</words>"`)
			b.gate.came <- struct{}{}
			b.gate.release()
			if got := then(); got["status"] != "completed" || again == key {
				t.Errorf("got %v, want a turn of its own", got)
			}
		})
	}
}

// The same request that comes while its turn is being stopped is another turn, after that one.
func TestAgainWhileStopped(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.gate.linger = make(chan struct{})
	id := b.begin(t, "alice")
	const search = `"command":"search_books <words>slow</words>"`
	key, then := b.held(t, id, "/execute_command", search)
	var stopping sync.WaitGroup
	stopping.Go(func() { b.send(t.Context(), t, "alice", "DELETE", "/turns/"+key, "") })
	<-b.gate.linger
	again := make(chan map[string]any, 1)
	go func() {
		_, result := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,%s}`, id, search))
		again <- result
	}()
	select {
	case got := <-again:
		t.Errorf("got %v before the turn has ended", got)
	case <-time.After(200 * time.Millisecond):
	}
	b.gate.linger <- struct{}{}
	stopping.Wait()
	if got := then(); got["status"] != "cancelled" {
		t.Errorf("got %v, want that it was stopped", got)
	}
	go b.gate.release()
	if got := <-again; got["status"] != "completed" || got["turn_key"] == key {
		t.Errorf("got %v, want a turn of its own", got)
	}
}

// A turn that is being stopped when the server ends says what was done and what was not, as one that is only stopped.
func TestStoppedWhileClosing(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.gate.linger = make(chan struct{})
	id := b.begin(t, "alice")
	key, then := b.held(t, id, "/execute_command", `"command":"search_books <words>slow</words>"`)
	var ending sync.WaitGroup
	ending.Go(func() { b.send(t.Context(), t, "alice", "DELETE", "/turns/"+key, "") })
	<-b.gate.linger
	ending.Go(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	// There is no hook in Close: a server that ends is not ready, which is asked without waiting for the turn.
	for open := true; open; {
		_, ready := b.send(t.Context(), t, "alice", "GET", "/probes/readyz", "")
		open = ready["checks"].(map[string]any)["open"] == true
	}
	b.gate.linger <- struct{}{}
	ending.Wait()
	then()
	found, err := b.store.Result(t.Context(), "alice", key)
	if err != nil || found.Turn.Status != "cancelled" || !strings.Contains(string(found.Turn.Output), "search_books was running; whether it was carried out is not known") {
		t.Errorf("got %s %s, %v, want a turn that was stopped", found.Turn.Status, found.Turn.Output, err)
	}
}

// A client of MCP that cancels its call stops the turn, unless somebody else waits for it.
func TestCancelledCall(t *testing.T) {
	b := newBed(t, nil)
	id := b.begin(t, "alice")
	k := b.talk(t, principal.Principal{Name: "alice"})
	k.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`)
	cancelled := func() {
		k.session.Receive([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_command","arguments":{"session_id":%q,"name":"search_books","arguments":{"words":"slow"}}}}`, id)))
		<-b.gate.came
		k.session.Receive([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	}
	cancelled()
	for { // until the conversation is free
		status, answer := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,"command":"list_orders"}`, id))
		if status == http.StatusOK {
			break
		}
		if status != http.StatusConflict {
			t.Fatalf("got %d, %v", status, answer)
		}
		path := "/turns/" + answer["data"].(map[string]any)["turn_key"].(string) + "/events" // which is there until the end
		principals(b).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
	}
}

// A second reader follows a turn from its beginning, and finds it after its end.
func TestFollow(t *testing.T) {
	b := newBed(t, withPlanner)
	srv := httptest.NewServer(principals(b))
	defer srv.Close()
	id := b.begin(t, "alice")
	key, then := b.held(t, id, "/invoke_agent", `"user_query":"list_orders; search_books <words>slow</words>"`)
	resp, err := http.Get(srv.URL + "/turns/" + key + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	read := func(want string) {
		t.Helper()
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Fatalf("got %s, want %s", lines.Text(), want)
		}
	}
	for _, want := range []string{`"command_name":"list_orders"`, `"workflow_to_agent"`, `"command_name":"search_books"`} {
		read(want) // while it goes on
	}
	b.gate.came <- struct{}{}
	b.gate.release()
	then()
	read(`"workflow_to_agent"`)
	read(`{"type":"output","data":{"turn_key":"` + key)
	after, err := http.Get(srv.URL + "/turns/" + key + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer after.Body.Close()
	lines, count := bufio.NewScanner(after.Body), 0
	for lines.Scan() {
		count++
	}
	if count != 5 {
		t.Errorf("got %d events after the end, want all five", count)
	}
	if status, answer := b.send(t.Context(), t, "bob", "GET", "/turns/"+key+"/events", ""); status != http.StatusNotFound {
		t.Errorf("got %d, %v for somebody else, want 404", status, answer)
	}
}

// principals makes alice of whoever asks.
func principals(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(principal.With(r.Context(), principal.Principal{Name: "alice"})))
	})
}

// A turn that is cut off, here by the end of the server, says what it has done, to who waits and to who asks later.
func TestCutOff(t *testing.T) {
	b := newBed(t, withPlanner)
	id := b.begin(t, "alice")
	key, then := b.held(t, id, "/invoke_agent", `"user_query":"list_orders; search_books <words>slow</words>"`)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	const want = "the server is shutting down. Done before that, and not undone: list_orders. search_books was running; whether it was carried out is not known."
	if got := then(); got["message"] != want {
		t.Errorf("got %v, want %s", got, want)
	}
	_, kept := b.send(t.Context(), t, "alice", "GET", "/turns/"+key, "")
	if f, _ := kept["error"].(map[string]any); f["message"] != want {
		t.Errorf("got %v kept, want the same", kept)
	}
}
