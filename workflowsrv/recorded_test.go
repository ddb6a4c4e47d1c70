package workflowsrv_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// shared is the folder of material that tests read, beside the repository.
const shared = "../../shared"

// TestRecordedReplies sends what was sent to version 0.0.4 of the original system, with its own workflow files, and
// compares the answers. Ours may have more members. Where they differ, the table says why; a line that comes out the
// same has no place there.
func TestRecordedReplies(t *testing.T) {
	for _, c := range []struct {
		door, begin, requests, replies string
		differ                         map[string]string
	}{
		{
			"bare", `{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}`,
			"probe_rpc.jsonl", "v004-rpc-replies.jsonl",
			map[string]string{
				`{"jsonrpc":"2.0","id":0,"method":"workflow_list","params":null}`:                                                                              "null is no parameters",
				`{"jsonrpc":"2.0","id":1,"method":"workflow_list","params":{}}`:                                                                                "the order is that of the ids",
				`{"jsonrpc":"2.0","id":2,"method":"workflow_list"}`:                                                                                            "absent is no parameters",
				`{"jsonrpc":"2.0","id":3,"method":"workflow_list","params":{"x":1}}`:                                                                           "the details name the argument",
				`{"jsonrpc":"2.0","id":5,"method":"workflow_get","params":{"id":"nope"}}`:                                                                      "the published message, the id in the data",
				`{"jsonrpc":"2.0","id":6,"method":"workflow_get","params":{"workflowId":"nope"}}`:                                                              "workflowId is an alias of id",
				`{"jsonrpc":"2.0","id":9,"method":"workflow_next","params":{"workflowId":"mr-review-workflow","completedSteps":[],"currentStep":"abc"}}`:       "currentStep is known, the step is not",
				`{"jsonrpc":"2.0","id":11,"method":"workflow_validate","params":{"workflowId":"mr-review-workflow","stepId":"zzz","output":"x"}}`:              "the published message and data",
				`{"jsonrpc":"2.0","id":12,"method":"workflow_validate","params":{"workflowId":"zzz","stepId":"zzz","output":"x"}}`:                             "the published message, the id in the data",
				`{"jsonrpc":"2.0","id":13,"method":"workflow_validate","params":{"workflowId":"mr-review-workflow","stepId":"zzz","output":"x","context":{}}}`: "context is known, the step is not",
				`{"jsonrpc":"2.0","method":"workflow_list"}`:                                                                                                   "a notification is not answered",
				`{"jsonrpc":"2.0","id":21,"method":"initialize","params":{"capabilities":{}}}`:                                                                 "the published message, the sentence in the data",
				`{"jsonrpc":"2.0","id":22,"method":"initialize"}`:                                                                                              "the published message, the sentence in the data",
				`{"jsonrpc":"2.0","id":23,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`:                                                    "the published message, the sentence in the data",
				`{"jsonrpc":"2.0","id":24,"method":"tools/list"}`:                                                                                              "the published schemas and descriptions",
				`{"jsonrpc":"2.0","id":26,"method":"workflow_get","params":{"id":"../etc"}}`:                                                                   "the details are a sentence",
				`not json`: "the published details",
			},
		},
		{
			"mcp", `{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
			"probe_mcp.jsonl", "v004-mcp-replies.jsonl",
			map[string]string{
				`{"jsonrpc":"2.0","id":0,"method":"tools/list","params":{}}`:                                                                                                       "descriptions and schemas of our own",
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`:               "the published name",
				`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`:                                                                                                       "descriptions and schemas of our own",
				`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"workflow_get","arguments":{"id":"coding-task-workflow"}}}`:                                        "id is the published argument",
				`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"workflow_get","arguments":{"workflowId":"nope"}}}`:                                                "an unknown workflow is an error, not null",
				`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"workflow_next","arguments":{"workflowId":"nope","completedSteps":[]}}}`:                           "errors are {code, message, data}",
				`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"workflow_validate","arguments":{"workflowId":"mr-review-workflow","stepId":"zzz","output":"x"}}}`: "errors are {code, message, data}",
				`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"bogus","arguments":{}}}`:                                                                          "an unknown tool is an error of the protocol",
				`{"jsonrpc":"2.0","id":10,"method":"workflow_list","params":{}}`:                                                                                                   "the message names the method",
				`{"jsonrpc":"2.0","id":11,"method":"initialize","params":{"protocolVersion":"1999-01-01","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`:              "the newest revision with a handshake is offered",
				`{"jsonrpc":"2.0","id":12,"method":"initialize","params":{"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`:                                             "no version is taken for the oldest",
				`{"jsonrpc":"2.0","id":13,"method":"resources/list","params":{}}`:                                                                                                  "the message names the method",
				`{"jsonrpc":"2.0","id":15,"method":"shutdown"}`:                                                                                                                    "the message names the method",
				`not json`: "broken JSON is answered",
			},
		},
	} {
		t.Run(c.door, func(t *testing.T) {
			replies := recordedReplies(t, c.replies)
			server := workflowsrv.New(workflowsrv.Options{Sources: []definition.Source{
				{Origin: definition.Config, FS: os.DirFS(filepath.Join(shared, "workflows", "v004", "workflows"))},
			}})
			p := connect(t, server)
			if c.door == "bare" {
				p = connect(t, server.Bare(nil))
			}
			p.ask(c.begin)
			for _, request := range recordedLines(t, c.requests) {
				if strings.Contains(request, `"id":null,"method":"shutdown"`) {
					continue // ends the session; see TestShutdown
				}
				answer := p.ask(request)
				recorded := replies[idOf(request)]
				same := answer == "" && len(recorded) == 0 || slices.ContainsFunc(recorded, func(r string) bool { return differs(t, answer, r) == "" })
				reason := c.differ[request]
				switch {
				case !same && reason == "":
					t.Errorf("%s: got %.600s, want %.600s", request, answer, recorded)
				case same && reason != "":
					t.Errorf("%s: got the recorded answer, although the table says that it differs: %s", request, reason)
				}
			}
		})
	}
}

func recordedLines(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(shared, "golden", name))
	if err != nil {
		t.Skipf("no recorded replies: %v", err)
	}
	lines := strings.Split(string(data), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
}

// recordedReplies reads replies by id, several where an id was sent again. What the original printed on standard output
// beside them is left out.
func recordedReplies(t *testing.T, name string) map[string][]string {
	t.Helper()
	replies := map[string][]string{}
	for _, line := range recordedLines(t, name) {
		if strings.HasPrefix(line, "{") {
			replies[idOf(line)] = append(replies[idOf(line)], line)
		}
	}
	return replies
}

func idOf(message string) string {
	var m struct{ ID json.RawMessage }
	if json.Unmarshal([]byte(message), &m) != nil || m.ID == nil {
		return "null"
	}
	return string(m.ID)
}

// differs says in what an answer is not the recorded one. The text of a tool result is compared as the document it
// holds.
func differs(t *testing.T, got, recorded string) string {
	t.Helper()
	if got == "" {
		return "there is no answer"
	}
	var messages [2]any
	for i, text := range []string{got, recorded} {
		if err := json.Unmarshal([]byte(text), &messages[i]); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		unfoldText(messages[i])
	}
	return lacks(messages[0], messages[1], "")
}

func unfoldText(message any) {
	m, _ := message.(map[string]any)
	result, _ := m["result"].(map[string]any)
	content, _ := result["content"].([]any)
	for _, item := range content {
		item, _ := item.(map[string]any)
		text, _ := item["text"].(string)
		var v any
		if json.Unmarshal([]byte(text), &v) == nil {
			item["text"] = v
		}
	}
}

// TestPublishedTools compares tools/list of the bare form with what the handshake document prints. Where they differ,
// the table says why.
func TestPublishedTools(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(shared, "seeds", "001_22d69d9994bc09f9.txt"))
	if err != nil {
		t.Skipf("no handshake document: %v", err)
	}
	// The document has lost its arrows to a wrong encoding.
	data = bytes.ReplaceAll(data, []byte("‚Üí"), []byte("→"))
	var printed []byte
	for block := range bytes.SplitSeq(data, []byte("```")) {
		text, ok := bytes.CutPrefix(block, []byte("json\n"))
		if ok && bytes.Contains(text, []byte(`"examples"`)) {
			printed = text
		}
	}
	type answer struct {
		Result struct{ Tools []map[string]any }
	}
	var want, got answer
	if err := json.Unmarshal(printed, &want); err != nil || len(want.Result.Tools) != 4 {
		t.Fatalf("the list in the document: got %d tools, %v, want 4", len(want.Result.Tools), err)
	}
	p := connect(t, workflowsrv.New(workflowsrv.Options{}).Bare(nil))
	p.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}`)
	if err := json.Unmarshal([]byte(p.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)), &got); err != nil {
		t.Fatal(err)
	}
	ruled := map[string]string{
		"workflow_get/examples/response/version":                   "an example without the version that the schema demands",
		"workflow_next/inputSchema/properties/context/description": "says what the variables are for",
		"workflow_next/outputSchema/properties/step/type":          "null at the end",
	}
	found := map[string]bool{}
	for i, tool := range want.Result.Tools {
		name, _ := tool["name"].(string)
		collect(got.Result.Tools[i], tool, name, found)
	}
	for path := range found {
		if ruled[path] == "" {
			t.Errorf("%s differs from the document", path)
		}
	}
	for path := range ruled {
		if !found[path] && path != "workflow_get/examples/response/version" {
			t.Errorf("%s is in the table, but does not differ", path)
		}
	}
}

// collect notes the paths at which got does not have what want has.
func collect(got, want any, path string, found map[string]bool) {
	w, isObject := want.(map[string]any)
	g, ok := got.(map[string]any)
	if !isObject || !ok {
		if lacks(got, want, "") != "" {
			found[path] = true
		}
		return
	}
	for name, value := range w {
		collect(g[name], value, path+"/"+name, found)
	}
}
