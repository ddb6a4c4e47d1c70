package commandsrv_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// do sends an operation of a session, whose id stands in front of the members given.
func (b *bed) do(t *testing.T, id, path, members string) map[string]any {
	t.Helper()
	status, answer := b.post(t, "alice", path, fmt.Sprintf(`{"session_id":%q,%s}`, id, members))
	if status != http.StatusOK {
		t.Fatalf("got %d, %v from %s %s", status, answer, path, members)
	}
	return answer
}

// shown is what the order of the session says.
func (b *bed) shown(t *testing.T, id string) string {
	t.Helper()
	return b.do(t, id, "/execute_command", `"command":"show_order"`)["response_text"].(string)
}

// A careful planner asks whether a command may run, and whatever is answered is its answer.
type carefulPlanner struct{}

func (carefulPlanner) Run(ctx context.Context, r commandsrv.AgentRequest) (*commandsrv.AgentResult, error) {
	result := &commandsrv.AgentResult{Status: command.Completed, Path: r.Path}
	if r.State == nil {
		result.Status, result.Question, result.State = command.AwaitingUser, "Shall it?", json.RawMessage(`{}`)
		result.Form = json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}`)
	}
	result.Output = output(r.Engine, r.Path, r.State != nil, "The user answers "+r.Query)
	return result, nil
}

// Whoever asks, and by whatever operation, the next answer is the answer, by whatever operation it comes.
func TestAnyDoorAnswers(t *testing.T) {
	t.Parallel()
	questions := map[string][2]string{
		"a command":        {"/execute_command", `"command":"cancel_order <reason>late</reason>"`},
		"a command by run": {"/run_command", `"name":"cancel_order","arguments":{"reason":"late"}`},
		"an instruction":   {"/invoke_assistant", `"user_query":"cancel_order reason=late"`},
	}
	answers := map[string][2]string{
		"a command":      {"/execute_command", `"command":"yes"`},
		"an instruction": {"/invoke_assistant", `"user_query":"Yes!"`},
		"a form":         {"/invoke_assistant", `"user_query":"{\"confirm\":true}"`},
		"the agent":      {"/invoke_agent", `"user_query":"yes"`},
		"the same again": {"/execute_command", `"command":"cancel_order <reason>late</reason>","confirmed":true`},
		"a button":       {"/run_command", `"name":"Order/cancel_order","arguments":{"reason":"late"},"confirmed":true`},
	}
	b := newBed(t, func(o *commandsrv.Options) { o.Agent = carefulPlanner{} })
	id := b.begin(t, "alice")
	for asked, q := range questions {
		for answered, a := range answers {
			t.Run(asked+", then "+answered, func(t *testing.T) {
				placed := b.do(t, id, "/run_command", `"name":"place_order","arguments":{"customer":"Ada","book":"Emma"}`)
				order := placed["structured_content"].(map[string]any)["order_id"].(string)
				b.do(t, id, "/run_command", fmt.Sprintf(`"name":"open_order","arguments":{"order_id":%q}`, order))
				if got := b.do(t, id, q[0], q[1]); got["status"] != "awaiting_user" || got["form"] == nil {
					t.Fatalf("got %v, want a question with a form", got)
				}
				b.do(t, id, "/invoke_assistant", `"user_query":"/list_orders"`)
				if text := b.shown(t, id); strings.Contains(text, "Cancelled") {
					t.Fatalf("got %q, want the order as it was", text) // and the question waits still
				}
				if got := b.do(t, id, a[0], a[1]); got["status"] != "completed" || got["success"] != true {
					t.Errorf("got %v, want that the order is cancelled", got)
				}
				if text := b.shown(t, id); !strings.Contains(text, "Cancelled") {
					t.Errorf("got %q, want a cancelled order", text)
				}
				// It is answered: yes answers nothing any more.
				if got := b.do(t, id, "/invoke_assistant", `"user_query":"yes"`); got["success"] == true {
					t.Errorf("got %v, want that nothing is asked any more", got)
				}
			})
		}
	}
	for answered, a := range answers {
		if strings.Contains(a[1], "confirmed") {
			continue
		}
		t.Run("the agent, then "+answered, func(t *testing.T) {
			b.do(t, id, "/invoke_agent", `"user_query":"tidy up"`)
			b.do(t, id, "/invoke_assistant", `"user_query":"/list_orders"`)
			b.do(t, id, "/run_command", `"name":"list_orders"`)
			if got := fmt.Sprint(b.do(t, id, a[0], a[1])); !strings.Contains(got, "The user answers") {
				t.Errorf("got %v, want that the agent goes on", got)
			}
		})
	}
}

// A value that is asked for is answered by an exact operation, too; where it may be a command that was mistyped, it is
// confirmed.
func TestValueByExactOperation(t *testing.T) {
	b := newBed(t, nil)
	id := b.begin(t, "alice")
	b.do(t, id, "/execute_command", `"command":"open_order <order_id>44821</order_id>"`)
	b.do(t, id, "/invoke_assistant", `"user_query":"add a note"`)
	if got := b.do(t, id, "/execute_command", `"command":"show_ordr"`); got["status"] != "awaiting_user" || !strings.Contains(got["question"].(string), `note "show_ordr"`) {
		t.Errorf("got %v, want the question whether that is the note", got)
	}
	b.do(t, id, "/invoke_assistant", `"user_query":"no"`)
	if text := b.shown(t, id); strings.Contains(text, "ordr") {
		t.Errorf("got %q, want the order as it was", text)
	}
}

// A value may begin with a slash, by whichever operation it comes: only the name of a command makes a command of it.
func TestValueWithSlash(t *testing.T) {
	t.Parallel()
	b := newBed(t, func(o *commandsrv.Options) { o.Agent = carefulPlanner{} })
	id := b.begin(t, "alice")
	b.do(t, id, "/execute_command", `"command":"open_order <order_id>44821</order_id>"`)
	for path, name := range map[string]string{"/invoke_assistant": "user_query", "/invoke_agent": "user_query", "/execute_command": "command"} {
		b.do(t, id, "/invoke_assistant", `"user_query":"add a note"`)
		b.do(t, id, path, fmt.Sprintf(`%q:"/srv/show_order"`, name))
		b.do(t, id, "/invoke_assistant", `"user_query":"/list_orders"`)
		b.do(t, id, "/invoke_assistant", `"user_query":"yes"`)
		if text := b.shown(t, id); strings.Count(text, "/srv/show_order") != 1 {
			t.Errorf("%s: got %q, want the note as it was said", path, text)
		}
		b.do(t, id, "/run_command", `"name":"reset_context"`)
		placed := b.do(t, id, "/run_command", `"name":"place_order","arguments":{"customer":"Ada","book":"Emma"}`)
		b.do(t, id, "/run_command", fmt.Sprintf(`"name":"open_order","arguments":{"order_id":%q}`, placed["structured_content"].(map[string]any)["order_id"]))
	}
	b.do(t, id, "/invoke_agent", `"user_query":"tidy up"`)
	if got := fmt.Sprint(b.do(t, id, "/invoke_agent", `"user_query":"/etc/hosts"`)); !strings.Contains(got, "The user answers /etc/hosts") {
		t.Errorf("got %s, want the answer as it was said", got)
	}
}

// run_command takes JSON and gives what the tool gave; get_commands says all that is to be known for it.
func TestRunCommand(t *testing.T) {
	b := newBed(t, nil)
	id := b.begin(t, "alice")
	opened := b.do(t, id, "/run_command", `"name":"open_order","arguments":{"order_id":"44821"}`)
	actions := fmt.Sprint(opened["next_actions"])
	if opened["context"] != "Order 44821 of Ada Reed" || !strings.Contains(actions, "Order/show_order") || strings.Contains(actions, "add_note") {
		t.Errorf("got %v, want what can be done there at once", opened)
	}
	action := opened["next_actions"].([]any)[0].(map[string]any)
	arguments, _ := json.Marshal(action["arguments"])
	if got := b.do(t, id, "/run_command", fmt.Sprintf(`"name":%q,"arguments":%s`, action["command_name"], arguments)); got["success"] != true {
		t.Errorf("got %v, want that the action runs", got)
	}
	if got := b.do(t, id, "/run_command", `"name":"list_orders","arguments":{"status":"opne"}`); got["success"] != false || fmt.Sprint(got["suggestions"]) != "map[status:[open]]" {
		t.Errorf("got %v, want what is wrong with the status", got)
	}
	if got := b.do(t, id, "/run_command", `"name":"list_orders","arguments":{"status":"open"}`); got["structured_content"] == nil {
		t.Errorf("got %v, want the data as the tool gave them", got)
	}
	if got := b.do(t, id, "/execute_command", `"command":"list_orders"`); got["artifacts"].(map[string]any)["orders"] == nil {
		t.Errorf("got %v, want the orders as data", got)
	}
	if got := b.do(t, id, "/execute_command", `"command":"search_books <words>picture</words>"`); !strings.Contains(fmt.Sprint(got["artifacts"]), "image/png") {
		t.Errorf("got %v, want the picture", got)
	}
	got, _ := json.Marshal(b.do(t, id, "/run_command", `"name":"search_books","arguments":{"words":"picture"}`)["content"])
	var want any
	_ = json.Unmarshal([]byte(pictured), &want)
	if wanted, _ := json.Marshal(want); string(got) != string(wanted) {
		t.Errorf("got the content %s, want %s", got, wanted)
	}
	for _, bad := range []string{`"name":""`, `"name":"list_orders","arguments":[]`, `"name":"list_orders","arguments":"{}"`, `"arguments":{}`} {
		if status, answer := b.post(t, "alice", "/run_command", fmt.Sprintf(`{"session_id":%q,%s}`, id, bad)); status != http.StatusUnprocessableEntity {
			t.Errorf("got %d, %v for %s, want 422", status, answer, bad)
		}
	}
	// Over MCP a picture is content of the result itself.
	k := b.talk(t, principal.Principal{Name: "alice"})
	k.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`)
	reply := k.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_command","arguments":{"session_id":%q,"name":"search_books","arguments":{"words":"picture"}}}}`, id))
	content := object(t, []byte(reply))["result"].(map[string]any)["content"].([]any)
	if len(content) != 3 || content[1].(map[string]any)["mimeType"] != "image/png" || strings.Count(reply, "aGVsbG8=") != 1 {
		t.Errorf("got %s, want the picture and the link behind the text, and each once", reply)
	}
}

// The entry of a command says which values it takes.
func TestCommandsAreDescribed(t *testing.T) {
	b := newBed(t, nil)
	id := b.begin(t, "alice")
	b.do(t, id, "/execute_command", `"command":"open_order <order_id>44821</order_id>"`)
	_, listing := b.send(t.Context(), t, "alice", "GET", "/commands?session_id="+id, "")
	entries := map[string]map[string]any{}
	for _, entry := range listing["commands"].([]any) {
		e := entry.(map[string]any)
		entries[e["name"].(string)] = e
		for _, example := range e["examples"].([]any) {
			if _, err := command.Parse(example.(string), len(e["name"].(string)), names(e)); err != nil || !strings.HasPrefix(example.(string), e["name"].(string)) {
				t.Errorf("got the example %q of %s (%v), want command strings alone", example, e["name"], err)
			}
		}
	}
	cancel := entries["Order/cancel_order"]
	if got, _ := json.Marshal(cancel["input_schema"]); !strings.Contains(string(got), `"required":["reason"]`) || !strings.Contains(string(got), `"ordered by mistake"`) || cancel["confirm"] != true {
		t.Errorf("got %s, want the schema, of which the place gives the order", got)
	}
	if got := fmt.Sprint(entries["place_order"]["parameters"]); !strings.Contains(got, "default:1") {
		t.Errorf("got %s, want the default of the copies", got)
	}
	if got := fmt.Sprint(entries["list_orders"]["parameters"]); !strings.Contains(got, "choices:[open shipped cancelled]") {
		t.Errorf("got %s, want the choices of the status", got)
	}
}

func names(entry map[string]any) []string {
	var list []string
	for _, p := range entry["parameters"].([]any) {
		list = append(list, p.(map[string]any)["name"].(string))
	}
	return list
}
