package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Request is one question to a model.
type Request struct {
	Role     Role
	Messages []Message
	// Tools are what it may call. MustCall has it call one of them instead of answering in words.
	Tools    []Tool
	MustCall bool
	// Text takes what the reply says as the model writes it, in pieces that are its Text together; anew says that a
	// reply begins: the request may be made several times. What a model writes beside a call in words may be handed on,
	// too. nil has the reply come whole.
	Text func(piece string, anew bool)
}

// Message is one contribution to a dialogue.
type Message struct {
	From From   `json:"from"`
	Text string `json:"text,omitempty"`
	// Calls are those of the model.
	Calls []Call `json:"calls,omitempty"`
	// CallID is of the call that a message of a tool answers.
	CallID string `json:"call_id,omitempty"`
}

// From says whose message it is, in the words of the protocol.
type From string

// The parties of a dialogue.
const (
	FromSystem From = "system" // the instructions
	FromUser   From = "user"
	FromModel  From = "assistant"
	FromTool   From = "tool" // the result of a call
)

// Tool is something that a model can call. Name has letters, digits, _ and -, 64 at most; Schema is the JSON Schema of
// its arguments, an object.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage
}

// Call is a call that the model wants. Arguments are as it wrote them, which need not be JSON.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Reply is what a model said: a text, calls, or both.
type Reply struct {
	Text  string
	Calls []Call
	// Tokens are those of the request and the reply together, as the endpoint counts them; 0 where it does not say.
	Tokens int
}

// Message returns the reply as a part of the dialogue.
func (r *Reply) Message() Message {
	return Message{From: FromModel, Text: r.Text, Calls: r.Calls}
}

// params are those of a request that some models refuse.
type params struct{ maxTokens, temperature, mustCall, tools, stream, usage bool }

// without returns what the model has refused.
func (c *Client) without(name string) params {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused[name]
}

// refuse notes a parameter that the model will not have, and reports whether it was sent and is left out from now on.
func (c *Client) refuse(name string, e *Error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.refused[name]
	before := p
	if named := map[string]*bool{
		"tools": &p.tools, "max_tokens": &p.maxTokens, "temperature": &p.temperature, "tool_choice": &p.mustCall,
		"stream_options": &p.usage, "stream": &p.stream,
	}[e.Param]; named != nil {
		*named = true
	}
	switch { // Some say that they take no tools in a stream, which is tried whole first.
	case !p.usage && e.refuses("stream_options", ""):
		p.usage = true
	case !p.stream && e.refuses("stream", "support", "enable", "permit", "allow", "unknown", "unrecognized"):
		p.stream = true
	case e.refuses("tool", "support", "enable"):
		p.tools = true
	}
	c.refused[name] = p
	return p != before
}

// The wire format of requests.
type (
	wireRequest struct {
		Model       string        `json:"model"`
		Messages    []wireMessage `json:"messages"`
		Tools       []wireTool    `json:"tools,omitempty"`
		ToolChoice  string        `json:"tool_choice,omitempty"`
		Temperature *int          `json:"temperature,omitempty"`
		// Models that reason call the same limit by the second name.
		MaxTokens           int            `json:"max_tokens,omitempty"`
		MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
		Stream              bool           `json:"stream,omitempty"`
		StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	}
	streamOptions struct {
		Usage bool `json:"include_usage"`
	}
	wireMessage struct {
		Role    From       `json:"role"`
		Content *string    `json:"content"` // null beside calls: not every endpoint takes an empty text
		Calls   []wireCall `json:"tool_calls,omitempty"`
		CallID  string     `json:"tool_call_id,omitempty"`
	}
	wireTool struct {
		Type     string       `json:"type"`
		Function wireFunction `json:"function"`
	}
	wireFunction struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	wireCall struct {
		ID       string         `json:"id"`
		Type     string         `json:"type"`
		Function calledFunction `json:"function"`
	}
	calledFunction struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

// encode writes the request for a model, without what that has refused.
func (r *Request) encode(model string, maxTokens int, without params) (io.Reader, error) {
	text := r.Text
	if without.tools {
		r = r.inWords()
	}
	w := wireRequest{Model: model, MaxTokens: maxTokens}
	if without.maxTokens {
		w.MaxTokens, w.MaxCompletionTokens = 0, maxTokens
	}
	if !without.temperature {
		w.Temperature = new(int) // 0: the likeliest reply
	}
	if r.MustCall && !without.mustCall {
		w.ToolChoice = "required"
	}
	if w.Stream = text != nil && !without.stream; w.Stream && !without.usage {
		w.StreamOptions = &streamOptions{true}
	}
	for _, m := range r.Messages {
		out := wireMessage{Role: m.From, CallID: m.CallID}
		if m.Text != "" || len(m.Calls) == 0 {
			out.Content = &m.Text
		}
		for _, call := range m.Calls {
			arguments := call.Arguments
			if !json.Valid([]byte(arguments)) {
				arguments = "{}" // some endpoints parse what their models once said
			}
			out.Calls = append(out.Calls, wireCall{call.ID, "function", calledFunction{call.Name, arguments}})
		}
		w.Messages = append(w.Messages, out)
	}
	for _, t := range r.Tools {
		w.Tools = append(w.Tools, wireTool{"function", wireFunction{t.Name, t.Description, t.Schema}})
	}
	var out bytes.Buffer
	if err := wire.NewEncoder(&out).Encode(w); err != nil {
		return nil, fmt.Errorf("a request that is not JSON: %w", err)
	}
	return &out, nil
}

// completion is a reply as the endpoint gave it.
type completion struct {
	text   string
	calls  []Call
	finish string
	tokens int
}

// garbled is the error of an answer that is no reply.
func (c *Client) garbled(name, format string, args ...any) error {
	return &Error{Model: name, garbled: true, Text: "the endpoint's answer is no chat completion: " + c.clean(fmt.Sprintf(format, args...))}
}

// whole reads a chat completion that has come in one piece.
func (c *Client) whole(name string, data []byte) (*completion, error) {
	var got struct {
		Choices []struct {
			Message struct {
				said
				Calls []called `json:"tool_calls"`
			} `json:"message"`
			Finish string `json:"finish_reason"`
		} `json:"choices"`
		outcome
	}
	if err := json.Unmarshal(data, &got); err != nil {
		return nil, c.garbled(name, "%v", foreign.Misread(err, &got))
	}
	if len(got.Choices) == 0 {
		if got.failed() {
			return nil, c.garbled(name, "it is the error %s", wordsOf(data))
		}
		return nil, c.garbled(name, "it has no choices")
	}
	choice := got.Choices[0]
	done := &completion{text: cmp.Or(textOf(choice.Message.Content), choice.Message.Refusal), finish: choice.Finish, tokens: got.Usage.Total}
	for _, call := range choice.Message.Calls {
		done.calls = append(done.calls, Call{call.ID, call.Function.Name, argumentsOf(call.Function.Arguments)})
	}
	return done, nil
}

// maxCalls is how many calls of one reply are looked at.
const maxCalls = 128

// reply is what the model has said.
func (c *Client) reply(name string, done *completion) (*Reply, error) {
	if done.finish == "length" {
		return nil, fmt.Errorf("model %q: %w: it had not ended after %d tokens, which is maxTokens under models in the configuration", name, ErrTooLong, c.opts.MaxTokens)
	}
	r := &Reply{Text: spoken(done.text), Tokens: done.tokens}
	for i, call := range done.calls[:min(len(done.calls), maxCalls)] {
		if call.ID == "" || slices.ContainsFunc(r.Calls, func(c Call) bool { return c.ID == call.ID }) {
			call.ID = fmt.Sprintf("call_%d", i+1)
		}
		call.Arguments = orEmpty(call.Arguments)
		r.Calls = append(r.Calls, call)
	}
	return r, nil
}

// argumentsOf reads the arguments of a call: JSON in a string, as the protocol wants it, or as it is.
func argumentsOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	return orEmpty(s)
}

// orEmpty gives arguments, the empty object where there are none.
func orEmpty(arguments string) string {
	if s := strings.TrimSpace(arguments); s != "" && s != "null" {
		return s
	}
	return "{}"
}

// textOf reads the content of a message: a text, or a list of parts.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		var parts []struct {
			Text string `json:"text"`
		}
		_ = json.Unmarshal(raw, &parts) // what is neither says nothing
		for _, p := range parts {
			text += p.Text
		}
	}
	return text
}

// spoken is what a text says. Models that think aloud do so first.
func spoken(text string) string {
	if before, said, found := strings.Cut(text, thought); found && strings.HasPrefix(strings.TrimSpace(before), thinking) {
		text = said
	}
	return strings.TrimSpace(text)
}
