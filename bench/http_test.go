package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// webServer is an MCP server over HTTP that wants a token and a session, and answers in one of the two forms.
type webServer struct {
	stream bool
	answer func(n int64, id string) string // in place of good, for the nth call
	calls  atomic.Int64
	crowd  *crowd // calls are answered when all of it waits; nil for at once
}

// crowd is a number of calls that wait for each other.
type crowd struct {
	size int

	mu      sync.Mutex
	waiting int
	whole   chan struct{} // closed and replaced when all are there
}

func (c *crowd) wait() error {
	c.mu.Lock()
	c.waiting++
	whole := c.whole
	if c.waiting == c.size {
		close(c.whole)
		c.waiting, c.whole = 0, make(chan struct{})
	}
	c.mu.Unlock()
	select {
	case <-whole:
		return nil
	case <-time.After(limit):
		return errors.New("the crowd is too small")
	}
}

func (s *webServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/mcp" || r.Header.Get("Authorization") != "Bearer secret" {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	start, end := findID(body)
	id := string(body[start:end])
	switch {
	case strings.Contains(string(body), `"initialize"`):
		w.Header().Set("Mcp-Session-Id", "s1")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
		return
	case r.Header.Get("Mcp-Session-Id") != "s1":
		http.Error(w, "no session", http.StatusNotFound)
		return
	case end == 0:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	n := s.calls.Add(1)
	if n > 1 && s.crowd != nil {
		if err := s.crowd.wait(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	answer := good(id)
	if s.answer != nil {
		answer = s.answer(n, id)
	}
	if s.stream {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\nid: 7\ndata: %s\n", answer)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, answer)
}

// dialTest connects to the server with that token.
func dialTest(t *testing.T, s *webServer, token string) *httpClient {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := dialHTTP(t.Context(), server.URL+"/mcp", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

func TestHTTP(t *testing.T) {
	for _, test := range []struct {
		name   string
		server *webServer
		token  string
		want   string // in the error; "" for none
	}{
		{"JSON", &webServer{}, "secret\n", ""},
		{"event stream", &webServer{stream: true}, "secret\n", ""},
		{"wrong token", &webServer{}, "guess", "401"},
		{"other answer", &webServer{answer: func(int64, string) string { return good("7777") }}, "secret", "the answer to request 2 is another's"},
		{"shorter answer", &webServer{answer: func(n int64, id string) string {
			if n == 1 {
				return good(id)
			}
			return strings.Replace(good(id), "right", "", 1)
		}}, "secret", "sequence: the answer to request 3 is other than the first one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := dialTest(t, test.server, test.token)
			err := greet(c)
			if err == nil {
				err = attempt(c)
			}
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if got := test.server.calls.Load(); got != 1+3+6 {
					t.Errorf("the server got %d calls, want 10", got)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q in it", err, test.want)
			}
		})
	}
}

func TestHTTPCrowdIsAsLargeAsItSays(t *testing.T) {
	const width = 8
	s := &webServer{crowd: &crowd{size: width, whole: make(chan struct{})}}
	c := dialTest(t, s, "secret")
	if err := greet(c); err != nil {
		t.Fatal(err)
	}
	q, err := callOf(c, useTool, "any", "{}", "right")
	if err != nil {
		t.Fatal(err)
	}
	if calls, _, err := c.Crowd(q, width, effort{calls: 3 * width}); err != nil || calls != 3*width {
		t.Errorf("got %d calls and error %v, want %d", calls, err, 3*width)
	}
}
