package workflowsrv_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/library"
)

// BenchmarkCall measures one call after the other through a session in this process, with 100 workflows that lie in a
// directory. Beside the mean it prints the median (p50-ns) and the 99th percentile (p99-ns).
func BenchmarkCall(b *testing.B) {
	dir := b.TempDir()
	hundred(b, dir)
	server := workflowsrv.New(workflowsrv.Options{Sources: definition.Layers{Dirs: []string{dir}}.Sources()})
	for _, door := range []struct {
		name     string
		endpoint wire.Endpoint
		begin    string
		request  string // with the tool and the arguments
	}{
		{"mcp", server, handshake, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`},
		{"bare", server.Bare(nil), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}`,
			`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`},
	} {
		heard := make(chan int, 1)
		s := door.endpoint.Connect(func(msg []byte) { heard <- len(msg) })
		s.Receive([]byte(door.begin))
		<-heard
		for _, c := range []struct{ name, tool, arguments string }{
			{"list", "workflow_list", `{}`},
			{"get", "workflow_get", `{"id":"implement-change-50"}`},
			{"next", "workflow_next", `{"workflowId":"implement-change-50","completedSteps":["understand-request","find-places"],"context":{"changeSize":"small"}}`},
			{"validate", "workflow_validate", `{"workflowId":"implement-change-50","stepId":"understand-request","output":` +
				`"Acceptance checks\n1. go test ./... ends with exit code 0\n2. the page shows the new total\nOut of scope: the old report"}`},
			{"validate-fails", "workflow_validate", `{"workflowId":"implement-change-50","stepId":"understand-request","output":"` + strings.Repeat("A line of an output. ", 20) + `"}`},
		} {
			b.Run(door.name+"/"+c.name, func(b *testing.B) {
				request := fmt.Appendf(nil, door.request, c.tool, c.arguments)
				times := make([]time.Duration, 0, b.N)
				bytes := 0
				b.ReportAllocs()
				for b.Loop() {
					start := time.Now()
					s.Receive(request)
					bytes = <-heard
					times = append(times, time.Since(start))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2]), "p50-ns")
				b.ReportMetric(float64(times[len(times)*99/100]), "p99-ns")
				b.ReportMetric(float64(bytes), "bytes")
			})
		}
		if err := s.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// hundred fills dir with copies of our own workflows under other ids.
func hundred(b *testing.B, dir string) {
	b.Helper()
	names, err := fs.Glob(library.Files(), "*.json")
	if err != nil {
		b.Fatal(err)
	}
	for i := range 100 {
		name := strings.TrimSuffix(names[i%len(names)], ".json")
		if i == 50 {
			name = "implement-change"
		}
		data, err := fs.ReadFile(library.Files(), name+".json")
		if err != nil {
			b.Fatal(err)
		}
		id := fmt.Sprintf("%s-%d", name, i)
		text := strings.Replace(string(data), `"id": "`+name+`"`, `"id": "`+id+`"`, 1)
		if err := os.WriteFile(filepath.Join(dir, id+".json"), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead measures reading 100 workflow files for the first time.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	hundred(b, dir)
	sources := definition.Layers{Dirs: []string{dir}}.Sources()
	b.ReportAllocs()
	for b.Loop() {
		if c := definition.NewStore(sources).Catalogue(); len(c.Entries) != 100 {
			b.Fatalf("got %d workflows, want 100: %v", len(c.Entries), c.Invalid)
		}
	}
}
