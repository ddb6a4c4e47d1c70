package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/model"
)

// lent is a client that lends its model, which answers with a result.
func lent(params *string, result string, err error) *model.Sampled {
	return model.NewSampled(func(_ context.Context, p []byte) ([]byte, error) {
		*params = string(p)
		return []byte(result), err
	})
}

func text(s string) string {
	b, _ := json.Marshal(s) // a string is JSON
	return `{"role":"assistant","content":{"type":"text","text":` + string(b) + `},"model":"m","stopReason":"endTurn"}`
}

func TestSampled(t *testing.T) {
	tools := []model.Tool{{Name: "f", Description: "does f", Schema: json.RawMessage(`{"type":"object"}`)}}
	call := func(arguments string) []model.Call {
		return []model.Call{{ID: "call_1", Name: "f", Arguments: arguments}}
	}
	for _, tt := range []struct {
		name   string
		tools  []model.Tool
		result string
		want   model.Reply
	}{
		{"words", tools, text("hi"), model.Reply{Text: "hi"}},
		{"parts", tools, `{"content":[{"type":"text","text":"h"},{"type":"image","data":""},{"type":"text","text":"i"}]}`, model.Reply{Text: "hi"}},
		{"no content", tools, `{}`, model.Reply{}},
		{"a call", tools, text(`{"tool": "f", "arguments": {"x": 1}}`), model.Reply{Calls: call(`{"x": 1}`)}},
		{"a call among words", tools, text("I call {f}:\n```json\n{\"tool\":\"f\",\"arguments\":{\"x\":\"}\"}}\n```\nThen more {"), model.Reply{Calls: call(`{"x":"}"}`)}},
		{"a call without arguments", tools, text(`{"tool":"f"}`), model.Reply{Calls: call(`{}`)}},
		{"braces without end", tools, text(strings.Repeat(`{"a":`, 100_000)), model.Reply{Text: strings.Repeat(`{"a":`, 100_000)}},
		{"JSON that is no call", tools, text(`{"x":1}`), model.Reply{Text: `{"x":1}`}},
		{"a call of nothing that was offered", nil, text(`{"tool":"f"}`), model.Reply{Text: `{"tool":"f"}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var params string
			r := hello(model.Agent)
			r.Tools = tt.tools
			got, err := lent(&params, tt.result, nil).Complete(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want.Text || !slices.Equal(got.Calls, tt.want.Calls) {
				t.Errorf("got %+v, want %+v", *got, tt.want)
			}
		})
	}
}

func TestSampledRequest(t *testing.T) {
	var params string
	r := model.Request{Role: model.Agent, MustCall: true,
		Messages: []model.Message{
			{From: model.FromSystem, Text: "Be brief."}, {From: model.FromUser, Text: "q"},
			{From: model.FromModel, Text: "well", Calls: []model.Call{{ID: "1", Name: "f", Arguments: `{"a":1}`}, {ID: "2", Name: "g", Arguments: "{"}}},
			{From: model.FromTool, CallID: "1", Text: "r"}, {From: model.FromTool, CallID: "2", Text: "s"},
		},
		Tools: []model.Tool{{Name: "f", Description: "does f", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
	if _, err := lent(&params, text("x"), nil).Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	const messages = `{"messages":[{"role":"user","content":{"type":"text","text":"q"}},` +
		`{"role":"assistant","content":{"type":"text","text":"well\n\n{\"tool\":\"f\",\"arguments\":{\"a\":1}}\n\n{\"tool\":\"g\",\"arguments\":{}}"}},` +
		`{"role":"user","content":{"type":"text","text":"The result of f:\nr\n\nThe result of g:\ns"}}],"systemPrompt":"Be brief.\n\nYou can call the tools below.`
	if !strings.HasPrefix(params, messages) {
		t.Errorf("got\n%s\nwant the beginning\n%s", params, messages)
	}
	const end = `do not answer in words.\n\nThe tools:\n\nf: does f\nSchema of the arguments: {\"type\":\"object\"}","temperature":0,"maxTokens":4096}`
	if !strings.HasSuffix(params, end) {
		t.Errorf("got\n%s\nwant the end\n%s", params, end)
	}
}

func TestSampledErrors(t *testing.T) {
	var params string
	for _, tt := range []struct {
		name, result string
		err          error
		want         string
	}{
		{"refused", "", errors.New("the client refused: no"), "the model of the client could not be asked: the client refused: no"},
		{"no result", `[]`, nil, "the client's answer is not the result of sampling"},
		{"endless", text(strings.Repeat("a", model.MaxReply)), nil, "the model of the client: the reply is too long: it has 4194395 bytes, 4194304 may be"},
		{"endless in tokens", `{"content":{"type":"text","text":"a"},"stopReason":"maxTokens"}`, nil, "the model of the client: the reply is too long: it had not ended after 4096 tokens"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := lent(&params, tt.result, tt.err).Complete(t.Context(), hello(model.Agent))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %+v, %v, want %q", got, err, tt.want)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		why := errors.New("the user has gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		s := model.NewSampled(func(ctx context.Context, _ []byte) ([]byte, error) { cancel(why); return nil, ctx.Err() })
		if _, err := s.Complete(ctx, hello(model.Agent)); err != why {
			t.Errorf("got %v, want the cause", err)
		}
	})
}
