package proxy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// past is a configuration of one server, a child process that makes no handshake before its gate is open, and what runs
// of workbench have seen of it.
type past struct {
	t    *testing.T
	dir  string
	gate string
	open string // "true" for a toolbox that is open without being asked for
	pin  string // the tools that are always listed, each a JSON string
	spec string // what the server offers
}

func newPast(t *testing.T, spec string) *past {
	dir := t.TempDir()
	p := &past{t: t, dir: dir, gate: filepath.Join(dir, "gate"), open: "false", spec: spec}
	p.openGate()
	return p
}

func (p *past) openGate() {
	p.t.Helper()
	if err := os.WriteFile(p.gate, nil, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *past) closeGate() {
	p.t.Helper()
	if err := os.Remove(p.gate); err != nil {
		p.t.Fatal(err)
	}
}

// run is a workbench and its client, which shook hands if it is a legacy one.
func (p *past) run(modern bool) *line {
	p.t.Helper()
	cfg := readConfig(p.t, fmt.Sprintf(`{"openTimeout": "20s", "pin": [%s], "toolboxes": {"dev": {"open": %s, "mcpServers": {"a": {"command": "child"}}}}}`, p.pin, p.open))
	cfg.Toolboxes[0].Servers[0].Env = map[string]string{"FAKESERVER": p.spec + " gate=" + p.gate}
	l := connect(p.t, newFrontWith(p.t, cfg, proxy.Options{Toolbox: toolbox.Options{
		Catalogue: catalogue.New(filepath.Join(p.dir, "catalogue"), zerolog.Nop()),
	}}))
	if !modern {
		l.initialize("2025-11-25", "{}")
	}
	return l
}

// opened is what is looked at of the result of an open.
type opened struct {
	IsError           bool
	StructuredContent struct {
		Connected int `json:"servers_connected"`
		Servers   []struct {
			State string
			Seen  string `json:"tools_seen"`
			Error string
			Notes []string
		}
		Tools []struct{ Name string }
	}
}

const openDev = `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"dev"}}`

// openDev opens the toolbox as a client does that lists its tools again.
func (l *line) openDev(id string, listed bool) (o opened) {
	l.t.Helper()
	l.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":` + openDev + `}`)
	if listed {
		l.method("notifications/tools/list_changed")
		l.send(`{"jsonrpc":"2.0","id":"listed ` + id + `","method":"tools/list"}`)
		l.reply(`"listed ` + id + `"`)
	}
	l.result(id, &o)
	return o
}

// result reads the result of a request.
func (l *line) result(id string, into any) {
	l.t.Helper()
	reply := struct{ Result any }{into}
	text := l.reply(id)
	if err := json.Unmarshal([]byte(text), &reply); err != nil {
		l.t.Fatalf("%s: %v", text, err)
	}
}

// A toolbox whose server was seen before is open at once; whatever is asked of the server waits for it.
func TestOpenOfKnownServer(t *testing.T) {
	p := newPast(t, "tools=x,y prompts=greet resources=a:1")
	first := p.run(false)
	if got := first.openDev("1", true); got.StructuredContent.Connected != 1 || got.StructuredContent.Servers[0].Seen != "" {
		t.Errorf("the first time: got %+v, want a server that is ready", got)
	}
	first.close()

	p.closeGate()
	l := p.run(false)
	got := l.openDev("1", true)
	sc := got.StructuredContent
	if got.IsError || sc.Connected != 0 || len(sc.Tools) != 2 || sc.Servers[0].State != "starting" || sc.Servers[0].Error != "" {
		t.Errorf("got %+v, want a server that is starting, with its tools and no error", got)
	}
	if _, err := time.Parse(time.RFC3339, sc.Servers[0].Seen); err != nil {
		t.Errorf("got tools_seen %q, want a time", sc.Servers[0].Seen)
	}
	if notes := strings.Join(sc.Servers[0].Notes, "; "); notes != "starting; its tools are those last seen just now, and calls wait until it is ready" {
		t.Errorf("got notes %q", notes)
	}
	for id, request := range map[string]string{
		"2": `"method":"tools/call","params":{"name":"dev__a__x","arguments":{}}`,
		"3": `"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"y"}}`,
		"4": `"method":"prompts/get","params":{"name":"dev__a__greet"}`,
		"5": `"method":"resources/read","params":{"uri":"a:1"}`,
		"6": `"method":"resources/read","params":{"uri":"unlisted:1"}`,
	} {
		l.send(`{"jsonrpc":"2.0","id":` + id + `,` + request + `}`)
	}
	l.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	l.reply("7")
	l.mu.Lock()
	if i := slices.IndexFunc(l.got, func(text string) bool { return strings.HasPrefix(text, `{"jsonrpc":"2.0","id":2`) }); i >= 0 {
		t.Errorf("got %s from a server that is not ready", l.got[i])
	}
	l.mu.Unlock()
	p.openGate()
	for _, id := range []string{"2", "3", "4", "5", "6"} {
		if text := l.reply(id); !strings.Contains(text, `"result"`) || strings.Contains(text, "isError") {
			t.Errorf("request %s that waited: got %s, want a result", id, text)
		}
	}
	if got := l.openDev("8", false).StructuredContent; got.Connected != 1 || got.Servers[0].Seen != "" || got.Servers[0].Notes != nil {
		t.Errorf("when it is ready: got %+v, want nothing said of the past", got)
	}
	if got := strings.Count(strings.Join(l.close(), "\n"), "notifications/tools/list_changed"); got != 1 {
		t.Errorf("the list was announced %d times, want once: nothing has changed since", got)
	}
}

// What is other than it was seen is announced and said.
func TestOpenOfChangedServer(t *testing.T) {
	t.Parallel()
	p := newPast(t, `tools=x,y tool={"name":"z","inputSchema":{"type":"object"}}`)
	first := p.run(false)
	first.openDev("1", true)
	first.close()

	p.closeGate()
	p.spec = `tools=x,w tool={"name":"z","n":1,"inputSchema":{"type":"object"}}`
	l := p.run(false)
	if got := l.openDev("1", true).StructuredContent.Tools; len(got) != 3 || got[1].Name != "y" {
		t.Errorf("got tools %v, want those last seen", got)
	}
	p.openGate()
	l.method("notifications/tools/list_changed")
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if text := l.reply("2"); strings.Contains(text, "dev__a__y") || !strings.Contains(text, "dev__a__w") {
		t.Errorf("got list %s, want the tools of now", text)
	}
	got := l.openDev("3", false).StructuredContent.Servers[0]
	if want := "tools are not as they were last seen: 1 changed (z), 1 added (w), 1 gone (y)"; !slices.Equal(got.Notes, []string{want}) {
		t.Errorf("got notes %q, want %q", got.Notes, want)
	}
	l.close()
}

// The list of a toolbox that is always open does not depend on who is up: it is the same when its server hangs and when
// it cannot be started.
func TestListOfMarkedToolboxIsTheSame(t *testing.T) {
	const list = `"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	p := newPast(t, "tools=x,y")
	p.open = "true"
	first := p.run(true)
	first.send(`{"jsonrpc":"2.0","id":1,` + list)
	want := first.reply("1")
	first.close()
	if !strings.Contains(want, "dev__a__y") {
		t.Fatalf("got %s, want the tools of the server", want)
	}

	p.closeGate()
	for _, tt := range []struct{ name, spec string }{{"hanging", p.spec}, {"failing", "no such spec"}} {
		t.Run(tt.name, func(t *testing.T) {
			p.t, p.spec = t, tt.spec
			l := p.run(true)
			l.send(`{"jsonrpc":"2.0","id":1,` + list)
			if got := l.reply("1"); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
			l.close()
		})
	}
}

// The tools of a server that cannot be started stay, and say why they fail.
func TestCallOfKnownServerThatFails(t *testing.T) {
	p := newPast(t, "tools=x")
	first := p.run(false)
	first.openDev("1", true)
	first.close()

	p.spec = "no such spec"
	l := p.run(false)
	l.openDev("1", true)
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"dev__a__x"}}`)
	text := l.reply("2")
	for _, want := range []string{`"isError":true`, `server \"a\" of toolbox \"dev\" is not available`, "unknown spec", "it is tried again in", "opened again"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %s, want it to say %q", text, want)
		}
	}
	got := l.openDev("3", false)
	if sc := got.StructuredContent; !got.IsError || len(sc.Tools) != 1 || sc.Servers[0].Seen == "" || !strings.Contains(sc.Servers[0].Error, "unknown spec") {
		t.Errorf("got %+v, want an error that says why, and the tool that was seen", got)
	}
	l.close()
}

// What a client does with a changed list is remembered: one that ignores it is waited for once, not in each session,
// and told how to call.
func TestHabitsAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := habits.New(filepath.Join(t.TempDir(), "clients.json"), zerolog.Nop())
		cfg := readConfig(t, `{"toolboxes": {"dev": {"mcpServers": {"a": {"command": "inside", "args": ["tools=x"]}}}}}`)
		who := habits.Client{Name: "test", Version: "1"}
		const (
			through = "Call the tools through workbench_use_tool"
			either  = "If they are not offered to you"
			byName  = "call them by exposed_name, such as"
		)
		for _, tt := range []struct {
			name     string
			lists    bool // when it is told to
			late     bool // it lists after the open
			calls    bool
			took     time.Duration
			text     string
			remember habits.Habit
		}{
			{"ignores, for the first time", false, false, false, time.Second, through, habits.Habit{Ignores: true}},
			{"ignores again", false, false, false, 0, through, habits.Habit{Ignores: true}},
			{"comes round to it", false, true, false, 0, through, habits.Habit{}},
			{"lists", true, false, false, 0, either, habits.Habit{Relists: true}},
			{"lists and calls", true, false, true, 0, either, habits.Habit{Relists: true, Calls: true}},
			{"lists, and called before", true, false, false, 0, byName, habits.Habit{Relists: true, Calls: true}},
		} {
			l := connect(t, newFrontWith(t, cfg, proxy.Options{Clients: memory}))
			l.initialize("2025-11-25", "{}")
			began := time.Now()
			l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + openDev + `}`)
			l.method("notifications/tools/list_changed")
			list := func() {
				l.send(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
				l.reply(`"list"`)
			}
			if tt.lists {
				list()
			}
			text := l.reply("1")
			if got := time.Since(began); got != tt.took {
				t.Errorf("%s: the open took %s, want %s", tt.name, got, tt.took)
			}
			if !strings.Contains(text, tt.text) || tt.text == byName && strings.Contains(text, either) {
				t.Errorf("%s: got %s, want how to call: %s", tt.name, text, tt.text)
			}
			if tt.late {
				list()
			}
			if tt.calls {
				l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"dev__a__x"}}`)
				l.reply("2")
			}
			synctest.Wait() // it is kept beside the calls, as long as the session lasts
			l.close()
			if got := memory.Recall(who); got != tt.remember {
				t.Errorf("%s: remembered %+v, want %+v", tt.name, got, tt.remember)
			}
		}
	})
}
