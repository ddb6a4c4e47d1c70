package conformance

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/mcp-workbench/workbench/internal/slots"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// TestAsClient is the client that the suite starts: it puts workbench between itself and the server at the URL that the
// suite gives it, and does what the scenario wants of a client.
func TestAsClient(t *testing.T) {
	if os.Getenv(roleVariable) != "client" {
		t.Skip("only the suite runs this")
	}
	// The suite starts the clients of a revision all at once. It answers nobody meanwhile, so none begins before the
	// last of them is there. Then they take turns.
	if clients, err := strconv.Atoi(os.Getenv(clientsVariable)); err == nil {
		f, err := os.CreateTemp(os.Getenv(placesVariable), "started-")
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			started, _ := filepath.Glob(filepath.Join(os.Getenv(placesVariable), "started-*"))
			if len(started) >= clients {
				break
			}
			if time.Since(began) > 2*time.Minute {
				t.Fatalf("%d of %d clients have started", len(started), clients)
			}
		}
		release, err := slots.New(os.Getenv(placesVariable), runtime.NumCPU()).Take(t.Context(), "client")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
	}
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	config := writeConfig(t, map[string]entry{"suite": suiteEntry(t, scenario, flag.Arg(0))})
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // where logins are kept
	args := []string{"serve", "--config", config}
	if !strings.HasPrefix(scenario, "auth/") {
		args = append(args, "--toolbox", "suite")
	}
	cmd := exec.Command(wiretest.Program("workbench"), args...)
	c := &client{t: t, Client: wiretest.Start(t, cmd, wiretest.Options{Answer: answer}).Client}
	if version := os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"); version == wiretest.ModernOnly {
		c.modern = true
	} else {
		c.Initialize(version, clientCapabilities)
	}
	if strings.HasPrefix(scenario, "auth/") {
		c.callWithLogins(config)
		return
	}
	c.play(scenario)
}

const clientCapabilities = `{"elicitation":{"form":{"applyDefaults":true}},"sampling":{},"roots":{}}`

// client is a client of either era.
type client struct {
	*wiretest.Client
	t      *testing.T
	modern bool
}

// result asks for something that must succeed.
func (c *client) result(method, params string) json.RawMessage {
	c.t.Helper()
	if c.modern {
		params = wiretest.Modern(params, clientCapabilities)
	}
	return c.Result(method, params)
}

// play does what a scenario wants.
func (c *client) play(scenario string) {
	switch scenario {
	case "tools_call":
		c.tools()
		c.call("add_numbers", `{"a":5,"b":3}`)
	case "http-custom-headers":
		c.callAsTold()
	case "http-standard-headers":
		c.result("resources/list", "")
		c.result("prompts/list", "")
		c.callAll()
		c.result("resources/read", `{"uri":"file:///path/to/file%20name.txt"}`)
		c.result("prompts/get", `{"name":"test_prompt"}`)
	case "json-schema-2020-12-preservation":
		c.echoSchema()
	case "request-metadata":
		c.result("tools/list", "")
		c.result("server/discover", "")
	case "sep-2640-client-no-prefetch":
		c.skills()
	case "sep-2640-client-verify-digest", "sep-2640-client-verify-size", "sep-2640-client-verify-frontmatter":
		c.loadSkill()
	case "initialize", "json-schema-ref-no-deref":
		c.result("tools/list", "")
	default:
		c.callAll()
	}
}

// skillEntry is an entry of the list of skills.
type skillEntry struct {
	URI         string
	Frontmatter map[string]any
	Resources   []struct {
		URI, Digest string
		Size        int
	}
}

func (c *client) skills() []skillEntry {
	c.t.Helper()
	var list struct{ Skills []skillEntry }
	c.decode(c.result("skills/list", ""), &list)
	return list.Skills
}

// loadSkill loads a skill as a host does: it reads the manifest, and of a skill that is what its entry says all files.
func (c *client) loadSkill() {
	c.t.Helper()
	for _, k := range c.skills() {
		for i, file := range k.Resources {
			var got struct{ Contents []struct{ Text string } }
			c.decode(c.result("resources/read", fmt.Sprintf(`{"uri":%q}`, file.URI)), &got)
			text := got.Contents[0].Text
			if len(text) != file.Size || fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) != file.Digest {
				return
			}
			_, rest, _ := strings.Cut(text, "---\n")
			front, _, _ := strings.Cut(rest, "---\n")
			var stated map[string]any
			if err := yaml.Unmarshal([]byte(front), &stated); i == 0 && (err != nil || !reflect.DeepEqual(stated, k.Frontmatter)) {
				return
			}
		}
	}
}

// tool is an entry of the list.
type tool struct {
	Name        string
	InputSchema json.RawMessage
}

func (c *client) tools() []tool {
	c.t.Helper()
	var list struct{ Tools []tool }
	c.decode(c.result("tools/list", ""), &list)
	return list.Tools
}

func (c *client) decode(raw []byte, to any) {
	c.t.Helper()
	if err := json.Unmarshal(raw, to); err != nil {
		c.t.Fatalf("%v: %s", err, raw)
	}
}

// call calls a tool, and again with what it asks for.
func (c *client) call(name, arguments string) {
	c.t.Helper()
	params := fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments)
	var result struct {
		ResultType    string
		InputRequests map[string]struct {
			Method string
			Params json.RawMessage
		}
		RequestState json.RawMessage
	}
	c.decode(c.result("tools/call", "{"+params+"}"), &result)
	if result.ResultType != "input_required" {
		return
	}
	answers := make(map[string]json.RawMessage)
	for key, request := range result.InputRequests {
		text, refusal := answer(wiretest.Message{Method: request.Method, Params: request.Params})
		if refusal != nil {
			c.t.Fatalf("%s: %v", name, refusal)
		}
		answers[key] = json.RawMessage(text)
	}
	params += `,"inputResponses":` + wiretest.JSON(answers)
	if result.RequestState != nil {
		params += `,"requestState":` + string(result.RequestState)
	}
	c.result("tools/call", "{"+params+"}")
}

// callAll calls each tool that is listed.
func (c *client) callAll() {
	c.t.Helper()
	for _, t := range c.tools() {
		c.call(t.Name, "{}")
	}
}

// callAsTold makes the calls that the suite has prepared.
func (c *client) callAsTold() {
	c.t.Helper()
	c.tools()
	var told struct {
		ToolCalls []struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	c.decode([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &told)
	for _, call := range told.ToolCalls {
		c.call(call.Name, string(call.Arguments))
	}
}

// echoSchema sends the schema of one tool back, as it came, by the other.
func (c *client) echoSchema() {
	c.t.Helper()
	tools := c.tools()
	if len(tools) != 2 {
		c.t.Fatalf("got tools %v, want two", tools)
	}
	c.call(tools[1].Name, fmt.Sprintf(`{"schema":%s}`, tools[0].InputSchema))
}

// answer accepts a form and fills it with its default values.
func answer(request wiretest.Message) (string, *wiretest.Error) {
	if request.Method != "elicitation/create" {
		return "", &wiretest.Error{Code: -32601, Message: "not asked for by the suite"}
	}
	var form struct {
		RequestedSchema struct {
			Properties map[string]struct{ Default json.RawMessage }
		}
	}
	if err := json.Unmarshal(request.Params, &form); err != nil {
		return "", &wiretest.Error{Code: -32602, Message: err.Error()}
	}
	content := make(map[string]json.RawMessage)
	for name, field := range form.RequestedSchema.Properties {
		content[name] = field.Default
		if field.Default == nil {
			content[name] = json.RawMessage("true")
		}
	}
	return wiretest.JSON(map[string]any{"action": "accept", "content": content}), nil
}
