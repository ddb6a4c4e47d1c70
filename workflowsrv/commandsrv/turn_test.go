package commandsrv_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// post sends a request for somebody and returns the status and the body.
func (b *bed) post(t *testing.T, user, path, body string) (int, map[string]any) {
	t.Helper()
	return b.send(t.Context(), t, user, "POST", path, body)
}

func (b *bed) send(ctx context.Context, t *testing.T, user, method, path, body string) (int, map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, path, strings.NewReader(body)).WithContext(principal.With(ctx, principal.Principal{Name: user}))
	b.ServeHTTP(w, r)
	var answer map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Errorf("%s %s: got %s: %v", method, path, w.Body, err)
	}
	return w.Code, answer
}

// begin begins a session.
func (b *bed) begin(t *testing.T, user string) string {
	t.Helper()
	status, answer := b.post(t, user, "/initialize", `{}`)
	if status != http.StatusOK {
		t.Fatalf("got %d, %v from initialize", status, answer)
	}
	return answer["session_id"].(string)
}

const slow = `"command":"search_books <words>slow</words>"`

// The same request, sent again and again while it is under way, is one turn.
func TestJoin(t *testing.T) {
	b := newBed(t, nil)
	id := b.begin(t, "alice")
	keys := make([]any, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			status, answer := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,%s,"timeout_seconds":0.05}`, id, slow))
			if status != http.StatusGatewayTimeout {
				t.Errorf("got %d, %v, want 504", status, answer)
				return
			}
			keys[i] = answer["data"].(map[string]any)["turn_key"]
		})
	}
	all.Wait()
	b.gate.release()
	status, answer := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,%s}`, id, slow))
	for _, key := range keys {
		if key != answer["turn_key"] {
			t.Errorf("got the turns %v, want all to be %v", keys, answer["turn_key"])
			break
		}
	}
	if traces, _ := answer["traces"].([]any); status != http.StatusOK || len(traces) != 2 {
		t.Errorf("got %d, %v, want the result with its two events", status, answer)
	}
	if got := b.gate.searches(); got != 1 {
		t.Errorf("got %d searches, want one", got)
	}
	// Its result is told, so the next one is another turn.
	go b.gate.release()
	_, next := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,%s}`, id, slow))
	if next["turn_key"] == answer["turn_key"] || b.gate.searches() != 2 {
		t.Errorf("got %v, want a turn of its own", next)
	}
}

// Callers that go away leave the turn alone, and its result is there for who comes back with the request.
func TestLeave(t *testing.T) {
	b := newBed(t, nil)
	id := b.begin(t, "alice")
	request := fmt.Sprintf(`{"session_id":%q,%s}`, id, slow)
	ctx, leave := context.WithCancel(t.Context())
	var gone sync.WaitGroup
	gone.Go(func() { b.send(ctx, t, "alice", "POST", "/execute_command", request) })
	<-b.gate.came
	leave()
	gone.Wait()
	b.gate.came <- struct{}{}
	b.gate.release()
	status, first := b.post(t, "alice", "/execute_command", request)
	if status != http.StatusOK || first["success"] != true || b.gate.searches() != 1 {
		t.Errorf("got %d, %v after %d searches, want the result of the one", status, first, b.gate.searches())
	}
}

// A turn ends with the commands that it began with, also where the folder is edited meanwhile.
func TestTurnKeepsItsCommands(t *testing.T) {
	for path, members := range map[string]string{
		"/execute_command": `"command":"search_books <words>slow</words>"`,
		"/run_command":     `"name":"search_books","arguments":{"words":"slow"}`,
	} {
		var edited atomic.Pointer[command.Engine]
		b := newBed(t, func(o *commandsrv.Options) {
			o.Refresh = func(context.Context) *command.Engine { return edited.Swap(nil) }
		})
		id := b.begin(t, "alice")
		key, then := b.held(t, id, path, members)
		w, err := command.Load(fstest.MapFS{"workflow.yaml": {Data: []byte("name: Corner Books\ndescription: d\n")}}, command.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		edited.Store(command.New(w, command.Options{}))
		if _, listing := b.send(t.Context(), t, "alice", "GET", "/commands?session_id="+id, ""); strings.Contains(fmt.Sprint(listing), "search_books") {
			t.Fatalf("got %v, want the edited commands", listing)
		}
		b.gate.came <- struct{}{}
		b.gate.release()
		if got := then(); got["turn_key"] != key || got["success"] != true || got["artifacts"] == nil && got["structured_content"] == nil {
			t.Errorf("%s: got %v, want the result of the command", path, got)
		}
	}
}

// Of two edits the later one is served, also where the earlier one took longer to be read.
func TestLaterEdit(t *testing.T) {
	var edits []*command.Engine
	for _, name := range []string{"earlier", "later"} {
		w, err := command.Load(fstest.MapFS{"workflow.yaml": {Data: []byte("name: Corner Books\ndescription: d\npurpose: " + name + "\n")}}, command.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		edits = append(edits, command.New(w, command.Options{}))
	}
	var asked atomic.Int32
	reading, overtaken := make(chan struct{}), make(chan struct{})
	b := newBed(t, func(o *commandsrv.Options) {
		o.Refresh = func(context.Context) *command.Engine {
			switch asked.Add(1) {
			case 2: // the first after the session has begun
				close(reading)
				select {
				case <-overtaken:
				case <-time.After(200 * time.Millisecond):
				}
				return edits[0]
			case 3:
				return edits[1]
			}
			return nil
		}
	})
	id := b.begin(t, "alice")
	purpose := func() string {
		_, info := b.send(t.Context(), t, "alice", "GET", "/workflow_info?session_id="+id, "")
		return fmt.Sprint(info["purpose"])
	}
	var first sync.WaitGroup
	first.Go(func() { purpose() })
	<-reading
	purpose()
	close(overtaken)
	first.Wait()
	purpose()
	if got := purpose(); got != "later" {
		t.Errorf("got the purpose %q, want that of the later edit", got)
	}
}

// A line of the log about a failure says whose it is.
func TestFailuresAreLogged(t *testing.T) {
	var log bytes.Buffer
	b := newBed(t, func(o *commandsrv.Options) {
		o.Logger, o.Agent, o.Summarizer = zerolog.New(&log), planner{}, namer{errors.New("no model")}
	})
	id := b.begin(t, "alice")
	_, failed := b.post(t, "alice", "/invoke_agent", fmt.Sprintf(`{"session_id":%q,"user_query":"list_orders; fail"}`, id))
	data := failed["data"].(map[string]any)
	b.post(t, "alice", "/new_conversation", fmt.Sprintf(`{"session_id":%q}`, id))
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %q, want a line for each failure", lines)
	}
	for i, tool := range []string{"invoke_agent", "new_conversation"} {
		line := object(t, []byte(lines[i]))
		if line["tool"] != tool || line["user"] != "alice" || line["session"] != id || line["conversation"] != data["conversation_id"] || i == 0 && line["turn"] != data["turn_key"] {
			t.Errorf("got %v, want whose it is", line)
		}
	}
	// What a caller did wrong is not the operator's concern.
	log.Reset()
	b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,"command":"<"}`, id))
	b.post(t, "alice", "/execute_command", `{"session_id":"none","command":"x"}`)
	if log.Len() > 0 {
		t.Errorf("got %s, want nothing", log.String())
	}
}

// Two sessions in one conversation take turns, too.
func TestSameConversation(t *testing.T) {
	b := newBed(t, nil)
	one, other := b.begin(t, "alice"), b.begin(t, "alice")
	var first sync.WaitGroup
	first.Go(func() { b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,%s}`, one, slow)) })
	<-b.gate.came
	status, answer := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,%s}`, other, slow))
	if data, _ := answer["data"].(map[string]any); status != http.StatusConflict || data["turn_key"] == nil {
		t.Errorf("got %d, %v, want a conflict with the turn_key", status, answer)
	}
	b.gate.came <- struct{}{}
	b.gate.release()
	first.Wait()
}

// A session may go on at another process with the same store: a request that is under way at the first is waited for at
// the second, and another refused.
func TestOtherProcess(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "conversations.db")
	here, there := bedAt(t, file, nil), bedAt(t, file, nil)
	id := here.begin(t, "alice")
	request := fmt.Sprintf(`{"session_id":%q,%s`, id, slow)
	_, late := here.post(t, "alice", "/execute_command", request+`,"timeout_seconds":0.01}`)
	key := late["data"].(map[string]any)["turn_key"]
	for _, tt := range []struct {
		body   string
		status int
	}{
		{fmt.Sprintf(`{"session_id":%q,"command":"list_orders"}`, id), http.StatusConflict},
		{request + `,"timeout_seconds":0.01}`, http.StatusGatewayTimeout},
	} {
		status, answer := there.post(t, "alice", "/execute_command", tt.body)
		if data, _ := answer["data"].(map[string]any); status != tt.status || data["turn_key"] != key {
			t.Errorf("%s: got %d, %v, want %d with the turn %v", tt.body, status, answer, tt.status, key)
		}
	}
	here.gate.release()
	status, answer := there.post(t, "alice", "/execute_command", request+`}`)
	if traces, _ := answer["traces"].([]any); status != http.StatusOK || answer["turn_key"] != key || len(traces) != 2 {
		t.Errorf("got %d, %v, want the result of the turn %v", status, answer, key)
	}
	if got := there.gate.searches(); got != 0 {
		t.Errorf("got %d searches at the second process, want none", got)
	}
}

// What was told before the process ends is there after, and a turn that the end cut off says so.
func TestRestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "conversations.db")
	b := bedAt(t, file, nil)
	id := b.begin(t, "alice")
	_, told := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,"command":"open_order <order_id>44821</order_id>"}`, id))
	_, late := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,%s,"timeout_seconds":0.01}`, id, slow))
	key := late["data"].(map[string]any)["turn_key"].(string)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if status, answer := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,"command":"list_orders"}`, id)); status != http.StatusServiceUnavailable {
		t.Errorf("got %d, %v from a server that was closed, want 503", status, answer)
	}

	b = bedAt(t, file, nil)
	status, state := b.send(t.Context(), t, "alice", "GET", "/turns/"+told["turn_key"].(string), "")
	if output, _ := state["output"].(map[string]any); status != http.StatusOK || output["response_text"] != told["response_text"] {
		t.Errorf("got %d, %v, want the turn with %v", status, state, told["response_text"])
	}
	status, state = b.send(t.Context(), t, "alice", "GET", "/turns/"+key, "")
	if fault, _ := state["error"].(map[string]any); status != http.StatusOK || fault["code"] != 503.0 {
		t.Errorf("got %d, %v of the turn that the end cut off, want error 503", status, state)
	}
	// The session is there as well, and where it was.
	_, answer := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,"command":"what_is_current_context"}`, id))
	if answer["context"] != "Order 44821 of Ada Reed" {
		t.Errorf("got %v, want the session at the order", answer)
	}
}

// Nobody knows when a turn was lost that has not been entered yet, so that its state names no time.
func TestLostTurnHasNoEnd(t *testing.T) {
	got := string(commandsrv.TurnState(store.Result{Progress: store.Lost, Conversation: "c", Turn: store.Turn{Key: "k", Kind: "execute_command", Started: time.UnixMilli(7)}}))
	if want := `{"turn_key":"k","conversation_id":"c","exec_state":"lost","kind":"execute_command","started_at":7}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A turn that takes too long is ended.
func TestMaxTurn(t *testing.T) {
	b := newBed(t, func(o *commandsrv.Options) { o.MaxTurn = 1 })
	id := b.begin(t, "alice") // whose startup command fails by it, too
	status, answer := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,%s}`, id, slow))
	if message, _ := answer["message"].(string); status != http.StatusInternalServerError || !strings.Contains(message, "it took longer than 1ns") {
		t.Errorf("got %d, %v, want 500 and the time", status, answer)
	}
}

// A thousand sessions of a hundred users say different things at once, and each finds only its own.
func TestManySessions(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	users, each := 100, 10
	if raceEnabled {
		users = 5
	}
	var all sync.WaitGroup
	for u := range users {
		all.Go(func() {
			user := fmt.Sprint("user", u)
			for n := range each {
				// A client of its own has a conversation of its own.
				_, begun := b.post(t, user, "/initialize", fmt.Sprintf(`{"client":"c%d"}`, n))
				id, nonce := begun["session_id"], fmt.Sprintf("nonce-%d-%d", u, n)
				status, answer := b.post(t, user, "/execute_command", fmt.Sprintf(`{"session_id":%q,"command":"search_books <words>%s</words>"}`, id, nonce))
				if status != http.StatusOK || !strings.Contains(fmt.Sprint(answer["traces"]), nonce) {
					t.Errorf("%s: got %d, %v", nonce, status, answer)
				}
				turns, err := b.store.Turns(t.Context(), user, begun["conversation_id"].(string), 0)
				if err != nil || !strings.Contains(last(turns).Message, nonce) {
					t.Errorf("%s: got %v and %v kept", nonce, turns, err)
				}
				other := fmt.Sprint("user", (u+1)%users)
				if status, answer := b.send(t.Context(), t, other, "GET", "/turns/"+answer["turn_key"].(string), ""); status != http.StatusNotFound {
					t.Errorf("%s: got %d, %v for another user", nonce, status, answer)
				}
			}
		})
	}
	all.Wait()
}

func last(turns []store.Turn) store.Turn {
	if len(turns) == 0 {
		return store.Turn{}
	}
	return turns[len(turns)-1]
}
