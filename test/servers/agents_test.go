package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// agent is a program that has a model use MCP servers.
type agent struct {
	name  string
	start func(b *bed, home string, m *model, workbench []string) *exec.Cmd
}

// agents are those that can be had from npm.
func agents() []agent {
	return []agent{{"codex", (*bed).codex}, {"opencode", (*bed).opencode}, {"Claude Code", (*bed).claudeCode}}
}

// pkg gives the path of a file of an installed package, the first that there is.
func (b *bed) pkg(names ...string) string {
	b.tb.Helper()
	for _, name := range names {
		if path := filepath.Join(b.npm, filepath.FromSlash(name)); exists(path) {
			return path
		}
	}
	b.tb.Skipf("not installed on this kind of machine: %s", names[0])
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

const prompt = "Use the tools of the toolbox."

func (b *bed) codex(home string, m *model, workbench []string) *exec.Cmd {
	b.write(filepath.Join(home, "config.toml"), fmt.Sprintf(`model = "gpt-5.5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = %s
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[mcp_servers.workbench]
command = %s
args = %s
startup_timeout_sec = 60
[mcp_servers.workbench.env]
XDG_STATE_HOME = %[4]s
XDG_CACHE_HOME = %[4]s
`, wiretest.JSON(m.URL+"/v1"), wiretest.JSON(workbench[0]), wiretest.JSON(workbench[1:]), wiretest.JSON(home)))
	cmd := exec.Command(b.node, b.pkg("@openai/codex/bin/codex.js"), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt)
	cmd.Env = []string{"CODEX_HOME=" + home, "SCRIPTED_KEY=none"}
	return cmd
}

func (b *bed) opencode(home string, m *model, workbench []string) *exec.Cmd {
	config := filepath.Join(home, "opencode.json")
	b.write(config, wiretest.JSON(object{
		"autoupdate": false, "share": "disabled", "permission": object{"*": "allow"},
		"provider": object{"scripted": object{"npm": "@ai-sdk/openai-compatible", "name": "scripted",
			"options": object{"baseURL": m.URL + "/v1", "apiKey": "none"},
			"models":  object{"scripted": object{"name": "scripted", "tool_call": true, "limit": object{"context": 200000, "output": 8000}}}}},
		"mcp": object{"workbench": object{"type": "local", "command": workbench, "enabled": true, "timeout": 60000}},
	}))
	cmd := exec.Command(b.pkg("opencode-linux-x64/bin/opencode", "opencode-linux-x64-baseline/bin/opencode", "opencode-darwin-arm64/bin/opencode"),
		"run", "--model", "scripted/scripted", prompt)
	cmd.Env = []string{"OPENCODE_CONFIG=" + config, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"}
	return cmd
}

func (b *bed) claudeCode(home string, m *model, workbench []string) *exec.Cmd {
	config := filepath.Join(home, "mcp.json")
	b.write(config, wiretest.JSON(object{"mcpServers": object{"workbench": object{"command": workbench[0], "args": workbench[1:]}}}))
	cmd := exec.Command(b.pkg("@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-darwin-arm64/claude"),
		"--print", prompt, "--model", "claude-sonnet-4-5", "--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__workbench")
	cmd.Env = []string{"ANTHROPIC_BASE_URL=" + m.URL, "ANTHROPIC_API_KEY=none", "CLAUDE_CONFIG_DIR=" + home, "MCP_TIMEOUT=60000",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
	return cmd
}

func (b *bed) write(path, text string) {
	b.tb.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.tb.Fatal(err)
	}
}

// user is a model that opens a toolbox and then calls each of its tools once, as far as it was told of them: by the
// name under which the agent offers it, else through workbench_use_tool.
type user struct {
	box     string
	servers map[string][]string // the tools of the toolbox by server

	opened   []string          // the ids of the opens
	asked    map[string]bool   // the servers whose tools were asked for
	searched map[string]bool   // the hidden tools that were searched for
	calls    map[string]string // server/tool by the id of its call
	listed   int               // calls by names that the agent offers
	shown    int               // characters of the first answer
	told     int               // tools that the first answer named
	results  map[string]string
}

func newUser(box string, servers map[string][]string) *user {
	return &user{box: box, servers: servers, asked: make(map[string]bool), searched: make(map[string]bool), calls: make(map[string]string), results: make(map[string]string)}
}

// next makes the calls that come next, or first searches for tools of workbench that the agent hides, once for each.
func (u *user) next(t turn) []use {
	for id, text := range t.results {
		if _, ok := u.results[id]; !ok {
			u.results[id] = text
		}
	}
	var missing []string
	for _, name := range t.hidden {
		if offered(t, name).name == "" && !u.searched[name] {
			u.searched[name] = true
			missing = append(missing, name)
		}
	}
	if missing != nil {
		return []use{t.search(fmt.Sprintf("search_%d", len(u.searched)), missing)}
	}
	return u.work(t)
}

// work opens the toolbox, asks for the servers whose tools the answer does not name, and calls all that it was told of.
func (u *user) work(t turn) []use {
	if u.opened == nil {
		return u.open(t, object{"toolbox_name": u.box})
	}
	var text strings.Builder
	for _, id := range u.opened {
		text.WriteString(u.results[id] + "\n")
	}
	if u.shown == 0 {
		u.shown = text.Len()
		for _, names := range u.servers {
			for _, tool := range names {
				if tells(text.String(), tool) {
					u.told++
				}
			}
		}
	}
	var uses []use
	for _, server := range sortedKeys(u.servers) {
		missing := slices.ContainsFunc(u.servers[server], func(tool string) bool { return !tells(text.String(), tool) })
		if missing && !u.asked[server] {
			u.asked[server] = true
			uses = append(uses, u.open(t, object{"toolbox_name": u.box, "tools": []string{server}, "detail": "names"})...)
		}
	}
	if uses != nil {
		return uses
	}
	done := make(map[string]bool)
	for _, of := range u.calls {
		done[of] = true
	}
	for _, server := range sortedKeys(u.servers) {
		for _, tool := range u.servers[server] {
			of := server + "/" + tool
			if done[of] || !tells(text.String(), tool) {
				continue
			}
			marker := object{"marker": of}
			one := offered(t, u.box+"__"+server+"__"+tool)
			if one.name != "" {
				u.listed++
				one.arguments = wiretest.JSON(marker)
			} else {
				one = offered(t, "workbench_use_tool")
				one.arguments = wiretest.JSON(object{"tool": object{"toolbox": u.box, "server": server, "name": tool}, "arguments": marker})
			}
			one.id = fmt.Sprintf("call_%d", len(u.calls))
			u.calls[one.id] = of
			uses = append(uses, one)
		}
	}
	return uses
}

func (u *user) open(t turn, arguments object) []use {
	one := offered(t, "workbench_open_toolbox")
	one.id, one.arguments = fmt.Sprintf("open_%d", len(u.opened)), wiretest.JSON(arguments)
	u.opened = append(u.opened, one.id)
	return []use{one}
}

// worked is how many tools a call has reached: what it was called with came back.
func (u *user) worked() (n int) {
	for id, of := range u.calls {
		if strings.Contains(u.results[id], of) {
			n++
		}
	}
	return n
}

// offered finds the tool of an agent whose name ends as one of workbench's does.
func offered(t turn, name string) use {
	for _, tool := range t.tools {
		namespace, inner, ok := strings.Cut(tool, " ")
		if !ok {
			namespace, inner = "", tool
		}
		if strings.HasSuffix(inner, name) {
			return use{name: inner, namespace: namespace}
		}
	}
	return use{}
}

// tells reports whether the answer of an open names a tool, as text or as JSON.
func tells(text, tool string) bool {
	for _, form := range []string{"\n" + tool + "\n", "\n" + tool + "(", `"` + tool + `"`, `\n` + tool + `\n`, `\n` + tool + `(`, `\"` + tool + `\"`} {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}

func sortedKeys[T any](m map[string]T) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// run has an agent work until its model is done.
func (b *bed) run(t *testing.T, a agent, u *user, workbench []string) {
	t.Helper()
	if out, err := b.chat(t, a, u, t.TempDir(), workbench); err != nil {
		t.Errorf("%s: %v\n%s", a.name, err, wiretest.Clip(out))
	}
}

// chat has an agent that keeps its things in a home of its own work until its model is done, or until it is killed.
func (b *bed) chat(t *testing.T, a agent, s script, home string, workbench []string) (printed string, err error) {
	t.Helper()
	m := newModel(t, s)
	if path := os.Getenv("WORKBENCH_SERVERS_MODEL_LOG"); path != "" {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m.log = f
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // an agent beside much else is slow
	defer cancel()
	cmd := a.start(b, home, m, workbench)
	limited := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	limited.Env = append(cmd.Env, b.mark, "HOME="+home, "PATH="+os.Getenv("PATH"), "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home,
		"XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "NO_COLOR=1", "CI=1")
	limited.Dir = b.files
	limited.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	limited.Stdout, limited.Stderr = &out, &out
	err = limited.Run()
	if testing.Verbose() {
		t.Logf("%s", out.String())
	}
	return out.String(), err
}

// opening is what was measured of a toolbox.
type opening struct {
	toolbox          string
	servers          map[string][]json.RawMessage // the definitions of the tools
	tools            int
	text, structured int      // tokens of four bytes of the answer
	agents           []string // what each agent made of it
}

// TestAgents opens the toolboxes of the fleet, wants each answer to keep within its budget, and has each agent, driven
// by a scripted model, open every one of them and call all of its tools. Behind workbench are then stand-ins for the
// servers, which define the same tools: they answer with what they were called with.
func TestAgents(t *testing.T) {
	b := newBed(t)
	openings := b.openings(t)
	defer func() { writeOpenings(os.Stdout, openings) }()
	config := filepath.Join(t.TempDir(), "workbench-config.json")
	b.write(config, b.standIns(t, openings))
	for _, a := range agents() {
		t.Run(a.name, func(t *testing.T) {
			for _, o := range openings {
				t.Run(o.toolbox, func(t *testing.T) {
					b := &bed{tb: t, mark: b.mark, files: b.files, node: b.node, npm: b.npm}
					u := newUser(o.toolbox, o.names(t))
					b.run(t, a, u, []string{wiretest.Program("workbench"), "serve", "--config", config})
					o.agents = append(o.agents, fmt.Sprintf("%d/%d", u.told, u.worked()))
					if u.worked() != o.tools {
						t.Errorf("%s: called %d of %d tools, %d of them with success; the first answer has %d characters and names %d", a.name,
							len(u.calls), o.tools, u.worked(), u.shown, u.told)
					}
				})
			}
		})
	}
}

// openings opens each toolbox twice, as it comes and with all definitions.
func (b *bed) openings(t *testing.T) []*opening {
	t.Helper()
	fleet := b.fleet()
	process := b.workbench(t, b.config(fleet, false))
	process.Initialize(wiretest.Legacy, allCapabilities)
	s := &session{peer: peer{Client: process.Client, bed: b}, process: process}
	var openings []*opening
	for _, name := range toolboxes(fleet) {
		o := &opening{toolbox: name, servers: make(map[string][]json.RawMessage)}
		arguments := object{"toolbox_name": name}
		type answer struct {
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
		}
		open := func() answer {
			params := wiretest.JSON(object{"name": "workbench_open_toolbox", "arguments": arguments})
			return decode[answer](t, "open", s.call(t, "tools/call", params).Result)
		}
		short := open()
		o.text, o.structured = (len(short.Content[0].Text)+3)/4, (len(short.StructuredContent)+3)/4
		if o.text > 2000 || o.structured > 3000 {
			t.Errorf("%s: got %d tokens of text and %d of structured content, want at most 2000 and 3000", name, o.text, o.structured)
		}
		arguments["detail"] = "schemas"
		var whole struct {
			Servers []struct{ Name, State, Error string }
			Tools   []json.RawMessage
		}
		unmarshal(t, "open", open().StructuredContent, &whole)
		for _, srv := range whole.Servers {
			if srv.State != "ready" {
				t.Errorf("%s/%s is %s: %s", name, srv.Name, srv.State, srv.Error)
			}
		}
		for _, tool := range whole.Tools {
			server := decode[struct{ Server string }](t, "tool", tool).Server
			o.servers[server] = append(o.servers[server], tool)
			o.tools++
		}
		openings = append(openings, o)
	}
	process.CloseInput()
	process.Exit()
	return openings
}

// names gives the names of the tools by server.
func (o *opening) names(tb testing.TB) map[string][]string {
	tb.Helper()
	names := make(map[string][]string)
	for server, tools := range o.servers {
		for _, tool := range tools {
			names[server] = append(names[server], decode[struct{ Name string }](tb, "tool", tool).Name)
		}
	}
	return names
}

// standIns is a configuration with the same toolboxes, of servers that only define the same tools. No tool says what
// its results look like: some agents take a result that does not look so for a failure.
func (b *bed) standIns(t *testing.T, openings []*opening) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	boxes := object{}
	for i, o := range openings {
		servers := object{}
		for server, tools := range o.servers {
			var definitions []object
			for _, tool := range tools {
				definition := decode[object](t, "tool", tool)
				delete(definition, "outputSchema")
				definitions = append(definitions, definition)
			}
			path := filepath.Join(dir, fmt.Sprintf("%d %s", i, server))
			b.write(path, wiretest.JSON(definitions))
			servers[server] = object{"command": self, "env": object{toolsVariable: path}}
		}
		boxes[o.toolbox] = object{"mcpServers": servers}
	}
	return wiretest.JSON(object{"toolboxes": boxes})
}

// writeOpenings writes the table of the toolboxes.
func writeOpenings(w io.Writer, openings []*opening) {
	fmt.Fprint(w, "\nToolboxes: tokens of the answer to an open, and tools that it names to each agent / that the agent can call\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "toolbox\tservers\ttools\ttokens of text\tof structured content")
	for _, a := range agents() {
		fmt.Fprintf(t, "\t%s", a.name)
	}
	fmt.Fprintln(t)
	for _, o := range openings {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%s\n", o.toolbox, len(o.servers), o.tools, o.text, o.structured, strings.Join(o.agents, "\t"))
	}
	_ = t.Flush() // nothing to be done for a table that cannot be printed
}
