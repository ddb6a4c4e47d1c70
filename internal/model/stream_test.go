package model_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/internal/model/modeltest"
)

// listen has the text of a request handed on, and gives what was handed on of the last reply, and of how many there was
// some.
func listen(req *model.Request) (said *string, replies *int) {
	said, replies = new(string), new(int)
	req.Text = func(piece string, anew bool) {
		if anew {
			*said = ""
			*replies++
		}
		*said += piece
	}
	return said, replies
}

// A reply that is streamed is the one that it would be in one piece, and what it says comes meanwhile, without what is
// thought aloud and without calls in words.
func TestStream(t *testing.T) {
	t.Parallel()
	call := func(s string) string { return modeltest.Delta(`{"tool_calls":[`+s+`]}`, "") }
	ended := []string{modeltest.Delta(`{}`, "stop"), "[DONE]"}
	of := func(deltas ...string) modeltest.Answer { return modeltest.Events(append(deltas, ended...)...) }
	look := []model.Call{{ID: "c1", Name: "look", Arguments: `{"at":"x"}`}}
	for _, tt := range []struct {
		name   string
		answer modeltest.Answer
		want   model.Reply
		said   string
	}{
		{"text", modeltest.Pieces(" \n", "Hel", "lo, ", "w", "orld.\n"), model.Reply{Text: "Hello, world.", Tokens: 7}, "Hello, world."},
		{"in one piece", modeltest.Text("Hello."), model.Reply{Text: "Hello."}, "Hello."},
		{"nothing", of(), model.Reply{}, ""},
		{"thought", modeltest.Pieces("<th", "ink>I {\"tool\"", "</thi", "nk>", "\n", "So be", " it."), model.Reply{Text: "So be it.", Tokens: 7}, "So be it."},
		{"a tag that is none", modeltest.Pieces("<", "b>", "bold"), model.Reply{Text: "<b>bold", Tokens: 7}, "<b>bold"},
		{"thought to no end", modeltest.Pieces("<think>", "well"), model.Reply{Text: "<think>well", Tokens: 7}, "<think>well"},
		{"braces", modeltest.Pieces("a {", " b} {", `"c": 1}`, " d"), model.Reply{Text: `a { b} {"c": 1} d`, Tokens: 7}, `a { b} {"c": 1} d`},
		{"a call in words", modeltest.Pieces("I look.", " {", `"tool":"look"`, `,"arguments":{"at":"x"}}`, " Now."),
			model.Reply{Calls: []model.Call{{ID: "call_1", Name: "look", Arguments: `{"at":"x"}`}}, Tokens: 7}, "I look."},
		{"half a character", of(modeltest.Delta(`{"content":"`+"a\xc3"+`"}`, ""), modeltest.Delta(`{"content":"`+"\xa9b"+`\ud83d"}`, "")),
			model.Reply{Text: "a��b�"}, "a��b�"},
		{"parts", of(modeltest.Delta(`{"content":[{"type":"text","text":"h"},{"text":"i"}]}`, "")), model.Reply{Text: "hi"}, "hi"},
		{"with a message beside its pieces", of(`{"choices":[{"index":0,"message":"a","delta":{"content":"a"}}]}`), model.Reply{Text: "a"}, "a"},
		{"refusal", of(modeltest.Delta(`{"refusal":"n"}`, ""), modeltest.Delta(`{"refusal":"o"}`, "")), model.Reply{Text: "no"}, "no"},
		{"another choice", of(modeltest.Delta(`{"content":"a"}`, ""), `{"choices":[{"index":1,"delta":{"content":"b"}}]}`), model.Reply{Text: "a"}, "a"},
		{"a call in pieces", of(modeltest.Delta(`{"content":"I look."}`, ""), call(`{"index":0,"id":"c1","function":{"name":"look","arguments":""}}`),
			call(`{"index":0,"function":{"arguments":"{\"at\":"}}`), call(`{"index":0,"function":{"arguments":"\"x\"}"}}`)), model.Reply{Text: "I look.", Calls: look}, "I look."},
		{"two calls, mixed", of(call(`{"index":1,"id":"c2","function":{"name":"b"}},{"index":0,"id":"c1","function":{"name":"look"}}`),
			call(`{"index":0,"function":{"arguments":"{\"at\":\"x\"}"}},{"index":1,"function":{"arguments":"{}"}}`)),
			model.Reply{Calls: []model.Call{{ID: "c2", Name: "b", Arguments: "{}"}, look[0]}}, ""},
		{"calls without numbers", of(call(`{"id":"c1","function":{"name":"look","arguments":{"at":"x"}}}`), call(`{"id":"c2","function":{"name":"b","arguments":null}}`)),
			model.Reply{Calls: []model.Call{look[0], {ID: "c2", Name: "b", Arguments: "{}"}}}, ""},
		{"a number out of all bounds", of(call(`{"index":-1,"function":{"name":"a"}},{"index":999999999,"function":{"name":"b"}}`)),
			model.Reply{Calls: []model.Call{{ID: "call_1", Name: "a", Arguments: "{}"}, {ID: "call_2", Name: "b", Arguments: "{}"}}}, ""},
		{"cut off behind its end", modeltest.Events(modeltest.Delta(`{"content":"whole"}`, ""), ended[0]), model.Reply{Text: "whole"}, "whole"},
		{"silent behind its end", func(w http.ResponseWriter, r *http.Request) {
			modeltest.Events(modeltest.Delta(`{"content":"whole"}`, "stop"))(w, r)
			<-r.Context().Done()
		}, model.Reply{Text: "whole"}, "whole"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, tt.answer)
			req := hello(model.Agent)
			req.Tools = []model.Tool{{Name: "look", Schema: []byte(`{}`)}}
			said, replies := listen(&req)
			opts := model.Options{}
			if strings.HasPrefix(tt.name, "silent") {
				opts.ReplyTimeout = time.Second
			}
			got, err := client(t, s, opts).Complete(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want.Text || got.Tokens != tt.want.Tokens || !slices.Equal(got.Calls, tt.want.Calls) {
				t.Errorf("got %+v, want %+v", *got, tt.want)
			}
			if *said != tt.said || tt.said != "" && *replies != 1 {
				t.Errorf("got %q said in %d replies, want %q in one", *said, *replies, tt.said)
			}
			if asked := s.Requests()[0]; !asked.Stream || !strings.Contains(asked.Body, `"include_usage":true`) {
				t.Errorf("got the request %s, want one for a stream", asked.Body)
			}
		})
	}
}

// A stream that cannot be read is asked for again in one piece, and an endpoint that does not stream is asked for none.
func TestStreamElseWhole(t *testing.T) {
	whole := modeltest.Text("At last.")
	half := modeltest.Delta(`{"content":"Half of"}`, "")
	for name, first := range map[string]modeltest.Answer{
		"ends in a reply": modeltest.Events(half),
		"ends in a call":  modeltest.Events(half, modeltest.Delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"look","arguments":"{\"at\""}}]}`, "")),
		"ends in an event": func(w http.ResponseWriter, r *http.Request) {
			modeltest.Events(half)(w, r)
			_, _ = io.WriteString(w, `data: {"choi`)
		},
		"garbage":             modeltest.Events(half, "\x00\xff{{{"),
		"a wrong type":        modeltest.Events(half, `{"choices":{"delta":7}}`),
		"an error in between": modeltest.Events(half, `{"error":{"message":"overloaded"}}`),
		"server error":        modeltest.Body(500, `{"error":{"message":"cannot use tools with stream"}}`),
		"refused":             modeltest.Body(400, `{"error":{"message":"Your organization must be verified","param":"stream"}}`),
		"refused in words":    modeltest.Body(422, `streaming with tools is not supported`),
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.New(t, first, whole)
			req := hello(model.Agent)
			said, _ := listen(&req)
			got, err := client(t, s, model.Options{}).Complete(t.Context(), req)
			if err != nil || got.Text != "At last." || *said != "At last." {
				t.Errorf("got %+v, %v and %q said, want the second answer", got, err, *said)
			}
			if asked := s.Requests(); !asked[0].Stream || asked[1].Stream {
				t.Errorf("got %s\nthen %s, want a stream, then none", asked[0].Body, asked[1].Body)
			}
		})
	}
	t.Run("without the count", func(t *testing.T) {
		s := modeltest.New(t, modeltest.Body(422, `{"error":{"message":"stream_options: extra inputs are not permitted"}}`), modeltest.Pieces("Hi."))
		req := hello(model.Agent)
		listen(&req)
		if got, err := client(t, s, model.Options{}).Complete(t.Context(), req); err != nil || got.Text != "Hi." {
			t.Errorf("got %+v, %v", got, err)
		}
		if asked := s.Requests()[1]; !asked.Stream || strings.Contains(asked.Body, "stream_options") {
			t.Errorf("got %s, want a stream without the count", asked.Body)
		}
	})
}

// A stream without an end is not read to one.
func TestStreamBounds(t *testing.T) {
	t.Parallel()
	endless := func(event string) modeltest.Answer {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			chunk := strings.Repeat(event, 64<<10/len(event)+1)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, chunk); err != nil {
					return
				}
			}
		}
	}
	for name, answer := range map[string]modeltest.Answer{
		"text":     endless("data: " + modeltest.Delta(`{"content":"`+strings.Repeat("a", 10_000)+`"}`, "") + "\n\n"),
		"calls":    endless("data: " + modeltest.Delta(`{"tool_calls":[{"id":"a","function":{"name":"b"}},{"id":"c"}]}`, "") + "\n\n"),
		"nothing":  endless(`data: {"x":"` + strings.Repeat("a", 50_000) + "\"}\n\n"),
		"comments": endless(": still here\n\n"),
		"a line":   endless("data: "),
	} {
		t.Run(name, func(t *testing.T) {
			req := hello(model.Agent)
			listen(&req)
			if _, err := client(t, modeltest.New(t, answer), model.Options{}).Complete(t.Context(), req); !errors.Is(err, model.ErrTooLong) {
				t.Errorf("got %v, want that it is too long", err)
			}
		})
	}
	t.Run("one that drips", func(t *testing.T) {
		drip := func(w http.ResponseWriter, r *http.Request) {
			modeltest.Events(modeltest.Delta(`{"content":"well"}`, ""))(w, r)
			<-r.Context().Done()
		}
		req := hello(model.Agent)
		listen(&req)
		_, err := client(t, modeltest.New(t, drip), model.Options{ReplyTimeout: 50 * time.Millisecond}).Complete(t.Context(), req)
		if e := (*model.Error)(nil); !errors.As(err, &e) || !e.Timeout {
			t.Errorf("got %v, want that it took too long", err)
		}
	})
}
