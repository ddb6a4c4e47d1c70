package httpfront_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/internal/trail"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// What a gateway does for whom, and whom it turns away, is told, with the address that a trusted proxy names and no
// token.
func TestTrail(t *testing.T) {
	var mu sync.Mutex
	var told []trail.Event
	w := newWeb(t, `{"toolboxes": {"dev": {"mcpServers": {"a": {"command": "inside", "args": ["tools=echo,iserror"]}}}}}`, webOptions{
		http: httpfront.Options{Token: "canary-of-a-token", Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}},
		trail: func(e trail.Event) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, e)
		},
	})
	last := func() trail.Event {
		mu.Lock()
		defer mu.Unlock()
		if len(told) == 0 {
			t.Fatal("nothing was told")
		}
		return told[len(told)-1]
	}
	const bearer, from = "Authorization: Bearer canary-of-a-token", "X-Forwarded-For: 192.0.2.9, 203.0.113.7, 10.1.1.1"
	for name, test := range map[string]struct {
		path   string
		header []string
		want   trail.Event
	}{
		"no token":            {"/mcp", []string{from}, trail.Event{Event: trail.Refused, Address: "203.0.113.7", Status: 401}},
		"a wrong token":       {"/mcp", []string{"Authorization: Bearer canary-of-another"}, trail.Event{Event: trail.Refused, Address: "127.0.0.1", Status: 401}},
		"an origin":           {"/mcp", []string{bearer, "Origin: https://evil.example"}, trail.Event{Event: trail.Refused, Address: "127.0.0.1", Status: 403}},
		"no toolbox":          {"/mcp/none", []string{bearer}, trail.Event{Event: trail.Refused, Address: "127.0.0.1", Status: 404, User: "default_user"}},
		"a request for a run": {"/hooks/run-abc.canary-of-a-secret", []string{"Origin: https://evil.example"}, trail.Event{Event: trail.Refused, Address: "127.0.0.1", Status: 403}},
	} {
		if code, _ := w.status(http.MethodPost, test.path, `{}`, test.header...); code != test.want.Status {
			t.Errorf("%s: got status %d, want %d", name, code, test.want.Status)
		}
		got := last()
		if got.Event != test.want.Event || got.Address != test.want.Address || got.Status != test.want.Status || got.User != test.want.User ||
			got.Method != "POST" || got.Path != strings.Replace(test.path, "run-abc.canary-of-a-secret", "…", 1) || got.Err == "" {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
	body, header := modernCall(7, "workbench_use_tool", `{"toolbox_name":"dev","tool_name":"iserror"}`, "")
	if code, reply := w.status(http.MethodPost, "/mcp", body, append(header, bearer, from)...); code != 200 {
		t.Fatalf("got %d: %s", code, reply)
	}
	if got := last(); got.Event != trail.Call || got.Address != "203.0.113.7" || got.User != "default_user" || got.Server != "a" || got.Tool != "iserror" ||
		got.Outcome != "tool_error" || got.Err != "no such file" || got.Session == "" || got.Call == "" {
		t.Errorf("got %+v, want the call", got)
	}
	mu.Lock()
	all, _ := json.Marshal(told)
	mu.Unlock()
	if strings.Contains(string(all), "canary") {
		t.Errorf("a token is in %s", all)
	}
	front := w.proxy.Status()
	if front.Users["default_user"] != (status.Outcomes{ToolError: 1}) || front.Refused[401] != 2 || front.Refused[403] != 2 || front.Refused[404] != 1 {
		t.Errorf("got %v and %v, want each counted", front.Users, front.Refused)
	}
}

// Requests that are turned away are logged, without their tokens, but so many each minute alone: whoever knocks does
// not fill the log.
func TestRefusalsInTheLog(t *testing.T) {
	var log syncBuffer
	w := newWeb(t, `{"toolboxes": {}}`, webOptions{http: httpfront.Options{Token: "right"}, log: &log})
	for range 25 {
		if code, _ := w.status(http.MethodPost, "/mcp", `{}`, "Authorization: Bearer canary"); code != http.StatusUnauthorized {
			t.Fatalf("got status %d, want 401", code)
		}
	}
	got := log.String()
	if n := strings.Count(got, "a request was turned away"); n != httpfront.LoggedRefusals || strings.Contains(got, "canary") ||
		!strings.Contains(got, `"detail":"401 to POST /mcp at 127.0.0.1`) {
		t.Errorf("got %d lines, want %d: %s", n, httpfront.LoggedRefusals, got)
	}
}

// A client that was given https in place of http is told at once, in a way that it understands, and the log says it.
func TestSpeaksTLS(t *testing.T) {
	var log syncBuffer
	w := newWeb(t, `{"toolboxes": {}}`, webOptions{log: &log})
	res, err := http.Get("https://" + w.address)
	if err == nil {
		_ = res.Body.Close()
		t.Fatal("https was answered by a port without TLS")
	}
	if !strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		t.Errorf("got %v, want that the server speaks HTTP", err)
	}
	waitFor(t, "a line of the log", func() bool {
		return strings.Contains(log.String(), `"err":"this address is served without TLS: its URL begins with http:// and not with https://","detail":"https from 127.0.0.1"`)
	})
}

// A call that somebody makes within, for a request over HTTP, is told with the address of that.
func TestTrailFromWithin(t *testing.T) {
	told := make(chan trail.Event, 10)
	var w *web
	page := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ask, _ := modernCall(7, "workbench_use_tool", `{"toolbox_name":"box","tool_name":"echo"}`, "")
		if _, err := w.front.Ask(r.Context(), principal.Principal{Name: "alice", Admin: true}, []byte(ask), func([]byte) {}); err != nil {
			t.Error(err)
		}
	})
	w = newWeb(t, oneBox, webOptions{http: httpfront.Options{Page: page}, trail: func(e trail.Event) { told <- e }})
	w.status("GET", "/ui/", "")
	for e := range told {
		if e.Event == trail.Call {
			if e.Address != "127.0.0.1" {
				t.Errorf("got %+v, want the address", e)
			}
			return
		}
	}
}
