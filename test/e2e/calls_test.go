package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// call is one tool call, of a sequence that one server is asked to do.
type call struct{ tool, arguments string }

// params of the call as the server itself knows it.
func (c call) params() string { return fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.tool, c.arguments) }

// calls are what each server is asked, failures included. A sequence leaves the server as it was.
func (b *bed) calls(server string) []call {
	switch server {
	case "everything":
		return []call{
			{"echo", `{"message":"a \"quoted\" line\nwith <html> & \u2028 🙂 \\ and \u0000"}`},
			{"echo", `{"message":""}`},
			{"echo", `{"message":7}`},
			{"echo", `{}`},
			{"get-sum", `{"a":9007199254740993,"b":0.1}`},
			{"get-sum", `{"a":1e300,"b":-0.0}`},
			{"get-tiny-image", `{}`},
			{"get-annotated-message", `{"messageType":"error","includeImage":true}`},
			{"get-annotated-message", `{"messageType":"no such type"}`},
			{"get-resource-links", `{"count":3}`},
			{"get-structured-content", `{"location":"Chicago"}`},
			{"trigger-long-running-operation", `{"duration":0.02,"steps":2}`},
		}
	case "memory":
		return []call{
			{"read_graph", `{}`},
			{"create_entities", `{"entities":[{"name":"Ädä","entityType":"person","observations":["likes \"x\"","<b>"]},{"name":"loom","entityType":"machine","observations":[]}]}`},
			{"create_relations", `{"relations":[{"from":"Ädä","to":"loom","relationType":"describes"}]}`},
			{"add_observations", `{"observations":[{"entityName":"loom","contents":["weaves\tpatterns"]}]}`},
			{"search_nodes", `{"query":"weaves"}`},
			{"open_nodes", `{"names":["Ädä"]}`},
			{"add_observations", `{"observations":[{"entityName":"nobody","contents":[]}]}`},
			{"read_graph", `{}`},
			{"delete_entities", `{"entityNames":["Ädä","loom"]}`},
			{"read_graph", `{}`},
		}
	case "filesystem":
		path := func(name string) string { return wiretest.JSON(filepath.Join(b.files, name)) }
		return []call{
			{"list_allowed_directories", `{}`},
			{"create_directory", `{"path":` + path("sub") + `}`},
			{"write_file", `{"path":` + path("sub/a.txt") + `,"content":"one\ntwo 🙂\nthree\n"}`},
			{"read_text_file", `{"path":` + path("sub/a.txt") + `}`},
			{"read_text_file", `{"path":` + path("sub/a.txt") + `,"head":1}`},
			{"edit_file", `{"path":` + path("sub/a.txt") + `,"edits":[{"oldText":"one","newText":"1"}],"dryRun":true}`},
			{"move_file", `{"source":` + path("sub/a.txt") + `,"destination":` + path("sub/b.txt") + `}`},
			{"list_directory", `{"path":` + path("sub") + `}`},
			{"directory_tree", `{"path":` + path("") + `}`},
			{"search_files", `{"path":` + path("") + `,"pattern":"**/*.txt"}`},
			{"read_multiple_files", `{"paths":[` + path("sub/b.txt") + `,` + path("missing") + `]}`},
			{"read_text_file", `{"path":` + path("../outside") + `}`},
		}
	}
	b.tb.Fatalf("no calls for server %s", server)
	return nil
}

// reset takes away what the sequence of a server leaves behind.
func (b *bed) reset() {
	b.tb.Helper()
	if err := os.RemoveAll(filepath.Join(b.files, "sub")); err != nil {
		b.tb.Fatal(err)
	}
}

// outcome is what a reply brings, result or error object, as the bytes that came.
func outcome(m wiretest.Message) []byte {
	if m.Error != nil {
		return m.Error.Raw
	}
	return m.Result
}

// way is one way to put a call to a server of the toolbox dev.
type way struct {
	name   string
	params func(o opened, server string, c call) string
}

func ways(tb testing.TB) []way {
	use := func(name, arguments string) string { return fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments) }
	return []way{
		{"registered name", func(o opened, server string, c call) string {
			return use(o.exposed(tb, server, c.tool), c.arguments)
		}},
		{"workbench_use_tool with names", func(_ opened, _ string, c call) string {
			return use("workbench_use_tool", fmt.Sprintf(`{"toolbox_name":"dev","tool_name":%q,"arguments":%s}`, c.tool, c.arguments))
		}},
		{"workbench_use_tool with the exposed name", func(o opened, server string, c call) string {
			return use("workbench_use_tool", fmt.Sprintf(`{"toolbox_name":"dev","tool_name":%q,"arguments":%s}`,
				o.exposed(tb, server, c.tool), c.arguments))
		}},
		{"workbench_use_tool with a tool", func(_ opened, server string, c call) string {
			return use("workbench_use_tool", fmt.Sprintf(`{"tool":{"toolbox":"dev","server":%q,"name":%q},"arguments":%s}`,
				server, c.tool, c.arguments))
		}},
		{"use_tool, members in another order", func(_ opened, server string, c call) string {
			return use("use_tool", fmt.Sprintf(`{"arguments":%s,"tool":{"name":%q,"server":%q,"toolbox":"dev"}}`,
				c.arguments, c.tool, server))
		}},
	}
}

// TestCalls: whichever way a call takes through workbench, the bytes of its result are those of the server.
func TestCalls(t *testing.T) {
	b := newBed(t)
	want := map[string][][]byte{}
	for _, server := range servers() {
		direct := b.direct(server, wiretest.Options{})
		direct.Initialize(wiretest.Legacy, noCapabilities)
		for _, call := range b.calls(server) {
			want[server] = append(want[server], outcome(direct.Call("tools/call", call.params())))
		}
		b.reset()
	}
	c := b.workbench(b.config("auto"), wiretest.Options{})
	c.Initialize(wiretest.Legacy, noCapabilities)
	opened := open(t, c.Client, "dev")
	for _, way := range ways(t) {
		for _, server := range servers() {
			t.Run(way.name+"/"+server, func(t *testing.T) {
				defer b.reset()
				c := c.In(t)
				for i, call := range b.calls(server) {
					got := outcome(c.Call("tools/call", way.params(opened, server, call)))
					wiretest.SameBytes(t, call.tool+" "+call.arguments, got, want[server][i])
				}
			})
		}
	}
}

// TestLists: every list is the server's own, item by item and byte by byte, but for the names that were made distinct.
func TestLists(t *testing.T) {
	b := newBed(t)
	c := b.workbench(b.config("auto"), wiretest.Options{})
	c.Initialize(wiretest.Legacy, noCapabilities)
	open(t, c.Client, "dev")
	tests := []struct {
		method, list string
		prefixed     bool
		own          int // items of workbench's own, at the beginning
	}{
		{"tools/list", "tools", true, len(metaTools())},
		{"prompts/list", "prompts", true, 0},
		{"resources/list", "resources", false, 0},
		{"resources/templates/list", "resourceTemplates", false, 0},
	}
	for _, test := range tests {
		t.Run(test.method, func(t *testing.T) {
			b := b.in(t)
			got := items(t, c.In(t).Result(test.method, ""), test.list)[test.own:]
			var want []json.RawMessage
			var owners []string
			for _, server := range servers() {
				direct := b.direct(server, wiretest.Options{})
				direct.Initialize(wiretest.Legacy, noCapabilities)
				reply := direct.Call(test.method, "")
				if reply.Error != nil {
					continue // a server that has no such list
				}
				for _, item := range items(t, reply.Result, test.list) {
					want, owners = append(want, item), append(owners, server)
				}
			}
			if len(got) != len(want) {
				t.Fatalf("got %d items want %d", len(got), len(want))
			}
			for i, item := range got {
				if test.prefixed {
					name := decode[struct{ Name string }](t, "item", want[i]).Name
					item = renamed(item, fmt.Sprintf("dev__%s__%s", owners[i], name), name)
				}
				wiretest.SameBytes(t, fmt.Sprintf("item %d of %s", i, test.list), item, want[i])
			}
		})
	}
}

// TestReads: resources, prompts and completions are the server's own too.
func TestReads(t *testing.T) {
	b := newBed(t)
	direct := b.direct("everything", wiretest.Options{})
	direct.Initialize(wiretest.Legacy, noCapabilities)
	c := b.workbench(b.config("auto"), wiretest.Options{})
	c.Initialize(wiretest.Legacy, noCapabilities)
	open(t, c.Client, "dev")
	// The name of a prompt is the one thing that differs.
	const prompt = `{"ref":{"type":"ref/prompt","name":"%scompletable-prompt"},"argument":{"name":"department","value":"S"}}`
	tests := []struct{ name, method, params string }{
		{"file", "resources/read", `{"uri":"demo://resource/static/document/features.md"}`},
		{"from a template, with a number that is none", "resources/read", `{"uri":"demo://resource/dynamic/text/seven"}`},
		{"prompt", "prompts/get", `{"name":"%ssimple-prompt"}`},
		{"prompt with arguments", "prompts/get", `{"name":"%sargs-prompt","arguments":{"city":"Ädä \"x\"","state":"<b>"}}`},
		{"prompt with a resource", "prompts/get", `{"name":"%sresource-prompt","arguments":{"resourceType":"Blob","resourceId":"0"}}`},
		{"prompt without its arguments", "prompts/get", `{"name":"%sargs-prompt"}`},
		{"completion", "completion/complete", prompt},
		{"completion of a template", "completion/complete",
			`{"ref":{"type":"ref/resource","uri":"demo://resource/dynamic/text/{resourceId}"},"argument":{"name":"resourceId","value":"1"}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := outcome(direct.In(t).Call(test.method, strings.Replace(test.params, "%s", "", 1)))
			got := outcome(c.In(t).Call(test.method, strings.Replace(test.params, "%s", "dev__everything__", 1)))
			wiretest.SameBytes(t, test.method, got, want)
		})
	}
}

// TestListsAreStable: the same configuration and servers give the same bytes in another process.
func TestListsAreStable(t *testing.T) {
	b := newBed(t)
	var lists [2][]byte
	for i := range lists {
		c := b.workbench(b.config("auto"), wiretest.Options{})
		c.Initialize(wiretest.Legacy, noCapabilities)
		open(t, c.Client, "dev")
		lists[i] = c.Result("tools/list", "")
	}
	wiretest.SameBytes(t, "tools/list of two runs", lists[1], lists[0])
}

// TestProgress: the notifications of a call come with the client's own token, in order, and before the result.
func TestProgress(t *testing.T) {
	b := newBed(t)
	const steps = 20
	arguments := fmt.Sprintf(`{"duration":0.1,"steps":%d}`, steps)
	c := b.workbench(b.config("auto"), wiretest.Options{})
	c.Initialize(wiretest.Legacy, noCapabilities)
	opened := open(t, c.Client, "spare")
	name := opened.exposed(t, "everything", "trigger-long-running-operation")
	tests := []struct{ name, token, params string }{
		{"registered name", `"t\u0041\"\\ \/"`, `{"name":"` + name + `","arguments":` + arguments + `,"_meta":{"progressToken":%s}}`},
		{"number of many digits", `123456789012345678901234`, `{"_meta":{"progressToken":%s},"name":"` + name + `","arguments":` + arguments + `}`},
		{"workbench_use_tool", `7`, `{"name":"workbench_use_tool","_meta":{"progressToken":%s},"arguments":` +
			`{"toolbox_name":"spare","tool_name":"trigger-long-running-operation","arguments":` + arguments + `}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := c.In(t)
			from := c.Mark()
			id := c.Request("tools/call", fmt.Sprintf(test.params, test.token))
			c.Reply(id)
			seen, done := 0, false
			for _, entry := range c.Transcript(from) {
				m := entry.Message
				switch {
				case entry.Sent:
				case m.IsReply(id):
					done = true
				case m.IsNotification("notifications/progress"):
					seen++
					want := fmt.Sprintf(`{"progress":%d,"total":%d,"progressToken":%s}`, seen, steps, test.token)
					wiretest.SameBytes(t, "progress", m.Params, []byte(want))
					if done {
						t.Errorf("got progress %s after the result", m.Params)
					}
				}
			}
			if seen != steps {
				t.Errorf("got %d progress notifications want %d", seen, steps)
			}
		})
	}
}

// TestServerAsks: what a server asks of the client arrives there as it was sent, and the answer gets back.
func TestServerAsks(t *testing.T) {
	b := newBed(t)
	answers := map[string]string{
		"roots/list":             `{"roots":[{"uri":"file:///somewhere","name":"some \"where\"","_meta":{"n":123456789012345678901234}}]}`,
		"sampling/createMessage": `{"role":"assistant","content":{"type":"text","text":"sampled <&> \u2028"},"model":"none","stopReason":"endTurn"}`,
		"elicitation/create":     `{"action":"accept","content":{"name":"Ädä","check":true,"integer":42,"number":1.5}}`,
	}
	// talk makes the calls and returns what they gave and what the server asked for.
	talk := func(t *testing.T, start func(wiretest.Options) *wiretest.Process, name func(c *wiretest.Client, tool string) string) (results, asked []string) {
		c := start(wiretest.Options{Answer: func(m wiretest.Message) (string, *wiretest.Error) {
			if answer, ok := answers[m.Method]; ok {
				return answer, nil
			}
			return "", &wiretest.Error{Code: -32601, Message: "method not found"}
		}})
		c.Initialize(wiretest.Legacy, allCapabilities)
		for _, call := range []call{
			{"trigger-sampling-request", `{"prompt":"say","maxTokens":7}`},
			{"trigger-elicitation-request", `{}`},
			{"get-roots-list", `{}`},
		} {
			reply := c.Call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name(c.Client, call.tool), call.arguments))
			results = append(results, string(outcome(reply)))
		}
		for _, entry := range c.Transcript(0) {
			// When roots are asked for is up to the server's clock.
			if m := entry.Message; !entry.Sent && m.IsRequest() && m.Method != "roots/list" {
				asked = append(asked, m.Method+" "+string(m.Params))
			}
		}
		return results, asked
	}
	direct := func(opts wiretest.Options) *wiretest.Process { return b.direct("everything", opts) }
	wantResults, wantAsked := talk(t, direct, func(_ *wiretest.Client, tool string) string { return tool })
	through := func(opts wiretest.Options) *wiretest.Process { return b.workbench(b.config("auto"), opts) }
	var o *opened
	gotResults, gotAsked := talk(t, through, func(c *wiretest.Client, tool string) string {
		if o == nil {
			opened := open(t, c, "spare")
			o = &opened
		}
		return o.exposed(t, "everything", tool)
	})
	wiretest.SameBytes(t, "results", []byte(wiretest.JSON(gotResults)), []byte(wiretest.JSON(wantResults)))
	wiretest.SameBytes(t, "what the server asked", []byte(wiretest.JSON(gotAsked)), []byte(wiretest.JSON(wantAsked)))
	if len(wantAsked) != 2 {
		t.Errorf("got %q asked directly, want sampling and elicitation", wantAsked)
	}
}

// TestLargeResults: a megabyte each way arrives whole.
func TestLargeResults(t *testing.T) {
	b := newBed(t)
	c := b.workbench(b.config("auto"), wiretest.Options{Limit: time.Minute})
	c.Initialize(wiretest.Legacy, noCapabilities)
	opened := open(t, c.Client, "spare")
	message := make([]byte, 4<<20)
	for i := range message {
		message[i] = byte('a' + i%26)
	}
	call := fmt.Sprintf(`{"name":%q,"arguments":{"message":%q}}`, opened.exposed(t, "everything", "echo"), message)
	result := decode[toolResult](t, "echo", c.Result("tools/call", call))
	if got, want := result.text(), "Echo: "+string(message); got != want {
		t.Errorf("got %d bytes want the %d that were sent", len(got), len(want))
	}
}
