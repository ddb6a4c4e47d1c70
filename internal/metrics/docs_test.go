package metrics_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/mcp-workbench/workbench/internal/metrics"
	"github.com/mcp-workbench/workbench/internal/status"
)

// The dashboard and the alerts in docs/monitoring ask for metrics that there are, with labels that these have, and the
// dashboard for each of ours but the version.
func TestMonitoringKnowsTheMetrics(t *testing.T) {
	labels := given(t)
	dir := filepath.Join("..", "..", "docs", "monitoring")
	asked := make(map[string]bool)
	for _, expr := range append(ofDashboard(t, filepath.Join(dir, "grafana-dashboard.json")), ofAlerts(t, filepath.Join(dir, "prometheus-alerts.yaml"))...) {
		for _, m := range regexp.MustCompile(`(workbench_\w+)(\{[^}]*\})?`).FindAllStringSubmatch(expr, -1) {
			name := m[1]
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				name = strings.TrimSuffix(name, part)
			}
			asked[name] = true
			has, ok := labels[name]
			if !ok {
				t.Errorf("%s: there is no metric %s", expr, name)
			}
			for _, l := range regexp.MustCompile(`(\w+)(=~|!~|!=|=)"`).FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(has, l[1]) {
					t.Errorf("%s: %s has no label %s", expr, name, l[1])
				}
			}
		}
	}
	for name := range labels {
		if !asked[name] && name != "workbench_info" {
			t.Errorf("nothing in %s asks for %s", dir, name)
		}
	}
}

// given are our metrics, with the labels of each.
func given(t *testing.T) map[string][]string {
	front := status.Front{
		Sessions: []status.Session{{Toolboxes: []status.Toolbox{{Name: "dev", Servers: []status.Server{{Name: "git", State: "ready"}}}}}},
		Users:    map[string]status.Outcomes{"ci": {OK: 1}},
		Limited:  map[string]uint64{"ci": 1},
		Refused:  map[int]uint64{401: 1},
		Calls: []status.Calls{{Toolbox: "dev", Server: "git", Changes: map[string]uint64{"ready": 1},
			Durations: status.Durations{Counts: map[float64]uint64{1: 1}, Count: 1, Sum: time.Second}}},
	}
	w := httptest.NewRecorder()
	metrics.Handler("1", func() status.Front { return front }, func() {}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	all := make(map[string][]string)
	for _, m := range regexp.MustCompile(`(?m)^(workbench_\w+?)(?:_bucket)?(?:\{(.*)\})? `).FindAllStringSubmatch(w.Body.String(), -1) {
		if strings.HasSuffix(m[1], "_seconds_sum") || strings.HasSuffix(m[1], "_seconds_count") {
			continue
		}
		for _, l := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[2], -1) {
			all[m[1]] = append(all[m[1]], l[1])
		}
		all[m[1]] = append(all[m[1]], "")
	}
	if len(all) < 12 {
		t.Fatalf("got %v, want all of our metrics", all)
	}
	return all
}

func ofDashboard(t *testing.T, path string) (exprs []string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Query string } }
	}
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			exprs = append(exprs, target.Expr)
		}
	}
	for _, v := range board.Templating.List {
		exprs = append(exprs, v.Query)
	}
	return exprs
}

func ofAlerts(t *testing.T, path string) (exprs []string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr, For string }
		}
	}
	if err := yaml.Unmarshal(data, &rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.For == "" {
				t.Errorf("%+v has no name, or no time", r)
			}
			exprs = append(exprs, r.Expr)
		}
	}
	return exprs
}
