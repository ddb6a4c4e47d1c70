package httpfront_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// A user makes so many calls a minute, with whichever token, in whichever session, era and way; one too many is told
// when it can be made, and costs no other user and no request that is not a call.
func TestHTTPCallsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newPipeWeb(t, webOptions{http: httpfront.Options{Token: token, Tokens: newBook(), CallsPerMinute: 4,
			CommandsProbe: func(http.ResponseWriter, *http.Request) bool { return false },
			Commands:      http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "done") })}})
		session := w.begin("/mcp/box", "2025-11-25", bearer("alice"))
		modern, header := modernCall(7, "echo", "{}", "")
		ways := []struct {
			name string
			call func() (int, string, http.Header)
		}{
			{"legacy", func() (int, string, http.Header) {
				return w.answer("POST", "/mcp/box", callOf(7, "echo", "{}"), session, bearer("alice"))
			}},
			{"modern, with another token", func() (int, string, http.Header) {
				return w.answer("POST", "/mcp/box", modern, append(header, bearer("alice-again"))...)
			}},
			{"a command", func() (int, string, http.Header) {
				return w.answer("POST", "/commands/box/message", "{}", bearer("alice-box"))
			}},
			{"from the page", func() (int, string, http.Header) {
				ask, _ := modernCall(7, "workbench_status", "{}", "")
				reply, err := w.front.Ask(t.Context(), principal.Principal{Name: "alice"}, []byte(ask), func([]byte) {})
				if err != nil {
					return 429, err.Error(), nil
				}
				return 200, string(reply), nil
			}},
		}
		for _, way := range ways {
			if status, text, _ := way.call(); status != 200 {
				t.Errorf("%s, within the limit: got %d %s", way.name, status, text)
			}
		}
		for _, way := range ways {
			status, text, head := way.call()
			if status != 429 || !strings.Contains(text, "try again in 15 s (http.callsPerMinute") {
				t.Errorf("%s, one too many: got %d %s, want 429 and what to do", way.name, status, text)
			}
			if head != nil && head.Get("Retry-After") != "15" {
				t.Errorf("%s: got Retry-After %q, want 15", way.name, head.Get("Retry-After"))
			}
			if (way.name == "legacy" || strings.HasPrefix(way.name, "modern")) && !strings.Contains(text, `"id":7,`) {
				t.Errorf("%s: got %s, want the id of the request", way.name, text)
			}
		}
		if status, text := w.status("POST", "/mcp/box", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, session, bearer("alice")); status != 200 {
			t.Errorf("a list beyond the limit: got %d %s", status, text)
		}
		if status, text := w.status("POST", "/mcp/box", modern, append(header, bearer("bob"))...); status != 200 {
			t.Errorf("bob: got %d %s", status, text)
		}
		state := w.proxy.Status()
		if got := fmt.Sprint(state.Limited, state.Refused); got != "map[alice:4] map[429:3]" {
			t.Errorf("got the counts %s, want the four of alice, of which three came over HTTP", got)
		}
		time.Sleep(15 * time.Second)
		if status, text, _ := ways[0].call(); status != 200 {
			t.Errorf("after the time that was told: got %d %s", status, text)
		}
		w.front.Reload(&config.Config{HTTP: config.HTTP{CallsPerMinute: 4}})
		if status, _, _ := ways[0].call(); status != 429 {
			t.Errorf("after a reload that does not change the limit: got %d, want 429", status)
		}
		w.front.Reload(&config.Config{HTTP: config.HTTP{CallsPerMinute: 600}})
		for i := range 100 {
			if status, text, _ := ways[0].call(); status != 200 {
				t.Fatalf("call %d after the limit was raised: got %d %s", i, status, text)
			}
		}
	})
}

// answer is status with the header.
func (w *web) answer(method, path, body string, header ...string) (int, string, http.Header) {
	w.t.Helper()
	resp := w.do(w.t.Context(), method, path, body, header...)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header
}
