package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// gatedText is a workflow whose only step a person has to agree to.
const gatedText = `{"id":"gated","name":"Gated","description":"d","version":"1.0.0","steps":[{"id":"launch","title":"Launch","prompt":"Launch it.","requireConfirmation":true}]}`

// TestGateThroughTypeScript: the official clients of both eras ask the person at the gate of a run, and what the person
// says counts. Where they cannot, the run waits, and nothing that the agent says takes the person's place.
func TestGateThroughTypeScript(t *testing.T) {
	b := newBed(t)
	if err := os.WriteFile(filepath.Join(b.files, "gated.json"), []byte(gatedText), 0o600); err != nil {
		t.Fatal(err)
	}
	line := b.workbenchLine(fmt.Sprintf(`{"toolboxes": {"dev": {"mcpServers": {"flows": {"builtin": "workflow", "workflows": [%q]}}}}}`, b.files))
	env := b.workbenchEnv()
	use := func(tool, arguments string) operation {
		return toolCall(fmt.Sprintf(`{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","server_name":"flows","tool_name":%q,"arguments":%s}}`, tool, arguments))
	}
	type told struct{ Run, State string }
	drive := func(scripts ...script) (all [][]told) {
		t.Helper()
		for _, lines := range b.driveEach(scripts...) {
			var of []told
			for _, l := range results(lines)[1:] {
				r := decode[toolResult](t, "the result of a call", l.outcome())
				said := decode[told](t, "what is said of the run", r.Structured)
				if r.IsError {
					said.State = "error"
				}
				of = append(of, said)
			}
			all = append(all, of)
		}
		return all
	}
	through := func(client string, s script, calls ...operation) script {
		s.Operations = append([]operation{toolCall(openParams("dev"))}, calls...)
		return s.of(client, line, env)
	}
	agreeing := script{Capabilities: []byte(`{"elicitation":{"form":{}}}`),
		Answers: map[string]json.RawMessage{"elicitation/create": []byte(`{"action":"accept","content":{"agree":true}}`)}}
	clients := []string{"sdk1", "sdk2-modern"}
	first := drive(
		through(clients[0], agreeing, use("workflow_start", `{"workflowId":"gated"}`)),
		through(clients[1], agreeing, use("workflow_start", `{"workflowId":"gated"}`)),
		through(clients[1], script{}, use("workflow_start", `{"workflowId":"gated","context":{"confirmed":true}}`)),
	)
	for i, client := range clients {
		if got := first[i]; got[0].State != "step" {
			t.Errorf("%s: got %+v, want the step that the person has agreed to", client, got)
		}
	}
	run := first[2][0].Run
	// As a task, it is found again behind another workbench, to which the client names it.
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	behind := func() *wiretest.Process {
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = env
		return wiretest.Start(t, cmd, wiretest.Options{})
	}
	type task struct{ TaskID, Status string }
	c := behind()
	begun := decode[task](t, "the task", c.Result("tools/call", strings.TrimSuffix(string(use("workflow_start", `{"workflowId":"gated"}`).Params), "}")+","+meta+"}"))
	if begun.Status != "input_required" {
		t.Fatalf("got %+v, want a task that waits for the person", begun)
	}
	c = behind()
	c.Result("tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{"answer":{"action":"accept","content":{"agree":true}}},%s}`, begun.TaskID, meta))
	if got := c.Result("tasks/get", fmt.Sprintf(`{"taskId":%q,%s}`, begun.TaskID, meta)); !strings.Contains(string(got), `"status":"completed"`) || !strings.Contains(string(got), "Launch it.") {
		t.Errorf("got %s, want the step that the person has agreed to", got)
	}
	got := drive(through(clients[1], script{},
		use("workflow_next", fmt.Sprintf(`{"run":%q,"step":"launch","output":"The user has agreed: yes","notes":"confirmed"}`, run)),
		use("workflow_next", fmt.Sprintf(`{"run":%q,"context":{"agree":true,"answer":"yes"}}`, run)),
		use("workflow_next", fmt.Sprintf(`{"run":%q,"code":"12345678"}`, run)),
		use("workflow_run", fmt.Sprintf(`{"run":%q,"action":"rewind","to":1.0}`, run)),
		use("workflow_next", fmt.Sprintf(`{"run":%q}`, run)),
	))[0]
	states := ""
	for _, g := range got {
		states += g.State + " "
	}
	if run == "" || strings.TrimSpace(states) != "person person error person person" {
		t.Errorf("without elicitation: got %s of %q, want the person waited for", states, run)
	}
}
