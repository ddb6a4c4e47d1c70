package commandsrv_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/command/example"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // there is memory enough
	// The clock that regular expressions share ends by itself a second after the last match.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock"))
}

// A bed is a server of the example workflow with a store of its own.
type bed struct {
	*commandsrv.Server
	store *store.Store
	gate  *gate

	described map[string]any // the OpenAPI document
	tools     []any          // as listed
	schemas   map[string]*jsonschema.Schema
}

// newBed makes one; change may alter its options.
func newBed(t *testing.T, change func(*commandsrv.Options)) *bed {
	t.Helper()
	return bedAt(t, filepath.Join(t.TempDir(), "conversations.db"), change)
}

func bedAt(t *testing.T, file string, change func(*commandsrv.Options)) *bed {
	t.Helper()
	shop := example.New()
	w, err := command.Load(example.Files(), command.LoadOptions{Tools: shop.Tools()})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.OpenSQLite(t.Context(), file, func(err error) {
		var place *store.PlaceError
		if !errors.As(err, &place) {
			t.Errorf("the store warns: %v", err)
		}
	}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	opts := commandsrv.Options{Version: "1.2.3"}
	if change != nil {
		change(&opts)
	}
	b := &bed{store: st, gate: newGate(shop), schemas: map[string]*jsonschema.Schema{}}
	b.Server = commandsrv.New(command.New(w, command.Options{Caller: b.gate}), st, opts)
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// pictured is what a search for "picture" finds.
const pictured = `[{"type":"text","text":"A picture."},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"resource_link","uri":"file:///a.png","name":"a","_meta":{"x":1}}]`

// A gate is the shop whose search for "slow" waits until it is let through, whose search for "panic" is a fault of
// ours, and whose search for "picture" finds one.
type gate struct {
	command.Caller
	came   chan struct{}
	linger chan struct{} // has a search that is cancelled say so, and wait; nil has it end

	mu      sync.Mutex // guards what follows
	open    chan struct{}
	waiting int // searches that came to the gate
}

func newGate(c command.Caller) *gate {
	return &gate{Caller: c, open: make(chan struct{}), came: make(chan struct{}, 100)}
}

func (g *gate) CallTool(ctx context.Context, toolbox, server, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	switch {
	case strings.Contains(string(arguments), `"panic"`):
		panic("a search for panic")
	case strings.Contains(string(arguments), `"picture"`):
		return json.RawMessage(`{"content":` + pictured + `}`), nil
	case strings.Contains(string(arguments), `"slow"`):
		g.mu.Lock()
		open := g.open
		g.waiting++
		g.mu.Unlock()
		g.came <- struct{}{}
		select {
		case <-open:
		case <-ctx.Done():
			if g.linger != nil {
				g.linger <- struct{}{}
				<-g.linger
			}
			return nil, context.Cause(ctx)
		}
	}
	return g.Caller.CallTool(ctx, toolbox, server, tool, arguments)
}

// release lets the next one through that comes or waits.
func (g *gate) release() {
	<-g.came
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
	g.open = make(chan struct{})
}

// searches is how many came to the gate.
func (g *gate) searches() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting
}

// A planner is an agent without a model: each line of the query is a command. The line "ask" asks, the line "fail" is a
// model that fails, and what follows "say " is said word by word.
type planner struct{}

func (planner) Run(ctx context.Context, r commandsrv.AgentRequest) (*commandsrv.AgentResult, error) {
	result := &commandsrv.AgentResult{Status: command.Completed, Path: r.Path}
	lines := strings.Split(r.Query, "; ")
	if r.State != nil {
		lines = []string{"search_books <words>" + r.Query + "</words>"}
	}
	var texts []string
	for i, line := range lines {
		if words, says := strings.CutPrefix(line, "say "); says {
			for word := range strings.SplitAfterSeq(words, " ") {
				r.Text(i+1, word)
			}
			continue
		}
		switch line {
		case "fail":
			return nil, errors.New("the model answered with status 500")
		case "ask":
			result.Status, result.Question, result.State = command.AwaitingUser, "Which book?", json.RawMessage(`{"round":1}`)
			result.Output = output(r.Engine, result.Path, false, result.Question)
			return result, nil
		}
		o, err := r.Engine.Execute(ctx, result.Path, line, command.CallOptions{Trace: r.Trace})
		if err != nil {
			return nil, err
		}
		result.Path = o.Path
		texts = append(texts, o.Text())
	}
	result.Output = output(r.Engine, result.Path, true, strings.Join(texts, "\n"))
	return result, nil
}

func withPlanner(o *commandsrv.Options) { o.Agent = planner{} }

func output(e *command.Engine, at command.Path, success bool, text string) command.CommandOutput {
	return command.CommandOutput{Success: success, WorkflowName: e.Workflow().Name, Context: e.Workflow().Title(at),
		CommandParameters: json.RawMessage("null"), CommandResponses: []command.CommandResponse{{Response: text}}}
}

// A namer is a summarizer without a model.
type namer struct{ err error }

func (n namer) Summarize(_ context.Context, said []commandsrv.Exchange) (topic, summary string, err error) {
	return "About " + said[0].Query, "They talked.", n.err
}

// A talk is an MCP session with a server.
type talk struct {
	t       *testing.T
	session wire.Session
	heard   chan string
}

func (b *bed) talk(t *testing.T, who principal.Principal) *talk {
	t.Helper()
	k := &talk{t: t, heard: make(chan string, 100)}
	k.session = b.For(who).Connect(func(msg []byte) { k.heard <- string(msg) })
	t.Cleanup(func() { _ = k.session.Close(context.WithoutCancel(t.Context())) })
	return k
}

// ask sends a request and returns what comes back up to the reply.
func (k *talk) ask(msg string) string {
	k.t.Helper()
	k.session.Receive([]byte(msg))
	var all []string
	for {
		select {
		case got := <-k.heard:
			all = append(all, got)
			if object(k.t, []byte(got))["method"] == nil {
				return strings.Join(all, "\n")
			}
		case <-time.After(2 * time.Minute):
			k.t.Fatalf("no answer to %s", msg)
		}
	}
}
