package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// line is what the driver of the TypeScript clients prints, one JSON object a line.
type line struct {
	Connected *struct {
		ServerInfo   struct{ Name string }
		Instructions string
	}
	Operation *int
	Result    json.RawMessage
	Error     json.RawMessage
	Changed   string
	Names     []string
}

// outcome of an operation, result or error.
func (l line) outcome() []byte {
	if l.Error != nil {
		return l.Error
	}
	return l.Result
}

// operation is one step for the driver.
type operation struct {
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Await  string          `json:"await,omitempty"`
	Remove string          `json:"remove,omitempty"`
}

// script is what the driver is told: what kind of client connects to which command, what the client declares, how it
// answers a server, and what it does.
type script struct {
	Client       string                     `json:"client"`
	Command      []string                   `json:"command"`
	Env          map[string]string          `json:"env"`
	Capabilities json.RawMessage            `json:"capabilities,omitempty"`
	Answers      map[string]json.RawMessage `json:"answers,omitempty"`
	Operations   []operation                `json:"operations"`
}

// of is the script for a kind of client that is connected to a command.
func (s script) of(client string, command, env []string) script {
	s.Client, s.Command, s.Env = client, command, make(map[string]string)
	for _, entry := range env {
		key, value, _ := strings.Cut(entry, "=")
		s.Env[key] = value
	}
	return s
}

// driveEach runs scripts one after the other in one process of Node, and returns what each printed.
func (b *bed) driveEach(scripts ...script) [][]line {
	b.tb.Helper()
	var all [][]line
	for text := range bytes.Lines(output(b.tb, []string{b.node, filepath.Join(b.npm, "driver.mjs")}, os.Environ(), wiretest.JSON(scripts))) {
		l := decode[line](b.tb, "line of the driver", text)
		if l.Connected != nil {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], l)
	}
	if len(all) != len(scripts) {
		b.tb.Fatalf("got %d clients connected of %d", len(all), len(scripts))
	}
	for i, lines := range all {
		if want := len(scripts[i].Operations); len(results(lines)) != want {
			b.tb.Fatalf("got %d results of %d operations", len(results(lines)), want)
		}
	}
	return all
}

// results are the lines that answer operations.
func results(lines []line) []line {
	return slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.Operation == nil })
}

func toolCall(params string) operation {
	return operation{Method: "tools/call", Params: []byte(params)}
}

// TestTypeScript: what the official clients make of a server's answers is the same directly and through workbench.
func TestTypeScript(t *testing.T) {
	b := newBed(t)
	tests := []struct {
		client     string
		registered bool // calls go by the registered names, after the client's own handler saw the new list
		used       bool // calls go by workbench_use_tool
	}{
		{"sdk1", true, true},
		{"sdk2-legacy", true, false},
		{"sdk2-auto", false, true},
		{"sdk2-modern", false, true},
	}
	var scripts []script
	direct := []string{"sdk1", "sdk2-legacy"} // the servers know no later era
	for _, client := range direct {
		b := b.within(client + " directly")
		for _, server := range servers() {
			var s script
			for _, c := range b.calls(server) {
				s.Operations = append(s.Operations, toolCall(c.params()))
			}
			scripts = append(scripts, s.of(client, b.command(server), b.serverEnv(server)))
		}
	}
	directly := len(scripts)
	for _, test := range tests {
		b := b.within(test.client)
		through := []operation{{Method: "tools/list"}, toolCall(openParams("dev"))}
		call := func(registered bool) {
			for _, server := range servers() {
				for _, c := range b.calls(server) {
					through = append(through, throughWorkbench(c, server, registered))
				}
			}
		}
		if test.registered {
			through = append(through, operation{Await: "tools"}, operation{Method: "tools/list"})
			call(true)
		}
		if test.registered && test.used {
			through = append(through, operation{Remove: filepath.Join(b.files, "sub")}) // as bed.reset
		}
		if test.used {
			call(false)
		}
		scripts = append(scripts, script{Operations: through}.of(test.client, b.workbenchLine(b.config("auto")), b.workbenchEnv()))
	}
	all := b.driveEach(scripts...)
	for i, test := range tests {
		lines := all[directly+i]
		same := func(t *testing.T, registered bool) {
			client := direct[min(i, 1)]
			var want [][]byte
			for n := range servers() {
				for _, l := range results(all[slices.Index(direct, client)*len(servers())+n]) {
					want = append(want, bytes.ReplaceAll(l.outcome(), []byte(filepath.Join(b.files, client+" directly")), []byte(filepath.Join(b.files, test.client))))
				}
			}
			done, through := results(lines), scripts[directly+i].Operations
			first := len(through) - len(want)
			if registered {
				first = 4
			}
			for n, want := range want {
				got := done[first+n].outcome()
				if !registered {
					got = explained(t, got)
				}
				wiretest.Same(t, fmt.Sprintf("%s %s", test.client, through[first+n].Params), got, want)
			}
		}
		t.Run(test.client, func(t *testing.T) {
			if got := lines[0].Connected; got == nil || got.ServerInfo.Name != "mcp-workbench" ||
				!strings.HasPrefix(got.Instructions, "Available Toolboxes:\n\ndev (3 servers)\n") {
				t.Errorf("got %+v as the first line, want the name and the instructions of workbench", got)
			}
			if test.registered {
				checkAnnounced(t, lines)
				same(t, true)
			}
			if test.used {
				same(t, false)
			}
		})
	}
}

// within gives the same world with a folder of its own within the folder of files.
func (b *bed) within(name string) *bed {
	b.tb.Helper()
	view := *b
	view.files = filepath.Join(b.files, name)
	if err := os.Mkdir(view.files, 0o700); err != nil {
		b.tb.Fatal(err)
	}
	return &view
}

// checkAnnounced wants the client's handler for changed lists to have been given the list that the client gets when it
// asks.
func checkAnnounced(t *testing.T, lines []line) {
	t.Helper()
	changed := slices.IndexFunc(lines, func(l line) bool { return l.Changed == "tools" })
	if changed < 0 {
		t.Fatal("the client's handler for changed tools did not run")
	}
	got := lines[changed].Names
	want := names(t, results(lines)[3].Result, "tools")
	if !slices.Equal(got, want) || len(got) < 30 {
		t.Errorf("got %d tools in the handler %q want those of the list after it %q", len(got), got, want)
	}
}

func throughWorkbench(c call, server string, registered bool) operation {
	if registered {
		return toolCall(fmt.Sprintf(`{"name":"dev__%s__%s","arguments":%s}`, server, c.tool, c.arguments))
	}
	return toolCall(fmt.Sprintf(`{"name":"workbench_use_tool","arguments":{"tool":{"toolbox":"dev","server":%q,"name":%q},"arguments":%s}}`,
		server, c.tool, c.arguments))
}

// careless is a server whose lists break the protocol in small ways, for Node.
const careless = `
const lists = {
	"tools/list": {tools: [{name: "a", icons: [{src: "x", sizes: "48x48"}]}]},
	"prompts/list": {prompts: [{name: "p", arguments: [{name: "x", required: "yes"}], icons: [{sizes: []}]}]},
	"resources/list": {resources: [{uri: "x:y", annotations: {lastModified: "2025-01-12", priority: 5}, size: "12 kB"}]},
	"resources/templates/list": {resourceTemplates: [{uriTemplate: "x:{y}", mimeType: null}]},
};
require("readline").createInterface({input: process.stdin}).on("line", (text) => {
	const {id, method} = JSON.parse(text);
	if (id === undefined) return;
	const hello = {protocolVersion: "2025-06-18", capabilities: {tools: {}, prompts: {}, resources: {}}, serverInfo: {name: "careless", version: "1"}};
	console.log(JSON.stringify({jsonrpc: "2.0", id, result: method === "initialize" ? hello : lists[method] ?? {}}));
});`

// TestFaultG95_ListsOfOneServerMended: what one server puts into its lists costs clients that check them nothing, though
// directly it costs them each list.
func TestFaultG95_ListsOfOneServerMended(t *testing.T) {
	b := newBed(t)
	server := []string{b.node, "-e", careless}
	lists := []operation{{Method: "prompts/list"}, {Method: "resources/list"}, {Method: "resources/templates/list"}}
	config := wiretest.JSON(map[string]any{"openTimeout": "2m", "toolboxes": map[string]any{"box": map[string]any{"open": true, "mcpServers": map[string]any{
		"careless": map[string]any{"command": server[0], "args": server[1:]}, "everything": decode[any](t, "entry", []byte(b.far())),
	}}}})
	opened := append([]operation{toolCall(openParams("box")), {Method: "tools/list"}}, lists...)
	scripts := []script{script{Operations: lists}.of("sdk1", server, b.workbenchEnv())}
	for _, client := range []string{"sdk1", "sdk2-legacy", "sdk2-modern"} {
		scripts = append(scripts, script{Operations: opened}.of(client, b.workbenchLine(config), b.workbenchEnv()))
	}
	all := b.driveEach(scripts...)
	for _, l := range results(all[0]) {
		if l.Error == nil {
			t.Errorf("directly the client took %s", l.Result)
		}
	}
	for n, lines := range all[1:] {
		client, done := scripts[1+n].Client, results(lines)
		for i, kind := range []string{"tools", "prompts", "resources", "resourceTemplates"} {
			if l := done[1+i]; l.Error != nil || len(names(t, l.Result, kind)) < 2 {
				t.Errorf("%s: got %s %s of both servers", client, kind, l.outcome())
			}
		}
	}
}

// announcer is a server that says before its reply to a call of announce that its tools have changed, for Node.
const announcer = `
require("readline").createInterface({input: process.stdin}).on("line", (text) => {
	const {id, method, params} = JSON.parse(text);
	if (id === undefined) return;
	const say = (message) => console.log(JSON.stringify({jsonrpc: "2.0", ...message}));
	const hello = {protocolVersion: "2025-06-18", capabilities: {tools: {listChanged: true}}, serverInfo: {name: "announcer", version: "1"}};
	if (params?.name === "announce") say({method: "notifications/tools/list_changed"});
	setTimeout(() => say({id, result: method === "initialize" ? hello : {tools: [], content: []}}), params?.name === "rest" ? 1000 : 0);
});`

// TestDriverTellsClientsApart: what a client of one script does after its end is not told of the next one.
func TestDriverTellsClientsApart(t *testing.T) {
	b := newBed(t)
	server := []string{b.node, "-e", announcer}
	var scripts []script
	for _, tool := range []string{"announce", "rest"} {
		scripts = append(scripts, script{Operations: []operation{toolCall(`{"name":"` + tool + `"}`)}}.of("sdk1", server, b.workbenchEnv()))
	}
	for _, l := range b.driveEach(scripts...)[1] {
		if l.Changed != "" {
			t.Errorf("the second client is told that its %s have changed, which the first one's have", l.Changed)
		}
	}
}
