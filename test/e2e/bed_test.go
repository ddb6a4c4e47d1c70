package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// The capabilities a client may declare: none, and all that a person at a screen could serve.
const (
	noCapabilities  = `{}`
	allCapabilities = `{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}}`
)

// bed is what one test needs of the world: the servers, a folder for them, and a mark by which to find their processes.
type bed struct {
	tb    testing.TB
	mark  string // environment entry of every process of this test
	files string // the folder that the filesystem server may touch
	node  string
	npm   string // the folder of the installed packages
}

// newBed lets the test run beside others, and skips it, or fails it where npm packages are required, when there is
// nothing to test against.
func newBed(tb *testing.T) *bed {
	tb.Helper()
	tb.Parallel()
	npm, err := filepath.Abs(filepath.Join("..", "npm"))
	if err != nil {
		tb.Fatal(err)
	}
	node, _, err := wiretest.Node()
	if err == nil {
		_, err = os.Stat(filepath.Join(npm, "node_modules", ".installed"))
	}
	if err != nil {
		if os.Getenv("WORKBENCH_REQUIRE_NPM") == "1" {
			tb.Fatalf("the npm servers are required and not installed: %v", err)
		}
		tb.Skipf("the npm servers are not installed (make test does it): %v", err)
	}
	// The server resolves its folder, and says the resolved name in its answers.
	files, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return &bed{tb: tb, mark: wiretest.Mark(tb), files: files, node: node, npm: npm}
}

// in gives the same world to a subtest; the processes it starts end with the subtest.
func (b *bed) in(tb testing.TB) *bed {
	view := *b
	view.tb = tb
	return &view
}

// servers are the names of the downstream servers, in the order of the configuration.
func servers() []string { return []string{"everything", "memory", "filesystem"} }

// command is the command line of a server.
func (b *bed) command(server string) []string {
	args := []string{b.node, filepath.Join(b.npm, "node_modules", "@modelcontextprotocol", "server-"+server, "dist", "index.js")}
	switch server {
	case "everything":
		args = append(args, "stdio")
	case "filesystem":
		args = append(args, b.files)
	}
	return args
}

// environ is what a server gets beyond the safe part of our environment. Each start of the memory server has a memory
// of its own.
func (b *bed) environ(server string) map[string]string {
	key, value, _ := strings.Cut(b.mark, "=")
	env := map[string]string{key: value, wiretest.NodeCache: os.Getenv(wiretest.NodeCache)}
	if server == "memory" {
		env["MEMORY_FILE_PATH"] = filepath.Join(b.tb.TempDir(), "memory.jsonl")
	}
	return env
}

// serverEnv is the environment of a server that is started without workbench.
func (b *bed) serverEnv(server string) []string {
	env := os.Environ()
	for key, value := range b.environ(server) {
		env = append(env, key+"="+value)
	}
	return env
}

// direct starts a server as a client without workbench would.
func (b *bed) direct(server string, opts wiretest.Options) *wiretest.Process {
	b.tb.Helper()
	line := b.command(server)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = b.serverEnv(server)
	return wiretest.Start(b.tb, cmd, opts)
}

// plainly is what a server, which no client can be asked anything by, answers without workbench.
type plainly struct {
	files    string                     // the folder of the filesystem server
	lists    map[string]json.RawMessage // results by the method, of the lists that the server has
	outcomes [][]byte                   // of the calls of bed.calls
	reads    [][]byte                   // outcomes of reads, of the server that they are for
}

// answers are those of each server without workbench, which all tests share: it costs less than a process for each.
var answers struct {
	sync.Mutex
	by map[string]plainly
}

// plainly has a server asked without workbench, by the first test that wants to know.
func (b *bed) plainly(server string) plainly {
	b.tb.Helper()
	answers.Lock()
	defer answers.Unlock()
	if a, known := answers.by[server]; known {
		return a
	}
	direct := b.direct(server, wiretest.Options{})
	direct.Initialize(wiretest.Legacy, noCapabilities)
	a := plainly{files: b.files, lists: make(map[string]json.RawMessage)}
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		if reply := direct.Call(method, ""); reply.Error == nil {
			a.lists[method] = reply.Result
		}
	}
	for _, call := range b.calls(server) {
		a.outcomes = append(a.outcomes, outcome(direct.Call("tools/call", call.params())))
	}
	if server == "everything" {
		for _, read := range reads() {
			a.reads = append(a.reads, outcome(direct.Call(read.method, strings.Replace(read.params, "%s", "", 1))))
		}
	}
	b.reset()
	direct.CloseInput()
	direct.Exit()
	if answers.by == nil {
		answers.by = make(map[string]plainly)
	}
	answers.by[server] = a
	return a
}

// outcomes are what the server answers to its calls without workbench in the folder of this test.
func (b *bed) outcomes(server string) (all [][]byte) {
	b.tb.Helper()
	a := b.plainly(server)
	for _, outcome := range a.outcomes {
		outcome = bytes.ReplaceAll(outcome, []byte(a.files), []byte(b.files))
		all = append(all, bytes.ReplaceAll(outcome, []byte(filepath.Dir(a.files)), []byte(filepath.Dir(b.files))))
	}
	return all
}

// server is the configuration of a server.
func (b *bed) server(name string) string {
	line := b.command(name)
	return wiretest.JSON(map[string]any{"command": line[0], "args": line[1:], "env": b.environ(name)})
}

// config is a configuration with all servers in the toolbox dev, and everything alone in spare, which has no
// description.
func (b *bed) config(toolMode string) string { return b.configWith(toolMode, b.server("everything")) }

// farConfig is that configuration with the shared server in spare.
func (b *bed) farConfig(toolMode string) string { return b.configWith(toolMode, b.far()) }

// configWith has time for servers to start: real ones take seconds on a machine that is busy, and the tests want them
// ready.
func (b *bed) configWith(toolMode, spare string) string {
	entries := make([]string, 0, len(servers()))
	for _, name := range servers() {
		entries = append(entries, fmt.Sprintf("%q: %s", name, b.server(name)))
	}
	return fmt.Sprintf(`{"toolMode": %q, "openTimeout": "2m", "toolboxes": {
		"dev": {"description": "Development environment tools", "mcpServers": {%s}},
		"spare": {"mcpServers": {"everything": %s}}
	}}`, toolMode, strings.Join(entries, ","), spare)
}

// command line of the program with a configuration, given as text.
func (b *bed) workbenchLine(config string, args ...string) []string {
	b.tb.Helper()
	path := filepath.Join(b.tb.TempDir(), "workbench-config.json")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		b.tb.Fatal(err)
	}
	if len(args) == 0 {
		args = []string{"serve"}
	}
	return append([]string{wiretest.Program("workbench")}, append(args, "--config", path)...)
}

// workbenchEnv keeps the program away from what a person has configured on this machine.
func (b *bed) workbenchEnv() []string {
	home := b.tb.TempDir()
	return append(os.Environ(), b.mark, "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home,
		"WORKBENCH_CONFIG=")
}

// workbench starts the program with a configuration, given as text.
func (b *bed) workbench(config string, opts wiretest.Options, args ...string) *wiretest.Process {
	b.tb.Helper()
	line := b.workbenchLine(config, args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = b.workbenchEnv()
	return wiretest.Start(b.tb, cmd, opts)
}

// opened is the result of opening a toolbox.
type opened struct {
	Toolbox     string         `json:"toolbox"`
	Description string         `json:"description"`
	Connected   int            `json:"servers_connected"`
	Servers     []openedServer `json:"servers"`
	Tools       []openedTool   `json:"tools"`
}

type openedServer struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Tools int    `json:"tools"`
	Error string `json:"error"`
}

type openedTool struct {
	Name         string          `json:"name"`
	Server       string          `json:"server"`
	Toolbox      string          `json:"toolbox"`
	Exposed      string          `json:"exposed_name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  json.RawMessage `json:"annotations"`
}

// toolResult is the result of a tools/call, as far as tests look into it.
type toolResult struct {
	IsError    bool                    `json:"isError"`
	Structured json.RawMessage         `json:"structuredContent"`
	Content    []struct{ Text string } `json:"content"`
}

// text is the first piece of content.
func (r toolResult) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

func decode[T any](tb testing.TB, what string, raw []byte) T {
	tb.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		tb.Fatalf("%s: %v: %s", what, err, wiretest.Clip(string(raw)))
	}
	return v
}

// open opens a toolbox as openOnce does, and again while its servers start: on a busy machine one is not always ready
// within the ten seconds that the first open waits for it, and no later one waits.
func open(tb testing.TB, c *wiretest.Client, toolbox string) opened {
	tb.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		o := openOnce(tb, c, toolbox)
		if !slices.ContainsFunc(o.Servers, func(s openedServer) bool { return s.State == "starting" }) {
			return o
		}
	}
	tb.Fatalf("open %s: its servers are starting still", toolbox)
	return opened{}
}

// openOnce opens a toolbox with the meta tool and returns what it says. When it is told that the tools have changed it
// lists them again, as clients do.
func openOnce(tb testing.TB, c *wiretest.Client, toolbox string) opened {
	tb.Helper()
	from := c.Mark()
	id := c.Request("tools/call", openParams(toolbox))
	told, _ := c.Next(from, "list_changed or the result of open", func(m wiretest.Message) bool {
		return m.IsNotification(toolsChanged) || m.IsReply(id)
	})
	if !told.IsReply(id) {
		c.Result("tools/list", "")
	}
	reply := c.Reply(id)
	if reply.Error != nil {
		tb.Fatalf("open %s: got error %v", toolbox, reply.Error)
	}
	result := decode[toolResult](tb, "open", reply.Result)
	if result.IsError {
		tb.Fatalf("open %s: got an error: %s", toolbox, result.text())
	}
	return decode[opened](tb, "structuredContent of open", result.Structured)
}

// openParams asks for the definitions of all tools, however many they are.
func openParams(toolbox string) string {
	return fmt.Sprintf(`{"name":"workbench_open_toolbox","arguments":{"toolbox_name":%q,"detail":"schemas"}}`, toolbox)
}

// exposed gives the name under which a tool of the opened toolbox is offered.
func (o opened) exposed(tb testing.TB, server, tool string) string {
	tb.Helper()
	for _, t := range o.Tools {
		if t.Server == server && t.Name == tool {
			return t.Exposed
		}
	}
	tb.Fatalf("toolbox %s has no tool %s of server %s", o.Toolbox, tool, server)
	return ""
}

// names are the names of the items of a list, in its order.
func names(tb testing.TB, result []byte, list string) []string {
	tb.Helper()
	var names []string
	for _, item := range items(tb, result, list) {
		names = append(names, decode[struct{ Name string }](tb, list, item).Name)
	}
	return names
}

// items are the items of a list result as they came.
func items(tb testing.TB, result []byte, list string) []json.RawMessage {
	tb.Helper()
	members := decode[map[string]json.RawMessage](tb, list, result)
	if members["nextCursor"] != nil {
		tb.Fatalf("%s: has another page", list)
	}
	return decode[[]json.RawMessage](tb, list, members[list])
}

// renamed gives an item the name it has directly, and changes nothing else of its bytes.
func renamed(item []byte, from, to string) []byte {
	return bytes.Replace(item, []byte(`"name":`+wiretest.JSON(from)), []byte(`"name":`+wiretest.JSON(to)), 1)
}

// output runs a command to its end, within minutes, and returns what it wrote to stdout.
func output(tb testing.TB, line, env []string, stdin string) []byte {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env, cmd.Stdin, cmd.WaitDelay = env, strings.NewReader(stdin), 5*time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%s: %v\n%s\n%s", strings.Join(line, " "), err, out, stderr.String())
	}
	return out
}
