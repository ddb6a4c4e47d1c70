package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/internal/model/modeltest"
)

const key = "sk-canary-3141592653"

// client asks the server, and must not leave the key in the log.
func client(t *testing.T, s *modeltest.Server, opts model.Options) *model.Client {
	t.Helper()
	var log bytes.Buffer
	opts.Key, opts.Logger = key, zerolog.New(&log)
	if opts.Models.Default == "" {
		opts.Models.Default = "small"
	}
	c, err := model.New(s.URL, opts)
	if err != nil {
		t.Fatal(err)
	}
	c.SetRest(time.Millisecond)
	t.Cleanup(func() {
		if log.Len() == 0 || strings.Contains(log.String(), "canary") {
			t.Errorf("got the log %q, want lines without the key", log.String())
		}
	})
	return c
}

func hello(role model.Role) model.Request {
	return model.Request{Role: role, Messages: []model.Message{{From: model.FromUser, Text: "hello"}}}
}

func TestComplete(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer modeltest.Answer
		want   model.Reply
	}{
		{"text", modeltest.Text(" hi <there>\n"), model.Reply{Text: "hi <there>"}},
		{"thought", modeltest.Text("<think>\nwell\n</think>\n\nhi"), model.Reply{Text: "hi"}},
		{"parts", modeltest.Completion(`{"content":[{"type":"text","text":"h"},{"type":"text","text":"i"}]}`, "stop"), model.Reply{Text: "hi"}},
		{"refusal", modeltest.Completion(`{"content":null,"refusal":"no"}`, "stop"), model.Reply{Text: "no"}},
		{"nothing", modeltest.Completion(`{}`, "stop"), model.Reply{}},
		{"members of a stream, as they like", modeltest.Body(200, `{"choices":[{"index":"0","delta":"","message":{"content":"hi","tool_calls":[
			{"index":"a","id":"c1","function":{"name":"b"}}]},"finish_reason":"stop"}]}`), model.Reply{Text: "hi", Calls: []model.Call{{ID: "c1", Name: "b", Arguments: "{}"}}}},
		{"calls", modeltest.Calls("a", `{"x":1}`, "b", `not JSON`),
			model.Reply{Calls: []model.Call{{ID: "call_1", Name: "a", Arguments: `{"x":1}`}, {ID: "call_2", Name: "b", Arguments: "not JSON"}}}},
		{"calls without ids, arguments as they are", modeltest.Completion(
			`{"content":"","tool_calls":[{"function":{"name":"a","arguments":{"x":1}}},{"function":{"name":"b"}},{"id":"call_2","function":{"name":"c","arguments":""}}]}`, "stop"),
			model.Reply{Calls: []model.Call{{ID: "call_1", Name: "a", Arguments: `{"x":1}`}, {ID: "call_2", Name: "b", Arguments: "{}"}, {ID: "call_3", Name: "c", Arguments: "{}"}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := client(t, modeltest.New(t, tt.answer), model.Options{})
			got, err := c.Complete(t.Context(), hello(model.Agent))
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want.Text || !slices.Equal(got.Calls, tt.want.Calls) {
				t.Errorf("got %+v, want %+v", *got, tt.want)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	s := modeltest.New(t, modeltest.Text("x"))
	c := client(t, s, model.Options{MaxTokens: 77})
	_, err := c.Complete(t.Context(), model.Request{Role: model.Agent, MustCall: true,
		Messages: []model.Message{
			{From: model.FromSystem, Text: "a < b"}, {From: model.FromUser, Text: "q"},
			{From: model.FromModel, Calls: []model.Call{{ID: "1", Name: "f", Arguments: `{"a":1}`}, {ID: "2", Name: "g", Arguments: "{"}}},
			{From: model.FromTool, CallID: "1", Text: "r"},
		},
		Tools: []model.Tool{{Name: "f", Description: "does f", Schema: json.RawMessage(`{"type":"object"}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	asked := s.Requests()[0]
	const want = `{"model":"small","messages":[{"role":"system","content":"a < b"},{"role":"user","content":"q"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},` +
		`{"id":"2","type":"function","function":{"name":"g","arguments":"{}"}}]},{"role":"tool","content":"r","tool_call_id":"1"}],` +
		`"tools":[{"type":"function","function":{"name":"f","description":"does f","parameters":{"type":"object"}}}],` +
		`"tool_choice":"required","temperature":0,"max_tokens":77}` + "\n"
	if asked.Body != want {
		t.Errorf("got\n%swant\n%s", asked.Body, want)
	}
	if asked.Key != "Bearer "+key {
		t.Errorf("got the Authorization %q", asked.Key)
	}
}

func TestRoles(t *testing.T) {
	roles := []model.Role{model.Planner, model.Agent, model.Assistant, model.Summary}
	all := model.Models{Default: "d", Planner: "p", Agent: "a", Assistant: "s", Summary: "z"}
	s := modeltest.New(t, slices.Repeat([]modeltest.Answer{modeltest.Text("x")}, 8)...)
	each, fallback := client(t, s, model.Options{Models: all}), client(t, s, model.Options{})
	for _, c := range []*model.Client{each, fallback} {
		for _, role := range roles {
			if _, err := c.Complete(t.Context(), hello(role)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []string
	for _, r := range s.Requests() {
		got = append(got, r.Model)
	}
	if want := []string{"p", "a", "s", "z", "small", "small", "small", "small"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Some models refuse parameters that others want.
func TestRefusedParameters(t *testing.T) {
	refuses := func(param string) modeltest.Answer {
		return modeltest.Body(400, fmt.Sprintf(`{"error":{"message":"Unsupported parameter","param":%q,"code":"unsupported_parameter"}}`, param))
	}
	s := modeltest.New(t, refuses("max_tokens"), refuses("temperature"), modeltest.Text("x"), modeltest.Text("y"), refuses("tool_choice"), refuses("tool_choice"))
	c := client(t, s, model.Options{MaxTokens: 9})
	for range 2 {
		if _, err := c.Complete(t.Context(), hello(model.Agent)); err != nil {
			t.Fatal(err)
		}
	}
	req := hello(model.Agent)
	req.MustCall = true
	if _, err := c.Complete(t.Context(), req); err == nil {
		t.Error("got no error of an endpoint that refuses what is not sent")
	}
	asked := s.Requests()
	if last := asked[3].Body; !strings.HasSuffix(last, `"max_completion_tokens":9}`+"\n") || strings.Contains(last, "temperature") {
		t.Errorf("got %s", last)
	}
	if first, second := asked[4].ToolChoice, asked[5].ToolChoice; first != "required" || second != "" {
		t.Errorf("got the tool choices %q and %q", first, second)
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script []modeltest.Answer
		want   string // the whole of it
	}{
		{"unauthorized", []modeltest.Answer{modeltest.Body(401, `{"error":{"message":"Incorrect API key provided: sk-ca**53"}}`)},
			`model "small": HTTP 401 Unauthorized: the endpoint refused the key; check apiKey under models in the configuration`},
		{"unknown model", []modeltest.Answer{modeltest.Body(404, `{"error":{"message":"no\nmodel small","code":404}}`)},
			`model "small": HTTP 404 Not Found: no model small; check baseUrl, which mostly ends in /v1, and the names under models in the configuration`},
		{"bad request with the key", []modeltest.Answer{modeltest.Body(400, `{"error":{"message":"`+key+` is not for that"}}`)},
			`model "small": HTTP 400 Bad Request: [key] is not for that`},
		{"page", []modeltest.Answer{modeltest.Body(400, "<html>"+strings.Repeat("é", 1500))}, `model "small": HTTP 400 Bad Request: <html>` + strings.Repeat("é", 1019) + "…"},
		{"redirect", []modeltest.Answer{modeltest.Body(307, "", "Location", "http://127.0.0.1:1/v1")},
			`model "small": HTTP 307 Temporary Redirect: the endpoint sent us on, which is not followed; check baseUrl, which mostly ends in /v1, and the names under models in the configuration`},
		{"too busy", slices.Repeat([]modeltest.Answer{modeltest.Body(429, `{"error":{"message":"slow down"}}`)}, 3),
			`model "small": HTTP 429 Too Many Requests: slow down (asked 3 times)`},
		{"busy for long", []modeltest.Answer{modeltest.Body(429, `{"error":{"message":"slow down"}}`, "Retry-After", "3600")},
			`model "small": HTTP 429 Too Many Requests: slow down; to be asked again in 1h0m0s`},
		{"broken", slices.Repeat([]modeltest.Answer{modeltest.Body(500, ``)}, 3), `model "small": HTTP 500 Internal Server Error (asked 3 times)`},
		{"not JSON", slices.Repeat([]modeltest.Answer{modeltest.Body(200, `<html>`)}, 3),
			`model "small": the endpoint's answer is no chat completion: invalid character '<' looking for beginning of value (asked 3 times)`},
		{"another shape", slices.Repeat([]modeltest.Answer{modeltest.Body(200, `{"choices":"none"}`)}, 3),
			`model "small": the endpoint's answer is no chat completion: choices: want an array, got JSON of the type string (asked 3 times)`},
		{"another shape of usage", slices.Repeat([]modeltest.Answer{modeltest.Body(200, `{"choices":[],"usage":7}`)}, 3),
			`model "small": the endpoint's answer is no chat completion: usage: want an object, got JSON of the type number (asked 3 times)`},
		{"no object", slices.Repeat([]modeltest.Answer{modeltest.Body(200, `[]`)}, 3),
			`model "small": the endpoint's answer is no chat completion: want an object, got JSON of the type array (asked 3 times)`},
		{"an error with status 200", slices.Repeat([]modeltest.Answer{modeltest.Body(200, `{"error":{"message":"overloaded"}}`)}, 3),
			`model "small": the endpoint's answer is no chat completion: it is the error overloaded (asked 3 times)`},
		{"no choices", slices.Repeat([]modeltest.Answer{modeltest.Body(200, `{"choices":[]}`)}, 3),
			`model "small": the endpoint's answer is no chat completion: it has no choices (asked 3 times)`},
		{"endless", []modeltest.Answer{modeltest.Endless()}, fmt.Sprintf(`model "small": the reply is too long: it went on after %d bytes`, model.MaxReply)},
		{"endless in tokens", []modeltest.Answer{modeltest.Completion(`{"content":"aaa"}`, "length")},
			`model "small": the reply is too long: it had not ended after 4096 tokens, which is maxTokens under models in the configuration`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := client(t, modeltest.New(t, tt.script...), model.Options{})
			got, err := c.Complete(t.Context(), hello(model.Agent))
			if err == nil {
				t.Fatalf("got %+v, want an error", *got)
			}
			if err.Error() != tt.want {
				t.Errorf("got\n%v\nwant\n%s", err, tt.want)
			}
			if strings.HasPrefix(tt.name, "endless") != errors.Is(err, model.ErrTooLong) {
				t.Errorf("got errors.Is(err, ErrTooLong) %v", errors.Is(err, model.ErrTooLong))
			}
		})
	}
}

func TestPassingTrouble(t *testing.T) {
	s := modeltest.New(t, modeltest.Body(503, ""), modeltest.Body(429, ""), modeltest.Text("at last"))
	got, err := client(t, s, model.Options{}).Complete(t.Context(), hello(model.Agent))
	if err != nil || got.Text != "at last" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Body(429, "", "Retry-After", "1"), modeltest.Text("x"))
	began := time.Now()
	if _, err := client(t, s, model.Options{}).Complete(t.Context(), hello(model.Agent)); err != nil {
		t.Fatal(err)
	}
	if waited := time.Since(began); waited < time.Second {
		t.Errorf("it was asked again after %v, want after the second it wanted", waited)
	}
}

func TestNoReply(t *testing.T) {
	c := client(t, modeltest.New(t, modeltest.Silence()), model.Options{ReplyTimeout: 20 * time.Millisecond})
	_, err := c.Complete(t.Context(), hello(model.Agent))
	var e *model.Error
	if !errors.As(err, &e) || !e.Timeout || !strings.Contains(e.Error(), "no reply within 20ms; replyTimeout under models") {
		t.Errorf("got %v", err)
	}
}

// A reply that has begun and does not end takes no longer either.
func TestDrip(t *testing.T) {
	drip := func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"choices":`))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	c := client(t, modeltest.New(t, drip), model.Options{ReplyTimeout: 50 * time.Millisecond})
	_, err := c.Complete(t.Context(), hello(model.Agent))
	var e *model.Error
	if !errors.As(err, &e) || !e.Timeout {
		t.Errorf("got %v", err)
	}
}

func TestCancelled(t *testing.T) {
	why := errors.New("the user has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := modeltest.New(t, func(w http.ResponseWriter, r *http.Request) { cancel(why); <-r.Context().Done() })
	if _, err := client(t, s, model.Options{}).Complete(ctx, hello(model.Agent)); err != why {
		t.Errorf("got %v, want the cause", err)
	}
}

func TestUnreachable(t *testing.T) {
	s := modeltest.New(t)
	s.URL = "http://127.0.0.1:1/v1?secret=canary"
	_, err := client(t, s, model.Options{}).Complete(t.Context(), hello(model.Agent))
	if err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "was not reached") || !strings.Contains(err.Error(), "(asked 3 times); check baseUrl") {
		t.Errorf("got %v", err)
	}
}

func TestNoModel(t *testing.T) {
	c, err := model.New("http://localhost/v1", model.Options{Models: model.Models{Agent: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Complete(t.Context(), hello(model.Planner)); err == nil || !strings.Contains(err.Error(), "no model is named for the role of planner") {
		t.Errorf("got %v", err)
	}
}

func TestBaseURL(t *testing.T) {
	for _, tt := range []struct {
		url string
		ok  bool
	}{
		{"https://api.example.com/v1", true}, {"https://10.0.0.1/v1/", true}, {"http://localhost:11434/v1", true}, {"http://127.8.0.1/", true}, {"http://[::1]:80/v1", true},
		{"http://api.example.com/v1", false}, {"http://localhost.example.com", false}, {"http://10.0.0.1/v1", false}, {"ftp://localhost/", false},
		{"https://user:canary@api.example.com/v1", false}, {"api.example.com/v1", false}, {"", false}, {"https://%zz-canary", false},
	} {
		_, err := model.New(tt.url, model.Options{})
		if (err == nil) != tt.ok {
			t.Errorf("%s: got %v", tt.url, err)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: got the secret in %v", tt.url, err)
		}
	}
}
