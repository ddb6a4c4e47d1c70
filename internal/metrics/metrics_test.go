package metrics_test

import (
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/metrics"
	"github.com/mcp-workbench/workbench/internal/status"
)

// What a front says is what is read, added up over its sessions.
func TestHandler(t *testing.T) {
	box := func(state string, inFlight int) []status.Toolbox {
		return []status.Toolbox{{Name: "dev", Servers: []status.Server{{Name: "git", State: state, InFlight: inFlight, Queued: 1, Kept: status.Kept{Bytes: 1000}}}}}
	}
	front := status.Front{
		Sessions: []status.Session{{InFlight: 2, Toolboxes: box("ready", 2)}, {InFlight: 1, Toolboxes: box("backoff", 1)}},
		Shared:   box("ready", 0),
		Users:    map[string]status.Outcomes{"ci": {OK: 2}},
		Limited:  map[string]uint64{"ci": 3},
		Refused:  map[int]uint64{401: 7},
		Calls: []status.Calls{{
			Toolbox: "dev", Server: "git",
			Outcomes:  status.Outcomes{OK: 5, Lost: 1},
			Changes:   map[string]uint64{"ready": 3, "starting": 4},
			Durations: status.Durations{Counts: map[float64]uint64{0.1: 4, 1: 5}, Count: 6, Sum: 3 * time.Second},
		}},
	}
	times := 0
	h := metrics.Handler("1.2", func() status.Front { return front }, func() { times++ })
	read := func() string {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if w.Code != 200 {
			t.Fatalf("got status %d, want 200: %s", w.Code, w.Body)
		}
		return w.Body.String()
	}
	if times != 0 {
		t.Error("first was called before anybody read")
	}
	text := read()
	read()
	if times != 1 {
		t.Errorf("first was called %d times, want once", times)
	}
	for _, want := range []string{
		`workbench_info{version="1.2"} 1`,
		`workbench_user_calls_total{outcome="ok",user="ci"} 2`,
		`workbench_user_calls_limited_total{user="ci"} 3`,
		`workbench_http_refused_total{status="401"} 7`,
		`workbench_sessions 2`,
		`workbench_requests_in_flight 3`,
		`workbench_servers{server="git",state="ready",toolbox="dev"} 2`,
		`workbench_servers{server="git",state="backoff",toolbox="dev"} 1`,
		`workbench_servers{server="git",state="starting",toolbox="dev"} 0`,
		`workbench_server_in_flight{server="git",toolbox="dev"} 3`,
		`workbench_server_queued{server="git",toolbox="dev"} 3`,
		`workbench_server_kept_bytes{server="git",toolbox="dev"} 3000`,
		`workbench_server_changes_total{server="git",state="starting",toolbox="dev"} 4`,
		`workbench_calls_total{outcome="ok",server="git",toolbox="dev"} 5`,
		`workbench_calls_total{outcome="lost",server="git",toolbox="dev"} 1`,
		`workbench_calls_total{outcome="cancelled",server="git",toolbox="dev"} 0`,
		`workbench_call_duration_seconds_bucket{server="git",toolbox="dev",le="0.1"} 4`,
		`workbench_call_duration_seconds_bucket{server="git",toolbox="dev",le="+Inf"} 6`,
		`workbench_call_duration_seconds_sum{server="git",toolbox="dev"} 3`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	page, err := os.ReadFile("../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, help := range regexp.MustCompile(`(?m)^# HELP (workbench_\S+)`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(string(page), "\n| `"+help[1]+"` |") {
			t.Errorf("docs/observability.md has no row for %s", help[1])
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}
