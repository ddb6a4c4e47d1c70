package commandsrv_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Events are sent as they happen, in either form: those of the first command
// are there while the second one waits.
func TestStream(t *testing.T) {
	for name, tt := range map[string]struct{ accept, media string }{
		"ndjson":    {"", "application/x-ndjson"},
		"preferred": {"application/x-ndjson", "application/x-ndjson"},
		"sse":       {"text/event-stream", "text/event-stream"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, withPlanner)
			srv := httptest.NewServer(b)
			defer srv.Close()
			id := b.begin(t, "default_user")
			req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/invoke_agent_stream",
				strings.NewReader(fmt.Sprintf(`{"session_id":%q,"user_query":"list_orders; search_books <words>slow</words>"}`, id)))
			if err != nil {
				t.Fatal(err)
			}
			if tt.accept != "" {
				req.Header.Set("Accept", tt.accept)
			}
			resp, err := srv.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if got := resp.Header.Get("Content-Type"); got != tt.media {
				t.Errorf("got Content-Type %q, want %q", got, tt.media)
			}
			lines := bufio.NewScanner(resp.Body)
			next := func() (kind string, data map[string]any) {
				t.Helper()
				for lines.Scan() {
					line := lines.Text()
					if announced, ok := strings.CutPrefix(line, "event: "); ok {
						kind = announced
						continue
					}
					line = strings.TrimPrefix(line, "data: ")
					if line == "" {
						continue
					}
					var event struct {
						Type string         `json:"type"`
						Data map[string]any `json:"data"`
					}
					if err := json.Unmarshal([]byte(line), &event); err != nil {
						t.Fatalf("%s: %v", line, err)
					}
					if tt.accept == "text/event-stream" && kind != event.Type {
						t.Errorf("got the event %q with the type %q", kind, event.Type)
					}
					return event.Type, event.Data
				}
				t.Fatalf("the stream ended early: %v", lines.Err())
				return "", nil
			}
			for _, direction := range []string{"agent_to_workflow", "workflow_to_agent", "agent_to_workflow"} {
				if kind, data := next(); kind != "trace" || data["direction"] != direction {
					t.Errorf("got %s %v, want a trace %s", kind, data, direction)
				}
			}
			b.gate.release()
			if kind, _ := next(); kind != "trace" {
				t.Errorf("got %s, want the last trace", kind)
			}
			kind, data := next()
			if _, again := data["traces"]; kind != "output" || data["success"] != true || again {
				t.Errorf("got %s %v, want the output without traces", kind, data)
			}
			if lines.Scan() && lines.Text() != "" {
				t.Errorf("got %q after the output", lines.Text())
			}
		})
	}
}
