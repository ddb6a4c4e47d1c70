package commandsrv_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/principal"
)

// asker is a client of the modern era that can be asked.
type asker struct {
	*talk
	id string
}

// call calls a tool; more are further members of the params.
func (a *asker) call(tool, arguments, more string) map[string]any {
	a.t.Helper()
	reply := a.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}%s}}`, tool, arguments, more))
	result, ok := object(a.t, []byte(reply))["result"].(map[string]any)
	if !ok {
		a.t.Fatalf("got %s, want a result", reply)
	}
	return result
}

// answer makes the call again with an answer to what the result asked.
func (a *asker) answer(result map[string]any, tool, arguments, answer string) map[string]any {
	a.t.Helper()
	return a.call(tool, arguments, fmt.Sprintf(`,"requestState":%q,"inputResponses":{"answer":%s}`, result["requestState"], answer))
}

func newAsker(t *testing.T, b *bed) *asker {
	t.Helper()
	a := &asker{talk: b.talk(t, principal.Principal{Name: "alice"})}
	begun := a.call("initialize", `{}`, "")["structuredContent"].(map[string]any)
	a.id = begun["session_id"].(string)
	return a
}

// question is what a result asks.
func question(t *testing.T, result map[string]any) string {
	t.Helper()
	if result["resultType"] != "input_required" {
		t.Fatalf("got %v, want a question", result)
	}
	request := result["inputRequests"].(map[string]any)["answer"].(map[string]any)
	params := request["params"].(map[string]any)
	if request["method"] != "elicitation/create" || params["requestedSchema"].(map[string]any)["type"] != "object" {
		t.Errorf("got the request %v, want an elicitation with a schema", request)
	}
	return params["message"].(string)
}

// A client of the modern era that takes elicitations is asked by the result, and makes the call again with the answer.
func TestModernQuestions(t *testing.T) {
	b := newBed(t, nil)
	a := newAsker(t, b)
	instruction := func(text string) string { return fmt.Sprintf(`{"session_id":%q,"user_query":%q}`, a.id, text) }

	open := instruction("open order 44821")
	result := a.call("invoke_assistant", open, "")
	if got := question(t, result); !strings.Contains(got, "Run open_order") {
		t.Errorf("got the question %q, want whether to open the order", got)
	}
	result = a.answer(result, "invoke_assistant", open, `{"action":"accept","content":{"confirm":true}}`)
	if got := result["structuredContent"].(map[string]any); got["context"] != "Order 44821 of Ada Reed" || got["success"] != true {
		t.Errorf("got %v, want the session at the order", got)
	}

	cancel := instruction("cancel this order")
	first := a.call("invoke_assistant", cancel, "")
	if got := question(t, first); !strings.Contains(got, "reason") {
		t.Errorf("got the question %q, want the reason", got)
	}
	second := a.answer(first, "invoke_assistant", cancel, `{"action":"accept","content":{"reason":"late"}}`)
	if got := question(t, second); !strings.Contains(got, "Run Order/cancel_order") {
		t.Errorf("got the question %q, want whether to cancel", got)
	}
	// The first question is answered.
	again := a.answer(first, "invoke_assistant", cancel, `{"action":"accept","content":{"reason":"late"}}`)
	if got := again["structuredContent"].(map[string]any); again["isError"] != true || fmt.Sprint(got["code"]) != "409" {
		t.Errorf("got %v for an answer that comes twice, want 409", again)
	}
	declined := a.answer(second, "invoke_assistant", cancel, `{"action":"decline"}`)
	if got := declined["structuredContent"].(map[string]any); got["status"] != "cancelled" {
		t.Errorf("got %v, want nothing done", got)
	}
	shown := a.call("execute_command", fmt.Sprintf(`{"session_id":%q,"command":"show_order"}`, a.id), "")["structuredContent"]
	if text, _ := json.Marshal(shown); strings.Contains(string(text), "cancelled") {
		t.Errorf("got %s, want the order as it was", text)
	}
}

// A legacy client is asked while it waits.
func TestLegacyQuestions(t *testing.T) {
	b := newBed(t, nil)
	k := b.talk(t, principal.Principal{Name: "alice"})
	k.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"tester","version":"1"}}}`)
	k.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"initialize"}}`)
	say := func(text string) {
		k.session.Receive([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"invoke_assistant","arguments":{"user_query":%q}}}`, text)))
	}
	reply := func(result string) {
		asked := object(t, []byte(<-k.heard))
		if asked["method"] != "elicitation/create" {
			t.Fatalf("got %v, want an elicitation", asked)
		}
		k.session.Receive([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked["id"], result)))
	}
	say("open order 44821")
	reply(`{"action":"accept","content":{"confirm":true}}`)
	if got := <-k.heard; !strings.Contains(got, `"context":"Order 44821 of Ada Reed"`) {
		t.Errorf("got %s, want the session at the order", got)
	}
	say("cancel this order")
	reply(`{"action":"accept","content":{"reason":"late"}}`)
	reply(`{"action":"decline"}`)
	if got := <-k.heard; !strings.Contains(got, `"status":"cancelled"`) {
		t.Errorf("got %s, want nothing done", got)
	}
}
