package commandsrv_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/principal"
)

// Bodies and queries that are none are refused in the words of the API.
func TestBadRequests(t *testing.T) {
	b := newBed(t, nil)
	for name, tt := range map[string]struct {
		method, path, media, body string
		status                    int
		want                      string // a piece of the message
	}{
		"no JSON":              {"POST", "/initialize", "application/json", "{", 422, "not a JSON object"},
		"an array":             {"POST", "/initialize", "application/json", "[]", 422, "not a JSON object"},
		"a string":             {"POST", "/initialize", "application/json", `"{}"`, 422, "not a JSON object"},
		"two values":           {"POST", "/initialize", "application/json", `{} {}`, 422, "not a JSON object"},
		"a form":               {"POST", "/initialize", "application/x-www-form-urlencoded", `{}`, 415, "must be application/json"},
		"a media type of none": {"POST", "/initialize", "/", `{}`, 415, "must be application/json"},
		"with a charset":       {"POST", "/execute_command", "application/json; charset=utf-8", `{"command":"x"}`, 404, "no session yet"},
		"no body":              {"POST", "/new_conversation", "", "", 404, "no session yet"},
		"null":                 {"POST", "/new_conversation", "application/json", "null", 404, "no session yet"},
		"too long":             {"POST", "/execute_command", "application/json", `{"command":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "too long (at most 1048576 bytes)"},
		"a long command":       {"POST", "/execute_command", "application/json", `{"session_id":"SESSION","command":"` + strings.Repeat("x", 1<<19) + `"}`, 422, "at most 256"},
		"a long instruction":   {"POST", "/invoke_assistant", "application/json", `{"session_id":"SESSION","user_query":"` + strings.Repeat("x ", 1<<18) + `"}`, 422, "longer than"},
		"not UTF-8":            {"POST", "/execute_command", "application/json", "{\"session_id\":\"SESSION\",\"command\":\"list_orders \xff\"}", 422, "not valid UTF-8"},
		"twice":                {"GET", "/conversations?limit=1&limit=2", "", "", 422, "limit is given 2 times"},
		"no number":            {"GET", "/conversations?limit=many", "", "", 422, "limit must be integer, got string"},
		"no whole number":      {"GET", "/conversations?limit=1.5", "", "", 422, "limit must be integer, got number"},
		"a client without end": {"POST", "/initialize", "application/json", `{"client":"` + strings.Repeat("x", 1<<16) + `"}`, 422, "client"},
		"the format of later":  {"POST", "/initialize", "application/json", `{"stream_format":"sse"}`, 422, `unknown argument "stream_format"`},
		"an argument too many": {"GET", "/commands?session=1", "", "", 422, `unknown argument "session"; did you mean "session_id"?`},
	} {
		t.Run(name, func(t *testing.T) {
			body := strings.Replace(tt.body, "SESSION", b.begin(t, "alice"), 1)
			w := httptest.NewRecorder()
			r := httptest.NewRequest(tt.method, tt.path, strings.NewReader(body)).WithContext(principal.With(t.Context(), principal.Principal{Name: "alice"}))
			if tt.media != "" {
				r.Header.Set("Content-Type", tt.media)
			}
			b.ServeHTTP(w, r)
			if got := object(t, w.Body.Bytes()); w.Code != tt.status || !strings.Contains(got["message"].(string), tt.want) {
				t.Errorf("got %d %.300s, want %d and %q", w.Code, w.Body, tt.status, tt.want)
			}
		})
	}
	for path, allowed := range map[string]string{"/initialize": "POST", "/turns/x": "GET, DELETE", "/turns/x/events": "GET"} {
		w := httptest.NewRecorder()
		b.ServeHTTP(w, httptest.NewRequest("PATCH", path, nil))
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != allowed {
			t.Errorf("got %d with Allow %q for PATCH %s, want 405 with %s", w.Code, w.Header().Get("Allow"), path, allowed)
		}
	}
}
