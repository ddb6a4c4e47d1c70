package commandsrv_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/command/example"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// BenchmarkExecute measures one exact command after the other that calls a tool in this process: the tool alone, the
// engine, and the whole operation, whose turn is on stable storage in the end. Beside the mean it prints the median
// (p50-µs) and the 99th percentile (p99-µs).
func BenchmarkExecute(b *testing.B) {
	shop := example.New()
	w, err := command.Load(example.Files(), command.LoadOptions{Tools: shop.Tools()})
	if err != nil {
		b.Fatal(err)
	}
	st, err := store.OpenSQLite(b.Context(), filepath.Join(b.TempDir(), "conversations.db"), func(error) {}, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	engine := command.New(w, command.Options{Caller: shop})
	s := commandsrv.New(engine, st, commandsrv.Options{})
	defer s.Close()
	post := func(path, body string) string {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)).WithContext(principal.With(b.Context(), principal.Principal{Name: "b"})))
		if w.Code != 200 {
			b.Fatalf("got %d %s", w.Code, w.Body)
		}
		return w.Body.String()
	}
	var begun struct {
		SessionID string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(post("/initialize", "{}")), &begun); err != nil {
		b.Fatal(err)
	}
	request := fmt.Sprintf(`{"session_id":%q,"command":"list_orders <status>open</status>"}`, begun.SessionID)
	for _, part := range []struct {
		name string
		do   func() error
	}{
		{"tool", func() error {
			_, err := shop.CallTool(context.Background(), example.Toolbox, example.Server, "list_orders", json.RawMessage(`{"status":"open"}`))
			return err
		}},
		{"engine", func() error {
			_, err := engine.Execute(context.Background(), nil, "list_orders <status>open</status>", command.CallOptions{})
			return err
		}},
		{"operation", func() error { post("/execute_command", request); return nil }},
	} {
		b.Run(part.name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				if err := part.do(); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
		})
	}
}
