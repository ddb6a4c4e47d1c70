package model

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Sampled asks the model of an MCP client, by sampling/createMessage (MCP 2025-11-25, "Sampling"). Tools are described
// to it in words, and it calls them in words: most clients that lend their model do so for text alone. It makes one
// call a reply, and the client chooses which model it is.
type Sampled struct {
	create func(ctx context.Context, params []byte) (result []byte, err error)
}

// NewSampled returns what asks by create, which sends the request and waits for its result.
func NewSampled(create func(ctx context.Context, params []byte) (result []byte, err error)) *Sampled {
	return &Sampled{create}
}

//go:embed sampling.md
var samplingPrompt string

// The wire format of sampling.
type (
	createMessage struct {
		Messages     []sampledMessage `json:"messages"`
		SystemPrompt string           `json:"systemPrompt,omitempty"`
		Temperature  int              `json:"temperature"`
		MaxTokens    int              `json:"maxTokens"`
	}
	sampledMessage struct {
		Role    From          `json:"role"`
		Content sampledOfText `json:"content"`
	}
	sampledOfText struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	// calledInWords is a call as it stands in a text.
	calledInWords struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
)

// Complete asks the client's model. The error is an [*Error], wraps [ErrTooLong], or is the cause of ctx.
func (s *Sampled) Complete(ctx context.Context, r Request) (*Reply, error) {
	params, err := json.Marshal(sample(r))
	if err != nil {
		return nil, fmt.Errorf("a request that is not JSON: %w", err)
	}
	raw, err := s.create(ctx, params)
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, &Error{Text: "the model of the client could not be asked: " + err.Error()}
	}
	var result struct {
		Content    json.RawMessage `json:"content"`
		StopReason string          `json:"stopReason"`
	}
	switch {
	case len(raw) > maxReply:
		return nil, fmt.Errorf("the model of the client: %w: it has %d bytes, %d may be", ErrTooLong, len(raw), maxReply)
	case json.Unmarshal(raw, &result) != nil:
		return nil, &Error{Text: "the client's answer is not the result of sampling"}
	case result.StopReason == "maxTokens":
		return nil, fmt.Errorf("the model of the client: %w: it had not ended after %d tokens", ErrTooLong, defaultMaxTokens)
	}
	content := result.Content
	if len(content) > 0 && content[0] == '{' { // one part; several are a list
		content = bytes.Join([][]byte{{'['}, content, {']'}}, nil)
	}
	reply := &Reply{Text: spoken(textOf(content))}
	reply.callInWords(r)
	(&teller{tell: r.Text}).end(reply.Text)
	return reply, nil
}

// callInWords makes a call of a reply that is one in words, of a tool that was offered.
func (reply *Reply) callInWords(r Request) {
	if len(reply.Calls) > 0 {
		return
	}
	called, ok := callIn(reply.Text)
	if !ok || !slices.ContainsFunc(r.Tools, func(t Tool) bool { return t.Name == called.Tool }) {
		return
	}
	reply.Text, reply.Calls = "", []Call{{ID: fmt.Sprintf("call_%d", len(r.Messages)), Name: called.Tool, Arguments: argumentsOf(called.Arguments)}}
}

// sample puts a request into the words of sampling.
func sample(r Request) createMessage {
	m := createMessage{MaxTokens: defaultMaxTokens}
	for _, message := range r.inWords().Messages {
		if message.From == FromSystem {
			m.SystemPrompt = message.Text
		} else {
			m.Messages = append(m.Messages, sampledMessage{message.From, sampledOfText{"text", message.Text}})
		}
	}
	return m
}

// inWords is the request without tools: they stand in the instructions, and calls and results in the dialogue.
func (r *Request) inWords() *Request {
	out := &Request{Role: r.Role}
	names := map[string]string{}
	var system string
	say := func(from From, text string) {
		if n := len(out.Messages); n > 0 && out.Messages[n-1].From == from {
			out.Messages[n-1].Text += "\n\n" + text
		} else {
			out.Messages = append(out.Messages, Message{From: from, Text: text})
		}
	}
	for _, message := range r.Messages {
		switch message.From {
		case FromSystem:
			system += message.Text + "\n\n"
		case FromTool:
			say(FromUser, "The result of "+names[message.CallID]+":\n"+message.Text)
		case FromModel:
			if message.Text != "" {
				say(FromModel, message.Text)
			}
			for _, call := range message.Calls {
				names[call.ID] = call.Name
				say(FromModel, inWords(call))
			}
		default:
			say(FromUser, message.Text)
		}
	}
	if len(r.Tools) > 0 {
		system += samplingPrompt
		if r.MustCall {
			system += "\nYou have to call a tool; do not answer in words.\n"
		}
		system += "\nThe tools:\n"
	}
	for _, t := range r.Tools {
		system += "\n" + t.Name + ": " + t.Description + "\nSchema of the arguments: " + string(t.Schema) + "\n"
	}
	if system = strings.TrimSpace(system); system != "" {
		out.Messages = append([]Message{{From: FromSystem, Text: system}}, out.Messages...)
	}
	return out
}

// inWords writes a call as the model is told to.
func inWords(call Call) string {
	arguments := json.RawMessage(call.Arguments)
	if !json.Valid(arguments) {
		arguments = json.RawMessage("{}")
	}
	b, err := json.Marshal(calledInWords{call.Name, arguments})
	if err != nil {
		return "{}"
	}
	return string(b)
}

// maxBraces is how many braces a call is looked for behind.
const maxBraces = 20

// callIn finds a call in a text, whatever stands around it.
func callIn(text string) (called calledInWords, ok bool) {
	for range maxBraces {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			break
		}
		called = calledInWords{}
		if json.NewDecoder(strings.NewReader(text[at:])).Decode(&called) == nil && called.Tool != "" {
			return called, true
		}
		text = text[at+1:]
	}
	return calledInWords{}, false
}
