// Package modeltest is an endpoint of chat completions for tests. It says what it is told to say and keeps what it was
// asked.
package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Answer writes one answer of the endpoint.
type Answer func(w http.ResponseWriter, r *http.Request)

// Request is what the endpoint was asked, as far as tests look at it.
type Request struct {
	Model    string
	Messages []struct {
		Role    string
		Content string
		Calls   []struct {
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
		CallID string `json:"tool_call_id"`
	}
	Tools []struct {
		Function struct {
			Name, Description string
			Parameters        json.RawMessage
		}
	}
	ToolChoice string `json:"tool_choice"`
	Stream     bool
	Body       string // all of it, as it was sent
	Key        string // the Authorization header
}

// Names are the names of the tools that were offered.
func (r *Request) Names() []string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Function.Name)
	}
	return names
}

// Server gives the answers of a script, one a request.
type Server struct {
	URL string // the base URL

	t        testing.TB
	mu       sync.Mutex
	script   []Answer
	requests []Request
}

// New starts a server that ends with the test. A request after the end of the script fails the test, and so does a part
// of the script that nobody asked for.
func New(t testing.TB, script ...Answer) *Server {
	s := &Server{t: t, script: script}
	server := httptest.NewServer(s)
	s.URL = server.URL + "/v1"
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.script) > 0 {
			t.Errorf("the model was asked %d times, want %d more", len(s.requests), len(s.script))
		}
	})
	return s
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	asked := Request{Body: string(body), Key: r.Header.Get("Authorization")}
	if err := json.Unmarshal(body, &asked); err != nil {
		s.t.Errorf("the model got a request that is not JSON: %v\n%s", err, body)
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		s.t.Errorf("the model got %s %s, want POST /v1/chat/completions", r.Method, r.URL.Path)
	}
	s.mu.Lock()
	s.requests = append(s.requests, asked)
	if len(s.script) == 0 {
		s.mu.Unlock()
		s.t.Errorf("the model was asked once more than the script has answers: %s", body)
		http.Error(w, "the script is over", http.StatusNotImplemented)
		return
	}
	answer := s.script[0]
	s.script = s.script[1:]
	s.mu.Unlock()
	answer(w, r)
}

// Requests returns what was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Text answers in words.
func Text(text string) Answer {
	return Completion(fmt.Sprintf(`{"content":%s}`, quote(text)), "stop")
}

// Calls answers with calls, each given as the name of a tool and its arguments.
func Calls(pairs ...string) Answer {
	calls := "["
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			calls += ","
		}
		calls += fmt.Sprintf(`{"id":"call_%d","type":"function","function":{"name":%s,"arguments":%s}}`, i/2+1, quote(pairs[i]), quote(pairs[i+1]))
	}
	return Completion(`{"content":null,"tool_calls":`+calls+`]}`, "tool_calls")
}

// Completion answers with a message, given as JSON, and why it ended.
func Completion(message, finish string) Answer {
	return Body(http.StatusOK, fmt.Sprintf(`{"id":"1","object":"chat.completion","choices":[{"index":0,"message":%s,"finish_reason":%s}]}`, message, quote(finish)))
}

// Pieces answers in words that are streamed in these pieces.
func Pieces(pieces ...string) Answer {
	var events []string
	for _, piece := range pieces {
		events = append(events, Delta(`{"content":`+quote(piece)+`}`, ""))
	}
	return Events(append(events, Delta(`{}`, "stop"), `{"choices":[],"usage":{"total_tokens":7}}`, "[DONE]")...)
}

// Delta is the event of a stream that adds to a message; finish says why it ended, "" that it has not.
func Delta(delta, finish string) string {
	return fmt.Sprintf(`{"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, delta, quote(finish))
}

// Events answers with server-sent events of that data, each sent alone.
func Events(data ...string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, d := range data {
			_, _ = io.WriteString(w, "data: "+d+"\n\n") // the client may have gone
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// Body answers with a status, a body, and headers, each given as its name and value.
func Body(status int, body string, headers ...string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may have gone
	}
}

// Endless begins a completion and goes on until the client is gone.
func Endless() Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.WriteString(w, `{"choices":[{"message":{"content":"`); err != nil {
			return
		}
		chunk := make([]byte, 64<<10)
		for i := range chunk {
			chunk[i] = 'a'
		}
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
}

// Silence answers nothing until the client is gone.
func Silence() Answer {
	return func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("a string is not JSON: " + err.Error())
	}
	return string(b)
}
