package commandsrv_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// A startup command that fails is told, and leaves a session to work in.
func TestStartupFails(t *testing.T) {
	for startup, want := range map[string]string{
		"open_order <order_id>99999</order_id>": "startup_output:map[",
		"open_order <order_id>":                 "startup_error:map[code:422 ",
		"search_books <words>panic</words>":     "startup_error:map[code:500 ",
	} {
		b := newBed(t, func(o *commandsrv.Options) { o.Startup = startup })
		status, begun := b.post(t, "alice", "/initialize", `{}`)
		id, _ := begun["session_id"].(string)
		if status != http.StatusOK || !strings.Contains(fmt.Sprint(begun), want) || id == "" {
			t.Errorf("%s: got %d %v, want a session and %s", startup, status, begun, want)
			continue
		}
		if got := b.do(t, id, "/execute_command", `"command":"open_order <order_id>44821</order_id>"`); got["success"] != true {
			t.Errorf("%s: got %v after it", startup, got)
		}
	}
}

// The last conversation goes on where it stands, and one that is named does; a question that waits is there, too.
func TestRestoredConversations(t *testing.T) {
	b := newBed(t, nil)
	_, first := b.post(t, "alice", "/initialize", `{"client":"c"}`)
	id := first["session_id"].(string)
	b.do(t, id, "/execute_command", `"command":"open_order <order_id>44821</order_id>"`)
	b.do(t, id, "/execute_command", `"command":"cancel_order <reason>late</reason>"`)
	_, again := b.post(t, "alice", "/initialize", `{"client":"c"}`)
	if again["conversation_id"] != first["conversation_id"] || again["context"] != "Order 44821 of Ada Reed" || !strings.HasPrefix(fmt.Sprint(again["question"]), "Run Order/cancel_order") {
		t.Errorf("got %v, want the last conversation with its place and its question", again)
	}
	b.post(t, "alice", "/new_conversation", fmt.Sprintf(`{"session_id":%q}`, id))
	_, named := b.post(t, "alice", "/initialize", fmt.Sprintf(`{"client":"c","conversation_id":%q}`, first["conversation_id"]))
	if named["conversation_id"] != first["conversation_id"] || named["restored"] != true || named["context"] != "Order 44821 of Ada Reed" {
		t.Errorf("got %v, want the conversation that is named", named)
	}
}

// A client whose conversation is damaged on the disk is told so, sees it in the list, and gets another one.
func TestDamagedConversation(t *testing.T) {
	file := filepath.Join(t.TempDir(), "conversations.db")
	b := bedAt(t, file, nil)
	_, first := b.post(t, "alice", "/initialize", `{"client":"c"}`)
	id, damaged := first["session_id"].(string), first["conversation_id"]
	b.do(t, id, "/execute_command", `"command":"list_orders"`)
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE conversations SET body = '{"topic":"another"}'`); err != nil {
		t.Fatal(err)
	}
	status, got := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,"command":"list_orders"}`, id))
	if text := fmt.Sprint(got["message"]); status != http.StatusInternalServerError || !strings.Contains(text, fmt.Sprint(damaged)) || !strings.Contains(text, "new_conversation") {
		t.Errorf("got %d %v, want the conversation named, and what begins another", status, got)
	}
	_, list := b.send(t.Context(), t, "alice", "GET", "/conversations?session_id="+id, "")
	if text := fmt.Sprint(list); !strings.Contains(text, "topic:(damaged)") {
		t.Errorf("got %s, want it listed as damaged", text)
	}
	if _, again := b.post(t, "alice", "/initialize", `{"client":"c"}`); again["conversation_id"] == nil || again["conversation_id"] == damaged {
		t.Errorf("got %v, want another conversation for a new session", again)
	}
	status, got = b.post(t, "alice", "/new_conversation", fmt.Sprintf(`{"session_id":%q}`, id))
	if status != http.StatusOK || got["new_conversation_id"] == damaged {
		t.Errorf("got %d %v, want another conversation", status, got)
	}
	if got := b.do(t, id, "/execute_command", `"command":"list_orders"`); got["success"] != true {
		t.Errorf("got %v after it, want a turn", got)
	}
}

// A turn that cannot be kept is 503, and its error says which it is.
func TestTurnThatCannotBeKept(t *testing.T) {
	b := newBed(t, nil)
	id := b.begin(t, "alice")
	var asked sync.WaitGroup
	asked.Go(func() {
		status, got := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,"command":"search_books <words>slow</words>"}`, id))
		data, _ := got["data"].(map[string]any)
		if status != http.StatusServiceUnavailable || data["turn_key"] == nil || data["user_id"] != "alice" || data["conversation_id"] == nil || data["session_id"] != id {
			t.Errorf("got %d %v, want 503 with the turn", status, got)
		}
	})
	<-b.gate.came
	if err := b.store.Close(); err != nil {
		t.Error(err)
	}
	b.gate.came <- struct{}{}
	b.gate.release()
	asked.Wait()
	if status, got := b.post(t, "alice", "/initialize", `{}`); status != http.StatusServiceUnavailable {
		t.Errorf("got %d %v without a store, want 503", status, got)
	}
}

// A turn whose time to be kept runs out says what the store said before, or that it cannot be reached, and never that it
// was the turn that took too long.
func TestKeepingRunsOut(t *testing.T) {
	full := &store.WriteError{Next: "try again", Cause: errors.New("no space")}
	for name, test := range map[string]struct {
		said []error // by the tries before the last, which hangs
		want string
	}{
		"full before":  {[]error{full, full}, full.Error()},
		"never answer": {nil, new(store.UnreachableError).Error()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := commandsrv.Insist(ctx, nil, func() error {
					if len(test.said) == 0 {
						<-ctx.Done()
						return fmt.Errorf("timeout: %w", ctx.Err())
					}
					said := test.said[0]
					test.said = test.said[1:]
					return said
				})
				if fault := commandsrv.FaultOf(err); fault.Code != http.StatusServiceUnavailable || fault.Message != test.want {
					t.Errorf("got %d: %s, want 503: %s", fault.Code, fault.Message, test.want)
				}
			})
		})
	}
}

// What cannot begin for want of a store is in the log, and a turn that failed is there once.
func TestOutageIsLogged(t *testing.T) {
	var log bytes.Buffer
	b := newBed(t, func(o *commandsrv.Options) { o.Logger = zerolog.New(&log) })
	id := b.begin(t, "alice")
	words := fmt.Sprintf(`{"session_id":%q,"command":"search_books <words>panic</words>"}`, id)
	if status, got := b.post(t, "alice", "/execute_command", words); status != http.StatusInternalServerError {
		t.Errorf("got %d %v, want 500", status, got)
	}
	if got := log.String(); strings.Count(got, `"message":"a turn failed"`) != 1 || strings.Contains(got, "an operation failed") {
		t.Errorf("got %s, want the turn once", got)
	}
	if err := b.store.Close(); err != nil {
		t.Error(err)
	}
	log.Reset()
	if status, got := b.post(t, "alice", "/execute_command", words); status < http.StatusInternalServerError {
		t.Errorf("got %d %v without a store, want a fault of the server", status, got)
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"message":"an operation failed"`) {
		t.Errorf("got %s, want that the operation failed", got)
	}
}

// What is not to be had for a while is 503, what goes on is 409, and what is not known what to make of is 500.
func TestFaultCodes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code int
	}{
		{&store.SchemaError{}, 503}, {&store.ReadOnlyError{Cause: errors.New("no right")}, 503}, {&store.WriteError{Cause: errors.New("full")}, 503}, {&store.UnreachableError{Cause: errors.New("away")}, 503},
		{store.ErrClosed, 503}, {store.ErrLost, 503}, {&store.BusyError{}, 409}, {store.ErrNotFound, 404}, {store.ErrNoTurn, 422},
		{context.DeadlineExceeded, 500}, {errors.New("odd"), 500},
	} {
		if got := commandsrv.FaultOf(fmt.Errorf("it failed: %w", tt.err)); got.Code != tt.code {
			t.Errorf("%T: got %d, want %d", tt.err, got.Code, tt.code)
		}
	}
}

// A fault of the program is logged with its stack and whose turn it was, and told to nobody else.
func TestPanicIsLogged(t *testing.T) {
	var log bytes.Buffer
	b := newBed(t, func(o *commandsrv.Options) { o.Logger = zerolog.New(&log) })
	id := b.begin(t, "alice")
	status, got := b.post(t, "alice", "/execute_command", fmt.Sprintf(`{"session_id":%q,"command":"search_books <words>panic</words>"}`, id))
	if status != http.StatusInternalServerError || strings.Contains(fmt.Sprint(got), "goroutine") {
		t.Errorf("got %d %v", status, got)
	}
	first, _, _ := strings.Cut(log.String(), "\n")
	for _, want := range []string{"a search for panic", "goroutine ", `"user":"alice"`, `"session":"` + id, `"turn":"`} {
		if !strings.Contains(first, want) {
			t.Errorf("got %.300s, want %q in it", first, want)
		}
	}
}

// There are no resources: what there is, operations tell.
func TestNoResources(t *testing.T) {
	k := newBed(t, nil).talk(t, principal.Principal{Name: principal.Default})
	got := k.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if strings.Contains(got, `"resources"`) {
		t.Errorf("got %s, want no resources", got)
	}
	if got := k.ask(`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`); !strings.Contains(got, `"error"`) {
		t.Errorf("got %s, want no resources", got)
	}
}

// Every row of the table of requirements is as required, or differs with a reason, and names tests that there are.
func TestRequirements(t *testing.T) {
	text, err := os.ReadFile("../../docs/commands-requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := declaredTests(t, "../..")
	row := regexp.MustCompile(`(?m)^\| (\d+) \| (.+) \| (\w+) \| (.*)\| (.*) \|$`)
	rows := row.FindAllStringSubmatch(string(text), -1)
	if want := strings.Count(string(text), "\n| ") - 1; len(rows) != 86 || want != 86 {
		t.Fatalf("got %d rows of %d that can be read, want 86", len(rows), want)
	}
	for i, r := range rows {
		switch {
		case r[1] != fmt.Sprint(i+1):
			t.Errorf("row %d has the number %s", i+1, r[1])
		case r[3] != "yes" && r[3] != "differs":
			t.Errorf("row %d is %q, want yes or differs", i+1, r[3])
		case r[3] == "differs" && strings.TrimSpace(r[4]) == "":
			t.Errorf("row %d differs without a reason", i+1)
		}
		for name := range strings.SplitSeq(r[5], ", ") {
			if !tests[name] {
				t.Errorf("row %d: there is no test %s", i+1, name)
			}
		}
	}
}

// declaredTests are the tests of the repository, and the files of cases of those that have one each, as Test/FILE.
func declaredTests(t *testing.T, root string) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\) \{`)
	for _, dir := range []string{"workflowsrv", "host", "cmd", "internal", "proxy", "test"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.Name() == "node_modules":
				return fs.SkipDir
			case !strings.HasSuffix(path, "_test.go") || d.IsDir():
				return nil
			}
			text, err := os.ReadFile(path)
			for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
				tests[m[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for test, dir := range map[string]string{"TestTranscripts": "testdata", "TestScripts": "../../cmd/workbench/testdata/script"} {
		cases, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
		if err != nil || len(cases) == 0 {
			t.Fatalf("got no cases of %s: %v", test, err)
		}
		for _, file := range cases {
			tests[test+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar")] = true
		}
	}
	return tests
}
