package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// testIDs: whatever token a client uses as an id comes back byte for byte, on a result and on an error.
func testIDs(t *testing.T, s session) {
	echo := s.opened.exposed(t, "everything", "echo")
	ids := []struct{ name, id string }{
		{"number of 24 digits", `123456789012345678901234`},
		{"negative", `-7`},
		{"zero", `0`},
		{"with an exponent", `1E+2`},
		{"fraction", `1.50`},
		{"empty string", `""`},
		{"escapes", `"\u0041\"\\\/\n\ud83d\ude42"`},
		{"beyond ASCII", `"Ädä 🙂"`},
		{"looks like a number", `"1"`},
		{"looks like null", `"null"`},
		{"long", `"` + strings.Repeat("x", 3000) + `"`},
	}
	requests := []struct{ name, method, params string }{
		{"registered tool", "tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"message":"hi"}}`, echo)},
		{"use_tool", "tools/call", `{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"echo","arguments":{"message":"hi"}}}`},
		{"meta tool", "tools/call", openParams("dev")},
		{"unknown tool", "tools/call", `{"name":"nope","arguments":{}}`},
		{"list", "tools/list", ""},
		{"ping", "ping", ""},
		{"unknown method", "no/such/method", ""},
		{"params of the wrong kind", "tools/call", `{"name":7}`},
	}
	for _, id := range ids {
		t.Run(id.name, func(t *testing.T) {
			c := s.client.In(t)
			for _, request := range requests {
				from := c.Mark()
				c.Send(wiretest.Request(id.id, request.method, request.params))
				c.Next(from, "a reply to "+request.name+" with id "+wiretest.Clip(id.id),
					func(m wiretest.Message) bool { return m.IsReply(id.id) })
			}
		})
	}
}

// testBadInput: what is no message is refused with the right code, and costs nothing but itself.
func testBadInput(t *testing.T, s session) {
	echo := s.opened.exposed(t, "everything", "echo")
	const parse, invalid, unknown = -32700, -32600, -32601
	tests := []struct {
		name, line, id string
		code           int
	}{
		{"cut", `{"jsonrpc":"2.0","id":5,"method":"ping"`, `null`, parse},
		{"no JSON", `hello`, `null`, parse},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}", `null`, parse},
		{"raw control character", "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\",\"params\":{\"x\":\"\x01\"}}", `null`, parse},
		{"two values", `{"jsonrpc":"2.0","id":5,"method":"ping"}{}`, `null`, parse},
		{"batch", `[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, `null`, invalid},
		{"string", `"ping"`, `null`, invalid},
		{"no version", `{"id":5,"method":"ping"}`, `5`, invalid},
		{"other version", `{"jsonrpc":"1.0","id":5,"method":"ping"}`, `5`, invalid},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `null`, invalid},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `null`, invalid},
		{"wrong case of id", `{"jsonrpc":"2.0","ID":5,"method":"ping"}`, `null`, invalid},
		{"wrong case of method", `{"jsonrpc":"2.0","id":5,"Method":"ping"}`, `5`, invalid},
		{"both cases of method", `{"jsonrpc":"2.0","id":5,"method":"ping","METHOD":"tools/call"}`, `5`, invalid},
		{"method folded beyond ASCII", `{"jsonrpc":"2.0","id":5,"method":"ping","param\u017f":{}}`, `5`, invalid},
		{"two methods", `{"jsonrpc":"2.0","id":5,"method":"ping","method":"tools/call"}`, `5`, invalid},
		{"two ids", `{"jsonrpc":"2.0","id":5,"id":6,"method":"ping"}`, `null`, invalid},
		{"params an array", `{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}`, `5`, invalid},
		{"too deep", `{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}}`, `5`, invalid},
		{"17 MB", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"` + echo + `","arguments":{"message":"` +
			strings.Repeat("x", 17<<20) + `"}}}`, `5`, invalid},
		{"unknown method", `{"jsonrpc":"2.0","id":5,"method":"no/such/method"}`, `5`, unknown},
		{"method of a client", `{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{}}`, `5`, unknown},
		{"wrong case of the tool's name", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"Name":"` + echo + `"}}`, `5`, -32602},
		{"two names of a tool", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"` + echo + `","name":"workbench_use_tool"}}`, `5`, -32602},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := s.client.In(t)
			from := c.Mark()
			c.Send(test.line)
			refusal, _ := c.Next(from, "an error", func(m wiretest.Message) bool { return m.Error != nil })
			if got := string(refusal.ID); got != test.id || refusal.Error.Code != test.code {
				t.Errorf("got %s, want id %s and code %d", refusal.Raw, test.id, test.code)
			}
			result := c.Result("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"message":"hi"}}`, echo))
			if got, want := decode[toolResult](t, "echo", result).text(), "Echo: hi"; got != want {
				t.Errorf("the next call: got %q want %q", got, want)
			}
		})
	}
	t.Run("unknown notification and stray reply are passed over", func(t *testing.T) {
		c := s.client.In(t)
		from := c.Mark()
		c.Notify("notifications/nobody/knows", `{"x":1}`)
		c.Send(`{"jsonrpc":"2.0","id":"never asked","result":{}}`)
		c.Send(``)
		c.Result("ping", "")
		for _, entry := range c.Transcript(from) {
			if !entry.Sent && entry.Message.Error != nil {
				t.Errorf("got %s want no answer", entry.Message.Raw)
			}
		}
	})
}

// TestUnterminated: the last line of the input counts although it has no newline.
func TestUnterminated(t *testing.T) {
	b := newBed(t)
	line := b.workbenchLine(b.config("auto"))
	got := output(t, line, b.workbenchEnv(), `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	wiretest.Same(t, "reply", got, []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
}
