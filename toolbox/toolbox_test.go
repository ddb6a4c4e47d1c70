package toolbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/atonce"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/test/wiretest"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

func TestMain(m *testing.M) {
	atonce.Tests(24)
	os.Exit(wiretest.Main(m, []string{"test/fakeserver"}))
}

// childServer is a server as specs of test/fakeserver make it.
func childServer(name, specs string) config.Server {
	return config.Server{
		Name: name, Transport: config.TransportStdio, Command: wiretest.Program("fakeserver"),
		Env:      map[string]string{"FAKESERVER": specs, "DECLARED": "yes"},
		Timeouts: config.Timeouts{Start: 20 * time.Second, CallIdle: time.Minute, CallTotal: time.Minute},
	}
}

// peer notes what the servers say.
type peer struct {
	mu       sync.Mutex
	notes    []string
	requests chan *toolbox.Ask
	changed  chan toolbox.Kind
}

func newPeer() *peer {
	return &peer{requests: make(chan *toolbox.Ask, 10), changed: make(chan toolbox.Kind, 100)}
}

func (p *peer) Notification(_ *toolbox.Server, m *wire.Message, _ toolbox.CallHandler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, string(m.Raw))
}

// noted gives what servers said so far, and forgets it.
func (p *peer) noted() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	notes := p.notes
	p.notes = nil
	return notes
}

func (p *peer) Request(a *toolbox.Ask, _ *wire.Message)   { p.requests <- a }
func (p *peer) Withdraw(*toolbox.Ask, *wire.Message)      {}
func (p *peer) Changed(_ *toolbox.Server, k toolbox.Kind) { p.changed <- k }

func open(t *testing.T, opts toolbox.Options, servers ...config.Server) *toolbox.Toolbox {
	t.Helper()
	if opts.Peer == nil {
		opts.Peer = newPeer()
	}
	b := toolbox.New(config.Toolbox{Name: "box", Servers: servers}, opts)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	if err := b.Open(t.Context(), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	return b
}

func server(t *testing.T, b *toolbox.Toolbox, name string) *toolbox.Server {
	t.Helper()
	s, ok := b.Server(name)
	if !ok {
		t.Fatalf("no server %q", name)
	}
	return s
}

// callTool makes a call as the front does and returns the reply.
func callTool(t *testing.T, s *toolbox.Server, name, arguments string) (string, error) {
	t.Helper()
	out, err := s.Request(t.Context(), "tools/call", fmt.Appendf(nil, `{"name":%q,"arguments":%s}`, name, arguments))
	return string(out), err
}

func keys(items []toolbox.Item) (names []string) {
	for _, it := range items {
		names = append(names, it.Key.Verbatim())
	}
	return names
}

func TestOpenStartsAndLists(t *testing.T) {
	b := open(t, toolbox.Options{Environ: []string{"PATH=/usr/bin", "SECRET=s3cret", "LET=through"}},
		childServer("plain", ""), childServer("pages", "page=3 prompts=greet resources=a:1"), childServer("modern", "modern"), childServer("banner", "banner"))
	for _, s := range b.Servers() {
		if st := s.Status(); st.State != toolbox.Ready || st.PID == 0 {
			t.Errorf("%s: got %+v, want ready with a pid", s.Name, st)
		}
		var want []string
		for _, def := range mcptest.DefaultTools() {
			var name struct{ Name string }
			unmarshal(t, def, &name)
			want = append(want, name.Name)
		}
		if got := keys(s.Items(toolbox.Tools)); !slices.Equal(got, want) {
			t.Errorf("%s: got tools %v, want %v", s.Name, got, want)
		}
	}
	plain := server(t, b, "plain")
	for i, it := range plain.Items(toolbox.Tools) {
		if got, want := string(it.Raw), mcptest.DefaultTools()[i]; got != want {
			t.Errorf("tool %d: got %s, want the bytes of the server: %s", i, got, want)
		}
	}
	if notes := strings.Join(server(t, b, "banner").Notes(), " "); !strings.Contains(notes, "Welcome to the server!") {
		t.Errorf("notes of the server with a banner: %q", notes)
	}

	env, err := callTool(t, plain, "env", "{}")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(env, "s3cret") || strings.Contains(env, "LET=") {
		t.Errorf("the child got variables that were not declared: %s", env)
	}
	if !strings.Contains(env, "DECLARED=yes") {
		t.Errorf("the child did not get what was declared: %s", env)
	}
}

func TestInheritedEnvironment(t *testing.T) {
	named, all := childServer("named", ""), childServer("all", "")
	named.InheritEnv = config.InheritEnv{Names: []string{"LET"}}
	all.InheritEnv = config.InheritEnv{All: true}
	b := open(t, toolbox.Options{Environ: []string{"PATH=/usr/bin", "SECRET=s3cret", "LET=through"}}, named, all)
	for name, want := range map[string]bool{"named": false, "all": true} {
		env, err := callTool(t, server(t, b, name), "env", "{}")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(env, "s3cret"); got != want {
			t.Errorf("%s: has SECRET = %v, want %v", name, got, want)
		}
		if !strings.Contains(env, "LET=through") {
			t.Errorf("%s: lacks LET: %s", name, env)
		}
	}
}

// What a server's configuration declares is what it sees, whatever it gets besides.
func TestDeclaredEnvironmentPrevails(t *testing.T) {
	safe, named, all := childServer("safe", ""), childServer("named", ""), childServer("all", "")
	named.InheritEnv = config.InheritEnv{Names: []string{"LET"}}
	all.InheritEnv = config.InheritEnv{All: true}
	servers := []config.Server{safe, named, all}
	for i := range servers {
		servers[i].Env["HOME"], servers[i].Env["LET"] = "/declared", "declared"
	}
	b := open(t, toolbox.Options{Environ: []string{"PATH=/usr/bin", "HOME=/ours", "LET=ours"}}, servers...)
	for _, s := range servers {
		env, err := callTool(t, server(t, b, s.Name), "env", "{}")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"HOME=/declared", "LET=declared"} {
			if !strings.Contains(env, want) || strings.Contains(env, "ours") {
				t.Errorf("%s: got environment %s want %s in it", s.Name, env, want)
			}
		}
	}
}

// A server that is sick in any way is told of by itself; its neighbour works.
func TestSickServersStayAlone(t *testing.T) {
	t.Parallel()
	hang := childServer("hang", "silent=initialize")
	hang.Timeouts.Start = time.Hour
	slow := childServer("slow", "silent=initialize")
	slow.Timeouts.Start = 300 * time.Millisecond
	problem := childServer("problem", "")
	problem.Problem = errors.New("variable TOKEN is not set")
	off := childServer("off", "")
	off.Disabled = true
	b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{
		hang, slow, problem, off,
		{Name: "absent", Transport: config.TransportStdio, Command: "no-such-program-anywhere", Timeouts: config.Timeouts{Start: time.Second}},
		childServer("crash", "exit=7"), childServer("mute", "prompts=x silent=prompts/list"), childServer("badlist", "resources=a:1 refuse=resources/list"), childServer("good", ""),
	}}, toolbox.Options{Peer: newPeer(), Environ: os.Environ()})
	defer b.Close()
	if err := b.Open(t.Context(), 3*time.Second); err != nil {
		t.Fatal(err)
	}
	good := server(t, b, "good")
	if _, err := callTool(t, good, "echo", `{"a":1}`); err != nil {
		t.Errorf("the good server: %v", err)
	}
	for name, want := range map[string]struct {
		states []toolbox.State
		cause  string
	}{
		"hang":    {[]toolbox.State{toolbox.Starting}, ""},
		"slow":    {[]toolbox.State{toolbox.Backoff, toolbox.Starting, toolbox.Open}, ""},
		"problem": {[]toolbox.State{toolbox.Failed}, "TOKEN"},
		"off":     {[]toolbox.State{toolbox.Disabled}, "disabled"},
		"absent":  {[]toolbox.State{toolbox.Backoff, toolbox.Starting, toolbox.Open}, ""},
		"crash":   {[]toolbox.State{toolbox.Backoff, toolbox.Starting, toolbox.Open}, ""},
		"mute":    {[]toolbox.State{toolbox.Ready}, ""},
		"badlist": {[]toolbox.State{toolbox.Ready}, ""},
		"good":    {[]toolbox.State{toolbox.Ready}, ""},
	} {
		st := server(t, b, name).Status()
		if !slices.Contains(want.states, st.State) {
			t.Errorf("%s: got state %s (%v), want one of %v", name, st.State, st.Cause, want.states)
		}
		if want.cause != "" && (st.Cause == nil || !strings.Contains(st.Cause.Error(), want.cause)) {
			t.Errorf("%s: got cause %v, want one with %q", name, st.Cause, want.cause)
		}
	}
	if _, err := callTool(t, server(t, b, "problem"), "echo", "{}"); !errors.As(err, new(*toolbox.UnavailableError)) {
		t.Errorf("call of a failed server: got %v, want UnavailableError", err)
	}
}

// What a server said before it died is part of the reason.
func TestCrashAtStartTellsWhy(t *testing.T) {
	var mu sync.Mutex
	var causes []error
	b := open(t, toolbox.Options{Event: func(e toolbox.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Status.State == toolbox.Backoff {
			causes = append(causes, e.Status.Cause)
		}
	}}, childServer("crash", "exit=7"))
	deadline, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		mu.Lock()
		n := len(causes)
		mu.Unlock()
		if n > 0 || deadline.Err() != nil {
			break
		}
		_ = b.Open(deadline, time.Millisecond)
	}
	mu.Lock()
	defer mu.Unlock()
	var exit *link.ExitError
	if len(causes) == 0 || !errors.As(causes[0], &exit) || !strings.Contains(exit.How, "7") || !slices.Contains(exit.Stderr, foreign.NewText("cannot read the licence file")) {
		t.Errorf("got causes %v, want exit status 7 with the last words", causes)
	}
}

func TestFilters(t *testing.T) {
	for _, tt := range []struct {
		filters, want []string
	}{
		{[]string{"echo", "odd"}, []string{"echo", "odd"}},
		{[]string{"*", "!exit", "!e*"}, []string{"params", "fail", "iserror", "odd", "big", "progress", "ask", "say", "heard", "hang", "sleep", "pid", "add_tool", "noise", "update", "result"}},
		{[]string{"!*[a-df-z]*"}, nil},
		{[]string{"p*"}, []string{"params", "progress", "pid"}},
	} {
		s := childServer("s", "")
		s.ToolFilters = tt.filters
		b := open(t, toolbox.Options{}, s)
		if got := keys(server(t, b, "s").Items(toolbox.Tools)); !slices.Equal(got, tt.want) {
			t.Errorf("filters %q: got %q, want %q", tt.filters, got, tt.want)
		}
	}
}

func TestCrashInCallAndRestart(t *testing.T) {
	b := open(t, toolbox.Options{}, childServer("s", ""))
	s := server(t, b, "s")
	first, err := callTool(t, s, "pid", "{}")
	if err != nil {
		t.Fatal(err)
	}
	_, err = callTool(t, s, "exit", `{"n":3}`)
	var lost *rpc.LostError
	var exit *link.ExitError
	if !errors.As(err, &lost) || !errors.As(err, &exit) {
		t.Fatalf("got %v, want a LostError with an ExitError", err)
	}
	for _, want := range []string{`"s"`, `"box"`, "exit status 3", "last words of the child", "unknown"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "\x1b") {
		t.Errorf("the error has terminal escapes: %q", err)
	}
	second, err := callTool(t, s, "pid", "{}")
	if err != nil {
		t.Fatalf("the next call: %v", err)
	}
	if first == second {
		t.Errorf("the process is the same: %s", first)
	}
	if st := s.Status(); st.Starts != 2 {
		t.Errorf("got %d starts, want 2", st.Starts)
	}
}

func TestCommandNotFound(t *testing.T) {
	t.Parallel()
	b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{{
		Name: "s", Transport: config.TransportStdio, Command: filepath.Join(t.TempDir(), "missing"), Timeouts: config.Timeouts{Start: time.Second},
	}}}, toolbox.Options{Peer: newPeer()})
	defer b.Close()
	_ = b.Open(t.Context(), 10*time.Second)
	_, err := callTool(t, server(t, b, "s"), "echo", "{}")
	var start *child.StartError
	for err != nil && !errors.As(err, &start) && t.Context().Err() == nil {
		_, err = callTool(t, server(t, b, "s"), "echo", "{}")
	}
	if start == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("got %v, want a StartError that names the command", err)
	}
}

// handler notes what a call brings back.
type handler struct {
	progress chan string
	done     chan error
	reply    []byte
}

func (h *handler) Progress(m *wire.Message, token wire.Span) {
	h.progress <- string(wire.Splice(nil, m.Raw, wire.Edit{Span: token, New: []byte("T")}))
}

func (h *handler) Done(m *wire.Message, err error) {
	if m != nil {
		h.reply = bytes.Clone(m.Raw)
	}
	h.done <- err
}

func newCall(t *testing.T, raw string) (*toolbox.Call, *handler) {
	t.Helper()
	var m wire.Message
	if err := wire.Scan([]byte(raw), &m); err != nil {
		t.Fatal(err)
	}
	h := &handler{progress: make(chan string, 1000), done: make(chan error, 1)}
	c := &toolbox.Call{Raw: m.Raw, ID: m.ID, Params: m.Params, Handler: h}
	var err error
	if c.Meta, err = wire.FindPath(m.Raw, m.Params, "_meta"); err != nil {
		t.Fatal(err)
	}
	if c.Token, err = wire.FindPath(m.Raw, m.Params, "_meta", "progressToken"); err != nil {
		t.Fatal(err)
	}
	return c, h
}

func TestProgressComesBeforeTheReply(t *testing.T) {
	b := open(t, toolbox.Options{}, childServer("s", ""))
	c, h := newCall(t, `{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":"progress","arguments":{"n":500},"_meta":{"progressToken":"tok","k":1.0}}}`)
	server(t, b, "s").Send(c)
	if err := <-h.done; err != nil {
		t.Fatal(err)
	}
	if got := len(h.progress); got != 500 {
		t.Errorf("got %d notifications before the reply, want 500", got)
	}
	if got, want := <-h.progress, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":T,"progress":1,"total":500,"x":1.0}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCancelReachesTheServer(t *testing.T) {
	b := open(t, toolbox.Options{}, childServer("s", ""))
	s := server(t, b, "s")
	c, h := newCall(t, `{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":"hang"}}`)
	s.Send(c)
	raw := []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"mine","reason":"enough"}}`)
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		t.Fatal(err)
	}
	id, _ := wire.FindPath(raw, m.Params, "requestId")
	c.Cancel(raw, id)
	c.Cancel(raw, id) // once is enough
	for {
		got, err := callTool(t, s, "heard", "{}")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(got, "requestId") {
			if strings.Contains(got, "mine") || !strings.Contains(got, `\"reason\":\"enough\"`) || strings.Count(got, "requestId") != 1 {
				t.Errorf("the server was told %s, want its own id and the reason, once", got)
			}
			break
		}
	}
	select {
	case err := <-h.done:
		t.Errorf("a cancelled call ended with %v", err)
	default:
	}
}

func TestRelist(t *testing.T) {
	p := newPeer()
	b := open(t, toolbox.Options{Peer: p}, childServer("s", ""))
	s := server(t, b, "s")
	if _, err := callTool(t, s, "add_tool", `{"text":"newcomer"}`); err != nil {
		t.Fatal(err)
	}
	for !slices.Contains(keys(s.Items(toolbox.Tools)), "newcomer") {
		select {
		case <-p.changed:
		case <-t.Context().Done():
			t.Fatal("the new tool was not listed")
		}
	}
}

func TestServerAsksTheClient(t *testing.T) {
	p := newPeer()
	b := open(t, toolbox.Options{Peer: p, Client: toolbox.Client{Capabilities: []byte(`{"roots":{"x":1}}`)}}, childServer("s", ""))
	s := server(t, b, "s")
	if got := s.Instructions(); !strings.Contains(got.String(), `"capabilities":{"roots":{"x":1}}`) {
		t.Errorf("the server was told %s, want the client's capabilities", got)
	}
	go func() {
		a := <-p.requests
		raw := []byte(`{"jsonrpc":"2.0","id":"wb-1","result":{"roots":[],"n":9007199254740993}}`)
		var m wire.Message
		if err := wire.Scan(raw, &m); err != nil {
			t.Error(err)
			return
		}
		a.Reply(raw, m.ID)
		a.Reply(raw, m.ID) // the second is dropped
	}()
	got, err := callTool(t, s, "ask", `{"ask":{"method":"roots/list"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"roots\":[],\"n\":9007199254740993}}`; !strings.Contains(got, want) {
		t.Errorf("the server got %s, want the client's answer under its own id: %s", got, want)
	}
}

func TestBuiltin(t *testing.T) {
	b := open(t, toolbox.Options{Builtins: map[string]toolbox.Builtin{
		"test": func(principal.Principal, config.Server) (wire.Endpoint, error) { return &mcptest.Server{}, nil },
	}}, config.Server{Name: "in", Transport: config.TransportBuiltin, Builtin: "test", Timeouts: childServer("", "").Timeouts},
		config.Server{Name: "unknown", Transport: config.TransportBuiltin, Builtin: "other", Timeouts: childServer("", "").Timeouts})
	got, err := callTool(t, server(t, b, "in"), "odd", "{}")
	if err != nil || got != mcptest.Odd {
		t.Errorf("got %s, %v; want %s", got, err, mcptest.Odd)
	}
	if st := server(t, b, "unknown").Status(); st.State == toolbox.Ready {
		t.Errorf("an unknown built-in server is %s", st.State)
	}
}

func TestCloseTwiceAndAfter(t *testing.T) {
	t.Parallel()
	b := open(t, toolbox.Options{}, childServer("s", ""))
	s := server(t, b, "s")
	c, h := newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}`)
	s.Send(c)
	for range 2 {
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-h.done; !errors.Is(err, toolbox.ErrClosed) {
		t.Errorf("a call in flight ended with %v, want ErrClosed", err)
	}
	if _, err := callTool(t, s, "echo", "{}"); err == nil {
		t.Error("a call after Close succeeded")
	}
	if err := b.Open(t.Context(), time.Second); !errors.Is(err, toolbox.ErrClosed) && s.Status().State != toolbox.Stopped {
		t.Errorf("Open after Close: got %v and state %s", err, s.Status().State)
	}
}
