package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

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

// explanation is what workbench adds to a result that refuses the arguments of workbench_use_tool.
var explanation = regexp.MustCompile(`,\{"type":"text","text":"workbench: the arguments do not fit the tool's schema: (?:[^"\\]|\\.)*"\}\]`)

// explained takes the explanation out of what a call through workbench_use_tool brought, which is the server's own but
// for that, and wants it where the server found fault with the arguments.
func explained(tb testing.TB, outcome []byte) []byte {
	tb.Helper()
	own := explanation.ReplaceAll(outcome, []byte("]"))
	if refused := bytes.Contains(own, []byte("Input validation error")); refused == (len(own) == len(outcome)) {
		tb.Errorf("got %s, want how the tool is called exactly where its arguments are refused", outcome)
	}
	return own
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

// testCalls: whichever way a call takes through workbench, the bytes of its result are those of the server.
func testCalls(t *testing.T, s session) {
	want := map[string][][]byte{}
	for _, server := range servers() {
		want[server] = s.outcomes(server)
	}
	for _, way := range ways(t) {
		for _, server := range servers() {
			t.Run(way.name+"/"+server, func(t *testing.T) {
				defer s.reset()
				c := s.client.In(t)
				for i, call := range s.calls(server) {
					got := outcome(c.Call("tools/call", way.params(s.opened, server, call)))
					if way.name != "registered name" {
						got = explained(t, got)
					}
					wiretest.SameBytes(t, call.tool+" "+call.arguments, got, want[server][i])
				}
			})
		}
	}
}

// testProgress: the notifications of a call come with the client's own token, in order, and before the result.
func testProgress(t *testing.T, s session) {
	const steps = 20
	arguments := fmt.Sprintf(`{"duration":0.1,"steps":%d}`, steps)
	name := s.opened.exposed(t, "everything", "trigger-long-running-operation")
	tests := []struct{ name, token, params string }{
		{"registered name", `"t\u0041\"\\ \/"`, `{"name":"` + name + `","arguments":` + arguments + `,"_meta":{"progressToken":%s}}`},
		{"number of many digits", `123456789012345678901234`, `{"_meta":{"progressToken":%s},"name":"` + name + `","arguments":` + arguments + `}`},
		{"workbench_use_tool", `7`, `{"name":"workbench_use_tool","_meta":{"progressToken":%s},"arguments":` +
			`{"toolbox_name":"dev","tool_name":"trigger-long-running-operation","arguments":` + arguments + `}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := s.client.In(t)
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

// testLargeResults: megabytes arrive whole, both ways.
func testLargeResults(t *testing.T, s session) {
	message := make([]byte, 4<<20)
	for i := range message {
		message[i] = byte('a' + i%26)
	}
	call := fmt.Sprintf(`{"name":%q,"arguments":{"message":%q}}`, s.opened.exposed(t, "everything", "echo"), message)
	result := decode[toolResult](t, "echo", s.client.Result("tools/call", call))
	if got, want := result.text(), "Echo: "+string(message); got != want {
		t.Errorf("got %d bytes want the %d that were sent", len(got), len(want))
	}
}
