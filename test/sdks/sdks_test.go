package sdks

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// server is a real one: of an SDK, over a transport, of an era or of both.
type server struct {
	sdk, transport, era string
	unasked             bool // without sessions a legacy server has no way to ask, and that of SDK 1 none to log
}

// servers are the rows; each is tried with a client of either era.
func servers() []server {
	return []server{
		{sdk: "gosdk", transport: "stdio", era: "legacy"},
		{sdk: "gosdk", transport: "stdio", era: "modern"},
		{sdk: "gosdk", transport: "stdio", era: "both"},
		{sdk: "gosdk", transport: "sessions", era: "legacy"},
		{sdk: "gosdk", transport: "sessions", era: "both"},
		{sdk: "gosdk", transport: "stateless", era: "legacy", unasked: true},
		{sdk: "gosdk", transport: "stateless", era: "modern"},
		{sdk: "gosdk", transport: "stateless", era: "both", unasked: true},
		{sdk: "gosdk", transport: "sse", era: "legacy"},
		{sdk: "gosdk", transport: "sse", era: "both"},
		{sdk: "sdk1", transport: "stdio", era: "legacy"},
		{sdk: "sdk1", transport: "sessions", era: "legacy"},
		{sdk: "sdk1", transport: "stateless", era: "legacy", unasked: true},
		{sdk: "sdk1", transport: "sse", era: "legacy"},
		{sdk: "sdk2", transport: "stdio", era: "modern"},
		{sdk: "sdk2", transport: "stdio", era: "both"},
		{sdk: "sdk2", transport: "sessions", era: "legacy"},
		{sdk: "sdk2", transport: "stateless", era: "modern"},
		{sdk: "sdk2", transport: "stateless", era: "both", unasked: true},
		{sdk: "python", transport: "stdio", era: "both"},
		{sdk: "python", transport: "sessions", era: "both"},
		{sdk: "python", transport: "stateless", era: "both", unasked: true},
		{sdk: "python", transport: "sse", era: "both"},
	}
}

// line is the command line of a server; the row is skipped, or fails where packages are required, if it is not there.
func (s server) line(t *testing.T) []string {
	t.Helper()
	if s.sdk == "python" {
		// Python has no lock file beside which its packages could be installed: they are the machine's, if it has any.
		if err := pythonSDK(); err != nil {
			t.Skipf("the package mcp, 2.0 or later, is not installed for python3: %v", err)
		}
		return []string{"python3", "-W", "ignore", "server.py", s.transport}
	}
	var need, program string
	var line []string
	var err error
	if s.sdk == "gosdk" {
		need, err = goSDK()
		line = []string{need, s.transport, s.era}
	} else {
		npm, fault := filepath.Abs(filepath.Join("..", "npm"))
		if fault != nil {
			t.Fatal(fault)
		}
		program, _, err = wiretest.Node()
		need = filepath.Join(npm, "node_modules", "@modelcontextprotocol", "server", "package.json")
		line = []string{program, filepath.Join(npm, "server.mjs"), s.sdk, s.transport, s.era}
	}
	if err == nil {
		_, err = os.Stat(need)
	}
	if err != nil {
		if os.Getenv("WORKBENCH_REQUIRE_NPM") == "1" {
			t.Fatalf("the server is required and not installed: %v", err)
		}
		t.Skipf("the server is not installed (make test does it): %v", err)
	}
	return line
}

// pythonSDK says why python3 has not the packages that its server needs.
var pythonSDK = sync.OnceValue(func() error {
	return exec.Command("python3", "-c", "import mcp.server.mcpserver, uvicorn").Run()
})

// entry is the configuration of the server, which is started here if it is remote: the clients of both eras share it.
func (s server) entry(t *testing.T) map[string]any {
	t.Helper()
	line := s.line(t)
	mark := wiretest.Mark(t)
	if s.transport == "stdio" {
		key, value, _ := strings.Cut(mark, "=")
		return map[string]any{"command": line[0], "args": line[1:], "inheritEnv": []string{"PYTHONPATH"},
			"env": map[string]any{key: value, wiretest.NodeCache: os.Getenv(wiretest.NodeCache)}}
	}
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), mark)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it serves until then
		_ = cmd.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server ended without an address: %v", err)
	}
	kind := "http"
	if s.transport == "sse" {
		kind = "sse"
	}
	return map[string]any{"transport": kind, "url": strings.TrimSpace(url)}
}

const capabilities = `{"elicitation":{"form":{}}}`

// client is workbench's, of one era.
type client struct {
	*wiretest.Process
	t               *testing.T
	modern, verbose bool
}

// params are those of a request of the client's era, which wants log lines.
func (c client) params(text string) string {
	if !c.modern {
		return text
	}
	text = wiretest.Modern(text, capabilities)
	return strings.Replace(text, `"_meta":{`, `"_meta":{"progressToken":"p","io.modelcontextprotocol/logLevel":"info",`, 1)
}

// result makes a request and returns its result, which must be of the client's era.
func (c client) result(method, params string) map[string]json.RawMessage {
	c.t.Helper()
	reply := c.Call(method, c.params(params))
	if reply.Error != nil {
		c.t.Errorf("%s %s: got error %v", method, params, reply.Error)
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(reply.Result, &members); err != nil {
		c.t.Fatalf("%s: %v: %s", method, err, reply.Result)
	}
	_, typed := members["resultType"]
	_, kept := members["ttlMs"]
	lasts := method == "resources/read" || strings.HasSuffix(method, "/list")
	if c.verbose && lasts {
		kept = c.modern // the Go SDK says that in the legacy era too
	}
	if typed != c.modern || kept != (c.modern && lasts) || strings.Contains(string(members["_meta"]), "serverInfo") && !c.modern {
		c.t.Errorf("%s: got %s, which is not of the client's era", method, wiretest.Clip(string(reply.Result)))
	}
	return members
}

// says makes a request whose result must have a text in it.
func (c client) says(method, params, want string) {
	c.t.Helper()
	result := c.result(method, params)
	if text := wiretest.JSON(result); result != nil && !strings.Contains(text, want) {
		c.t.Errorf("%s %s: got %s, want %q in it", method, params, wiretest.Clip(text), want)
	}
}

// TestFaultH2_EverySDK: a client of either era works with servers of either, of each official SDK, over each transport.
func TestFaultH2_EverySDK(t *testing.T) {
	for _, s := range servers() {
		t.Run(strings.Join([]string{s.sdk, s.transport, s.era}, " "), func(t *testing.T) {
			t.Parallel()
			entry := s.entry(t)
			for _, era := range []string{"legacy", "modern"} {
				t.Run("with a "+era+" client", func(t *testing.T) {
					t.Parallel()
					c := connect(t, s, entry, era == "modern")
					tools := wiretest.JSON(c.result("tools/list", "{}"))
					for _, name := range []string{"echo", "tell", "ask"} {
						if !strings.Contains(tools, `"name":"`+name+`"`) {
							t.Fatalf("got the tools %s, want %q among them", wiretest.Clip(tools), name)
						}
					}
					c.says("tools/call", `{"name":"echo","arguments":{"text":"hello"}}`, "hello")
					c.says("tools/call", `{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"echo","arguments":{"text":"hi"}}}`, "hi")
					c.says("resources/read", `{"uri":"x:1"}`, "the text of one")
					c.says("prompts/get", `{"name":"greet","arguments":{"who":"Ada"}}`, "Hello Ada")
					c.says("completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"Ad"}}`, "Ad!")
					// The legacy server of the Go SDK logs nothing before logging/setLevel, which a modern client has not.
					mute := s.sdk == "gosdk" && era == "modern" && s.isLegacy()
					c.tells(!mute && (s.sdk != "sdk1" || !s.unasked))
					if !s.unasked {
						c.asks()
					}
				})
			}
		})
	}
}

// connect starts a workbench with the server, and shakes hands where the client's era does.
func connect(t *testing.T, s server, entry map[string]any, modern bool) client {
	t.Helper()
	config := filepath.Join(t.TempDir(), "workbench-config.json")
	text := wiretest.JSON(map[string]any{"openTimeout": "2m", "toolboxes": map[string]any{"box": map[string]any{
		"open": true, "prefix": "none", "mcpServers": map[string]any{"s": entry}}}})
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(wiretest.Program("workbench"), "serve", "--config", config)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), wiretest.Mark(t), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home)
	answer := func(wiretest.Message) (string, *wiretest.Error) {
		return `{"action":"accept","content":{"name":"Ada"}}`, nil
	}
	c := client{wiretest.Start(t, cmd, wiretest.Options{Answer: answer}), t, modern, s.sdk == "gosdk"}
	if !modern {
		c.Initialize(wiretest.Legacy, capabilities)
		c.result("tools/list", "{}") // which waits for the server
		c.result("logging/setLevel", `{"level":"info"}`)
	}
	return c
}

// isLegacy reports whether even a modern client's server is of the legacy era.
func (s server) isLegacy() bool {
	return s.era == "legacy" || s.transport == "sessions" || s.transport == "sse"
}

// tells has a call tell of its progress and write a log line.
func (c client) tells(logs bool) {
	c.t.Helper()
	from := c.Mark()
	meta := `,"_meta":{"progressToken":"p"}`
	if c.modern {
		meta = ""
	}
	tell := func() { c.says("tools/call", `{"name":"tell","arguments":{}`+meta+`}`, "told") }
	tell()
	// What a server says on a stream of its own may come behind the reply, when no request of a modern client is there
	// to hear it.
	for tries := 0; c.modern && logs && tries < 1000 && !c.heard(from, "notifications/message"); tries++ {
		tell()
	}
	methods := []string{"notifications/progress", "notifications/message"}
	if !logs {
		methods = methods[:1]
	}
	for _, method := range methods {
		if note, _ := c.Notification(from, method); strings.Contains(string(note.Params), "subscriptionId") {
			c.t.Errorf("got %s, which has the id of a subscription of workbench's", note.Params)
		}
	}
}

// heard reports whether a notification has come since a mark.
func (c client) heard(from int, method string) bool {
	return slices.ContainsFunc(c.Transcript(from), func(e wiretest.Entry) bool { return !e.Sent && e.Message.Method == method })
}

// asks has a call ask the client, in the way of the client's era.
func (c client) asks() {
	c.t.Helper()
	if !c.modern {
		c.says("tools/call", `{"name":"ask","arguments":{}}`, "answered Ada")
		return
	}
	asked := c.result("tools/call", `{"name":"ask","arguments":{}}`)
	var questions map[string]struct{ Method string }
	if err := json.Unmarshal(asked["inputRequests"], &questions); err != nil || len(questions) != 1 {
		c.t.Errorf("got %s (%v), want one question", wiretest.JSON(asked), err)
		return
	}
	for key, q := range questions {
		if q.Method != "elicitation/create" {
			c.t.Errorf("got a question by %q", q.Method)
		}
		retry := `{"name":"ask","arguments":{},"inputResponses":{` + wiretest.JSON(key) + `:{"action":"accept","content":{"name":"Ada"}}}`
		if state := asked["requestState"]; state != nil {
			retry += `,"requestState":` + string(state)
		}
		c.says("tools/call", retry+"}", "answered Ada")
	}
}
