package workflowsrv_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/library"
)

const handshake = `{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// greeted opens a session and shakes hands.
func greeted(t *testing.T, server *workflowsrv.Server) *peerClient {
	t.Helper()
	p := connect(t, server)
	if got := p.ask(handshake); !strings.Contains(got, `"result"`) {
		t.Fatalf("initialize: got %s, want a result", got)
	}
	return p
}

// call encodes a tools/call.
func call(id int, tool string, arguments any) string {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": arguments}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// memory makes a source of files.
func memory(files map[string]string) []definition.Source {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return []definition.Source{{Origin: definition.Embedded, FS: fsys}}
}

// slow is a workflow whose validation takes its whole time: a pattern that backtracks without end.
const slow = `{"id":"slow-one","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"t","prompt":"p","validationCriteria":[` +
	`{"type":"regex","pattern":"^(a+)+$","message":"m"}]}]}`

func slowCall(id int) string {
	return call(id, "workflow_validate", map[string]any{"workflowId": "slow-one", "stepId": "one", "output": strings.Repeat("a", 200) + "b"})
}

// TestSideBySide sends many calls at once: each is answered once, under its id.
func TestSideBySide(t *testing.T) {
	p := greeted(t, workflowsrv.New(workflowsrv.Options{Sources: []definition.Source{{Origin: definition.Embedded, FS: library.Files()}}}))
	const calls = 500
	var sending sync.WaitGroup
	for w := range 4 {
		sending.Go(func() {
			for i := w; i < calls; i += 4 {
				p.session.Receive([]byte(call(i, "workflow_next", map[string]any{"workflowId": "find-bug", "completedSteps": []string{}})))
			}
		})
	}
	seen := map[string]bool{}
	for range calls {
		answer := <-p.heard
		if !strings.Contains(answer, `"isComplete":false`) {
			t.Fatalf("got %.300s, want a step", answer)
		}
		seen[idOf(answer)] = true
	}
	sending.Wait()
	if len(seen) != calls {
		t.Errorf("got %d different ids, want %d", len(seen), calls)
	}
}

// TestCancel cancels a call that takes long: it is not answered, and the id is free again.
func TestCancel(t *testing.T) {
	p := greeted(t, workflowsrv.New(workflowsrv.Options{Sources: memory(map[string]string{"w.json": slow})}))
	p.session.Receive([]byte(slowCall(7)))
	if got := p.ask(slowCall(7)); !strings.Contains(got, "this id is running") {
		t.Errorf("the id of a running call: got %s, want an error", got)
	}
	p.session.Receive([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`))
	p.session.Receive([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}`))
	p.session.Receive([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`))
	if err := p.session.Close(t.Context()); err != nil {
		t.Errorf("Close: got %v, want nil", err)
	}
	select {
	case got := <-p.heard:
		t.Errorf("got %s, want no answer to a cancelled call", got)
	default:
	}
}

// TestClose makes sure that Close waits for what is this id is running, and that it gives up at the end of its context.
func TestClose(t *testing.T) {
	t.Parallel()
	server := workflowsrv.New(workflowsrv.Options{Sources: memory(map[string]string{"w.json": slow})})
	t.Run("waits", func(t *testing.T) {
		p := greeted(t, server)
		p.session.Receive([]byte(slowCall(1)))
		if err := p.session.Close(t.Context()); err != nil {
			t.Errorf("got %v, want nil", err)
		}
		select {
		case got := <-p.heard:
			if !strings.Contains(got, `"valid":false`) {
				t.Errorf("got %s, want a verdict", got)
			}
		default:
			t.Error("got no answer before Close returned")
		}
		if err := p.session.Close(t.Context()); err != nil {
			t.Errorf("a second time: got %v, want nil", err)
		}
	})
	t.Run("gives up", func(t *testing.T) {
		p := greeted(t, server)
		p.session.Receive([]byte(slowCall(1)))
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.session.Close(over); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		if len(p.heard) > 0 {
			t.Errorf("got %s, want no answer", <-p.heard)
		}
	})
	t.Run("ends subscriptions", func(t *testing.T) {
		p := connect(t, server)
		const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
		for _, id := range []string{"1", "2"} {
			p.ask(`{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{` + meta + `}}`)
		}
		p.session.Receive([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
		if err := p.session.Close(t.Context()); err != nil {
			t.Errorf("got %v, want nil", err)
		}
		want := `{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":2}}}`
		if got := <-p.heard; got != want || len(p.heard) > 0 {
			t.Errorf("got %s and %d more, want %s", got, len(p.heard), want)
		}
	})
}

// held are files that can be read once the gate is open.
type held struct {
	fs.FS
	gate chan struct{}
}

func (h held) Open(name string) (fs.File, error) {
	<-h.gate
	return h.FS.Open(name)
}

// TestBoundedCalls sends more calls than are worked on at a time: Receive then waits, and all are answered.
func TestBoundedCalls(t *testing.T) {
	t.Parallel()
	const running, calls = 32, 40
	files := held{library.Files(), make(chan struct{})}
	p := greeted(t, workflowsrv.New(workflowsrv.Options{Sources: []definition.Source{{Origin: definition.Embedded, FS: files}}}))
	var received atomic.Int32
	begun := make(chan struct{})
	go func() {
		for i := range calls {
			p.session.Receive([]byte(call(i, "workflow_list", map[string]any{})))
			if received.Add(1) == running {
				close(begun)
			}
		}
	}()
	<-begun
	runtime.Gosched()
	if got := received.Load(); got != running {
		t.Errorf("got %d calls begun at once, want %d", got, running)
	}
	close(files.gate)
	for range calls {
		if got := <-p.heard; !strings.Contains(got, `"find-bug"`) {
			t.Errorf("got %.300s, want the list", got)
		}
	}
}

// TestHostileInput sends what no honest client sends. Every request is answered, with an error or with sense, and the
// session goes on.
func TestHostileInput(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	context := map[string]any{}
	for i := range 20_000 {
		context[fmt.Sprintf("variable-%d", i)] = strings.Repeat("v", 40)
	}
	deep := any("end")
	for range 200 {
		deep = map[string]any{"d": []any{deep}}
	}
	const stepText = `{"id":"only","title":"t","prompt":"p","runCondition":{"var":"go"},"validationCriteria":[{"type":"contains","value":"needle","message":"m"}]}`
	server := workflowsrv.New(workflowsrv.Options{Sources: memory(map[string]string{
		"w.json": `{"id":"one-step","name":"n","description":"d","version":"1.0.0","steps":[` + stepText + `]}`,
	})})
	p := greeted(t, server)
	bare := connect(t, server.Bare(nil))
	bare.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}`)
	for _, c := range []struct {
		name, tool string
		arguments  any
		want       string
	}{
		{"long id", "workflow_get", map[string]any{"id": long}, "id must have 3 to 64 characters"},
		{"long step id", "workflow_validate", map[string]any{"workflowId": "one-step", "stepId": long, "output": "x"}, "stepId must have 3 to 64 characters"},
		{"long name of an argument", "workflow_get", map[string]any{long: 1}, "unknown argument"},
		{"long completed ids", "workflow_next", map[string]any{"workflowId": "one-step", "completedSteps": []string{long, long}}, `"missing"`},
		{"context of 1 MB", "workflow_next", map[string]any{"workflowId": "one-step", "completedSteps": []string{}, "context": context}, `"missing"`},
		{"deep context", "workflow_next", map[string]any{"workflowId": "one-step", "completedSteps": []string{}, "context": map[string]any{"go": deep}}, `"step":{`},
		{"output of 1 MB", "workflow_validate", map[string]any{"workflowId": "one-step", "stepId": "only", "output": strings.Repeat("y", 1<<20)}, `"valid":false`},
		{"output above the limit", "workflow_validate", map[string]any{"workflowId": "one-step", "stepId": "only", "output": strings.Repeat("y", 1<<20+1)}, "at most 1048576 are validated"},
		{"long state", "workflow_next", map[string]any{"workflowId": "one-step", "completedSteps": []string{}, "state": strings.Repeat(".", 1<<20)}, "-32005"},
		{"prototype names", "workflow_next", map[string]any{"workflowId": "one-step", "completedSteps": []string{"__proto__"}, "context": map[string]any{"__proto__": map[string]any{"go": true}}}, `"missing"`},
		{"deep definition", "workflow_validate_json", map[string]any{"workflowJson": `{"id":"abc","steps":` + strings.Repeat("[", 100_000)}, `"valid":false`},
		{"long definition", "workflow_validate_json", map[string]any{"workflowJson": strings.Repeat(" ", 2<<20) + "{}"}, `"valid":false`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := p.ask(call(1, c.tool, c.arguments))
			if !strings.Contains(got, c.want) {
				t.Errorf("MCP: got %.300s, want a part %q", got, c.want)
			}
			if len(got) > 20_000 {
				t.Errorf("MCP: got an answer of %d bytes, want a short one", len(got))
			}
			params, err := json.Marshal(c.arguments)
			if err != nil {
				t.Fatal(err)
			}
			got = bare.ask(`{"jsonrpc":"2.0","id":1,"method":"` + c.tool + `","params":` + string(params) + `}`)
			if !strings.Contains(got, c.want) {
				t.Errorf("bare: got %.300s, want a part %q", got, c.want)
			}
		})
	}
}

// TestFilesChange follows a directory through a session, whatever becomes of it. How soon a change is seen is tested
// with the store.
func TestFilesChange(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "workflows")
	p := greeted(t, workflowsrv.New(workflowsrv.Options{Sources: definition.Layers{Dirs: []string{dir}}.Sources()}))
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		change func()
		want   string
	}{
		{"appears", func() { write("w.json", slow) }, `"structuredContent":{"workflows":[{"id":"slow-one"`},
		{"half written", func() { write("w.json", slow[:50]) }, `the file ends within it`},
		{"vanishes", func() { os.RemoveAll(dir) }, `"structuredContent":{"workflows":[]}`},
	} {
		c.change()
		got := p.ask(call(1, "workflow_list", nil))
		for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(got, c.want); got = p.ask(call(1, "workflow_list", nil)) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: got %s, want a part %s", c.name, got, c.want)
			}
			time.Sleep(10 * time.Millisecond) // the disk tells nobody when it has changed
		}
	}
}

// TestOutputSchemas holds every structured content, also that of errors, against the schema that tools/list gives for
// it.
func TestOutputSchemas(t *testing.T) {
	p := greeted(t, workflowsrv.New(workflowsrv.Options{Sources: append(memory(map[string]string{"bad.json": `{"id":"bad-one"}`}),
		definition.Source{Origin: definition.User, FS: library.Files()})}))
	var list struct {
		Result struct {
			Tools []struct {
				Name                      string
				InputSchema, OutputSchema json.RawMessage
			}
		}
	}
	if err := json.Unmarshal([]byte(p.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)), &list); err != nil {
		t.Fatal(err)
	}
	output, input := map[string]*jsonschema.Schema{}, map[string]*jsonschema.Schema{}
	for _, tool := range list.Result.Tools {
		output[tool.Name], input[tool.Name] = compile(t, tool.OutputSchema), compile(t, tool.InputSchema)
	}
	for _, c := range []struct {
		tool, arguments string
		isError         bool
	}{
		{"workflow_list", `{}`, false},
		{"workflow_get", `{"id":"find-bug"}`, false},
		{"workflow_get", `{"id":"find-bug","mode":"preview"}`, false},
		{"workflow_get", `{"id":"find-bug","mode":"metadata"}`, false},
		{"workflow_get", `{"id":"find-bugs"}`, true},
		{"workflow_get", `{"id":"bad-one"}`, true},
		{"workflow_next", `{"workflowId":"find-bug","completedSteps":[]}`, false},
		{"workflow_next", `{"workflowId":"review-change","completedSteps":[],"state":"?"}`, true},
		{"workflow_validate", `{"workflowId":"find-bug","stepId":"restate-report","output":"x"}`, true},
		{"workflow_validate_json", `{"workflowJson":"{}"}`, false},
		{"workflow_get_schema", `{}`, false},
	} {
		var answer struct {
			Result struct {
				StructuredContent any
				IsError           bool
				Content           []struct{ Text string }
			}
		}
		dec := json.NewDecoder(strings.NewReader(p.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + c.tool + `","arguments":` + c.arguments + `}}`)))
		dec.UseNumber()
		if err := dec.Decode(&answer); err != nil {
			t.Fatal(err)
		}
		r := answer.Result
		if err := output[c.tool].Validate(r.StructuredContent); err != nil {
			t.Errorf("%s %s: %v", c.tool, c.arguments, err)
		}
		arguments, err := jsonschema.UnmarshalJSON(strings.NewReader(c.arguments))
		if err != nil {
			t.Fatal(err)
		}
		if err := input[c.tool].Validate(arguments); err != nil {
			t.Errorf("%s %s: %v", c.tool, c.arguments, err)
		}
		if r.IsError != c.isError || len(r.Content) != 1 || r.Content[0].Text == "" {
			t.Errorf("%s %s: got isError %v and %d contents, want isError %v and a text", c.tool, c.arguments, r.IsError, len(r.Content), c.isError)
		}
		if r.IsError {
			continue
		}
		want, err := json.Marshal(r.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if diff := differs(t, r.Content[0].Text, string(want)); diff != "" {
			t.Errorf("%s %s: the text is not the structured content: %s", c.tool, c.arguments, diff)
		}
	}
}

func compile(t *testing.T, schema json.RawMessage) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("schema.json")
}

// FuzzDoors feeds lines to both doors: what comes back is always JSON-RPC, and a request with an id gets exactly one
// answer.
func FuzzDoors(f *testing.F) {
	for _, name := range []string{"testdata/bare/*.txtar", "testdata/mcp/*.txtar"} {
		files, err := filepath.Glob(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			for line := range strings.Lines(string(data)) {
				if msg, ok := strings.CutPrefix(line, "> "); ok {
					f.Add([]byte(strings.TrimSpace(msg)), strings.Contains(file, "bare"))
				}
			}
		}
	}
	server := workflowsrv.New(workflowsrv.Options{Sources: []definition.Source{{Origin: definition.Embedded, FS: library.Files()}}})
	f.Fuzz(func(t *testing.T, msg []byte, bare bool) {
		var mu sync.Mutex
		var answers []string
		var door wire.Endpoint = server
		begin := handshake
		if bare {
			door = server.Bare(nil)
			begin = `{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}`
		}
		s := door.Connect(func(msg []byte) {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasPrefix(string(msg), `{"jsonrpc":"2.0","method":`) {
				return // that a subscription is acknowledged
			}
			answers = append(answers, string(msg))
		})
		s.Receive([]byte(begin))
		s.Receive(msg)
		if err := s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if len(answers) > 2 {
			t.Errorf("%q: got %d answers, want one", msg, len(answers)-1)
		}
		for _, answer := range answers {
			var m wire.Message
			if err := wire.Scan([]byte(answer), &m); err != nil && !strings.Contains(answer, `"id":null`) {
				t.Errorf("%q: got %q, which is no message: %v", msg, answer, err)
			}
		}
		var m wire.Message
		if wire.Scan(msg, &m) == nil && m.Kind == wire.Request && len(answers) != 2 && !m.IsMethod("shutdown") {
			t.Errorf("%q: got %d answers, want one", msg, len(answers)-1)
		}
	})
}
