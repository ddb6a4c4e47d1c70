package servers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// use is a call of a tool that a model wants made.
type use struct {
	id, name  string
	namespace string // of the tool, where the agent has such
	arguments string // JSON text
	search    bool   // it is a search for tools of the agent itself
}

// turn is what an agent shows its model.
type turn struct {
	tools   []string                           // the names that it offers
	hidden  []string                           // those that it offers when they were searched for
	search  func(id string, tool []string) use // searches for hidden ones
	results map[string]string                  // what the calls brought, by their ids
}

// script is a model: it answers a turn with the calls that it wants made, or with none when it is done.
type script interface {
	next(t turn) []use
}

// model serves a script over the protocols of model vendors: messages, responses, and chat completions. What has no
// tools, such as the wish for a title, is answered with a word.
type model struct {
	*httptest.Server
	script script
	mu     sync.Mutex // the script takes one turn at a time
	log    io.Writer  // takes each request, for a look at what agents send; nil for none
}

func newModel(tb testing.TB, s script) *model {
	m := &model{script: s}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"input_tokens":1}`) })
	mux.HandleFunc("POST /v1/responses", m.responses)
	mux.HandleFunc("POST /v1/chat/completions", m.completions)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) })
	m.Server = httptest.NewServer(mux)
	tb.Cleanup(m.Close)
	return m
}

// read reads a request.
func (m *model) read(r *http.Request, into any) bool {
	raw, err := io.ReadAll(r.Body)
	if m.log != nil {
		fmt.Fprintf(m.log, "%s %s\n%s\n\n", r.Method, r.URL, raw)
	}
	return err == nil && json.Unmarshal(raw, into) == nil
}

// take has the script take a turn.
func (m *model) take(t turn) []use {
	if len(t.tools) == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.script.next(t)
}

// stream begins a stream of events; the function sends one.
func stream(w http.ResponseWriter) func(event string, data any) {
	w.Header().Set("Content-Type", "text/event-stream")
	return func(event string, data any) {
		raw, err := json.Marshal(data)
		if err != nil {
			panic("an event cannot be encoded: " + err.Error())
		}
		if event != "" {
			fmt.Fprintf(w, "event: %s\n", event)
		}
		fmt.Fprintf(w, "data: %s\n\n", raw)
	}
}

// object is a JSON object.
type object map[string]any

// texts gives the text in a piece of JSON that is a string or a list of pieces of content.
func texts(raw json.RawMessage) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var pieces []struct{ Text string }
	_ = json.Unmarshal(raw, &pieces) // another kind of content has no text
	var all []string
	for _, p := range pieces {
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n")
}

// hidden are the names of tools that Claude Code tells of in a text.
var hidden = regexp.MustCompile(`(?m)^mcp__workbench__[A-Za-z0-9_-]+$`)

// messages is the protocol of Anthropic.
func (m *model) messages(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools    []struct{ Name string }
		Messages []struct{ Content json.RawMessage }
	}
	if !m.read(r, &in) {
		http.Error(w, "not a request", http.StatusBadRequest)
		return
	}
	t := turn{results: make(map[string]string)}
	for _, tool := range in.Tools {
		t.tools = append(t.tools, tool.Name)
	}
	for _, msg := range in.Messages {
		var pieces []struct {
			Type    string
			ID      string `json:"tool_use_id"`
			Content json.RawMessage
		}
		_ = json.Unmarshal(msg.Content, &pieces) // a string has no results
		t.hidden = append(t.hidden, hidden.FindAllString(texts(msg.Content), -1)...)
		for _, p := range pieces {
			if p.Type == "tool_result" {
				t.results[p.ID] = texts(p.Content)
			}
		}
	}
	t.search = func(id string, tools []string) use {
		return use{id: id, name: "ToolSearch", arguments: wiretest.JSON(object{"query": "select:" + strings.Join(tools, ","), "max_results": len(tools)})}
	}
	uses := m.take(t)
	send := stream(w)
	send("message_start", object{"type": "message_start", "message": object{"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted",
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1}}})
	reason := "tool_use"
	for i, u := range uses {
		send("content_block_start", object{"type": "content_block_start", "index": i,
			"content_block": object{"type": "tool_use", "id": u.id, "name": u.name, "input": object{}}})
		send("content_block_delta", object{"type": "content_block_delta", "index": i,
			"delta": object{"type": "input_json_delta", "partial_json": u.arguments}})
		send("content_block_stop", object{"type": "content_block_stop", "index": i})
	}
	if len(uses) == 0 {
		reason = "end_turn"
		send("content_block_start", object{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}})
		send("content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": "done"}})
		send("content_block_stop", object{"type": "content_block_stop", "index": 0})
	}
	send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": 1}})
	send("message_stop", object{"type": "message_stop"})
}

// tool is a tool, or a namespace with tools, as codex offers them.
type tool struct {
	Type, Name string
	Tools      []struct{ Name string }
}

// namesOf gives the names of tools, those in a namespace with that and a space before them.
func namesOf(tools []tool) (names []string) {
	for _, t := range tools {
		names = append(names, t.Name)
		for _, inner := range t.Tools {
			names = append(names, t.Name+" "+inner.Name)
		}
	}
	return names
}

// responses is the newer protocol of OpenAI.
func (m *model) responses(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools []tool
		Input []struct {
			Type   string
			CallID string `json:"call_id"`
			Output json.RawMessage
			Tools  json.RawMessage
		}
	}
	if !m.read(r, &in) {
		http.Error(w, "not a request", http.StatusBadRequest)
		return
	}
	t := turn{results: make(map[string]string)}
	t.tools = namesOf(in.Tools)
	for _, item := range in.Input {
		switch item.Type {
		case "function_call_output":
			t.results[item.CallID] = texts(item.Output)
		case "tool_search_output":
			var found []tool
			_ = json.Unmarshal(item.Tools, &found) // it found none
			t.tools = append(t.tools, namesOf(found)...)
			t.results[item.CallID] = string(item.Tools)
		}
	}
	if slices.ContainsFunc(in.Tools, func(t tool) bool { return t.Type == "tool_search" }) {
		t.hidden = []string{"workbench_open_toolbox", "workbench_use_tool"}
	}
	t.search = func(id string, tools []string) use {
		return use{id: id, search: true, arguments: wiretest.JSON(object{"query": strings.Join(tools, " "), "limit": 8})}
	}
	uses := m.take(t)
	send := stream(w)
	send("response.created", object{"type": "response.created", "response": object{"id": "resp_1"}})
	for _, u := range uses {
		item := object{"type": "function_call", "id": "fc_" + u.id, "call_id": u.id, "name": u.name, "arguments": u.arguments, "status": "completed"}
		if u.namespace != "" {
			item["namespace"] = u.namespace
		}
		if u.search {
			item = object{"type": "tool_search_call", "id": "ts_" + u.id, "call_id": u.id, "execution": "client", "status": "completed",
				"arguments": json.RawMessage(u.arguments)}
		}
		send("response.output_item.done", object{"type": "response.output_item.done", "item": item})
	}
	if len(uses) == 0 {
		send("response.output_item.done", object{"type": "response.output_item.done", "item": object{"type": "message", "role": "assistant", "id": "msg_1",
			"content": []any{object{"type": "output_text", "text": "done"}}}})
	}
	send("response.completed", object{"type": "response.completed", "response": object{"id": "resp_1", "output": []any{},
		"usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": nil, "output_tokens_details": nil}}})
}

// completions is the older protocol of OpenAI, which many others speak.
func (m *model) completions(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools []struct {
			Function struct{ Name string }
		}
		Messages []struct {
			Role    string
			ID      string `json:"tool_call_id"`
			Content json.RawMessage
		}
	}
	if !m.read(r, &in) {
		http.Error(w, "not a request", http.StatusBadRequest)
		return
	}
	t := turn{results: make(map[string]string)}
	for _, tool := range in.Tools {
		t.tools = append(t.tools, tool.Function.Name)
	}
	for _, msg := range in.Messages {
		if msg.Role == "tool" {
			t.results[msg.ID] = texts(msg.Content)
		}
	}
	uses := m.take(t)
	send := stream(w)
	chunk := func(delta object, reason any) {
		send("", object{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}}})
	}
	for i, u := range uses {
		chunk(object{"role": "assistant", "tool_calls": []any{object{"index": i, "id": u.id, "type": "function",
			"function": object{"name": u.name, "arguments": u.arguments}}}}, nil)
	}
	reason := "tool_calls"
	if len(uses) == 0 {
		reason = "stop"
		chunk(object{"role": "assistant", "content": "done"}, nil)
	}
	chunk(object{}, reason)
	fmt.Fprint(w, "data: [DONE]\n\n")
}
