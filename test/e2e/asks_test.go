package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// clientAnswers is what the client answers when a server asks, by method.
func clientAnswers() map[string]string {
	return map[string]string{
		"roots/list":             `{"roots":[{"uri":"file:///somewhere","name":"some \"where\"","_meta":{"n":123456789012345678901234}}]}`,
		"sampling/createMessage": `{"role":"assistant","content":{"type":"text","text":"sampled <&> \u2028"},"model":"none","stopReason":"endTurn"}`,
		"elicitation/create":     `{"action":"accept","content":{"name":"Ädä","check":true,"integer":42,"number":1.5}}`,
	}
}

// asking are the calls in which the everything server asks the client for something.
func asking() []call {
	return []call{
		{"trigger-sampling-request", `{"prompt":"say","maxTokens":7}`},
		{"trigger-elicitation-request", `{}`},
		{"get-roots-list", `{}`},
	}
}

// TestServerAsks: what a server asks of the client arrives there as it was sent, and the answer gets back. A server is
// told what the client in front can do, so it offers the same tools as directly, those that ask among them.
func TestServerAsks(t *testing.T) {
	b := newBed(t)
	// talk makes the calls and returns what they gave and what the server asked for. The client is handed to begin, which
	// says how the tools are called.
	talk := func(t *testing.T, start func(wiretest.Options) *wiretest.Process, begin func(c *wiretest.Client) (name func(tool string) string)) (results, asked []string) {
		c := start(wiretest.Options{Answer: func(m wiretest.Message) (string, *wiretest.Error) {
			if answer, ok := clientAnswers()[m.Method]; ok {
				return answer, nil
			}
			return "", &wiretest.Error{Code: -32601, Message: "method not found"}
		}})
		c.Initialize(wiretest.Legacy, allCapabilities)
		name := begin(c.Client)
		for _, call := range asking() {
			reply := c.Call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name(call.tool), call.arguments))
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
	var wantTools, gotTools []string
	wantResults, wantAsked := talk(t, direct, func(c *wiretest.Client) func(string) string {
		wantTools = names(t, c.Result("tools/list", ""), "tools")
		return func(tool string) string { return tool }
	})
	through := func(opts wiretest.Options) *wiretest.Process { return b.workbench(b.config("auto"), opts) }
	gotResults, gotAsked := talk(t, through, func(c *wiretest.Client) func(string) string {
		opened := open(t, c, "spare")
		for _, tool := range opened.Tools {
			gotTools = append(gotTools, tool.Name)
		}
		return func(tool string) string { return opened.exposed(t, "everything", tool) }
	})
	if !slices.Equal(gotTools, wantTools) {
		t.Errorf("got tools %q want %q", gotTools, wantTools)
	}
	wiretest.SameBytes(t, "results", []byte(wiretest.JSON(gotResults)), []byte(wiretest.JSON(wantResults)))
	// Which server asks is said besides.
	for i, asked := range gotAsked {
		plain := strings.NewReplacer(`"_meta":{"workbench/server":"spare/everything"},`, "", `Server \"everything\" of toolbox \"spare\" asks: `, "").Replace(asked)
		if plain == asked {
			t.Errorf("got %s, want which server asks", asked)
		}
		gotAsked[i] = plain
	}
	wiretest.SameBytes(t, "what the server asked", []byte(wiretest.JSON(gotAsked)), []byte(wiretest.JSON(wantAsked)))
	if len(wantAsked) != 2 {
		t.Errorf("got %q asked directly, want sampling and elicitation", wantAsked)
	}
}

// TestTypeScriptAsks: the official clients are asked through workbench as they are directly, in both eras.
func TestTypeScriptAsks(t *testing.T) {
	b := newBed(t)
	answers := map[string]json.RawMessage{}
	for method, answer := range clientAnswers() {
		answers[method] = []byte(answer)
	}
	var direct, through []operation
	for _, call := range asking() {
		direct = append(direct, toolCall(call.params()))
		through = append(through, toolCall(fmt.Sprintf(
			`{"name":"workbench_use_tool","arguments":{"toolbox_name":"spare","tool_name":%q,"arguments":%s}}`, call.tool, call.arguments)))
	}
	s := script{Capabilities: []byte(allCapabilities), Answers: answers, Operations: direct}
	scripts := []script{s.of("sdk1", b.command("everything"), b.serverEnv("everything"))}
	s.Operations = through
	for _, client := range []string{"sdk1", "sdk2-legacy", "sdk2-modern"} {
		scripts = append(scripts, s.of(client, b.workbenchLine(b.farConfig("auto")), b.workbenchEnv()))
	}
	all := b.driveEach(scripts...)
	want := results(all[0])
	for n, lines := range all[1:] {
		t.Run(scripts[1+n].Client, func(t *testing.T) {
			for i, call := range asking() {
				wiretest.Same(t, call.tool, results(lines)[i].outcome(), want[i].outcome())
			}
		})
	}
}
