package toolbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/toolbox"
)

// BenchmarkRecall is what the first search of a session does with the catalogue: 378 servers in 54 toolboxes, of 9 tools each.
func BenchmarkRecall(b *testing.B) {
	seen := catalogueIn(b.TempDir())
	var boxes []config.Toolbox
	for i := range 54 {
		box := config.Toolbox{Name: fmt.Sprint("box", i)}
		for j := range 7 {
			s := config.Server{
				Name: fmt.Sprint("server", j), Transport: config.TransportStdio,
				Command: os.Args[0], Args: []string{fmt.Sprint(i), fmt.Sprint(j)},
			}
			box.Servers = append(box.Servers, s)
			e := catalogue.Entry{
				Seen: time.Now(), Version: "2025-11-25", Program: toolbox.ProgramOf(s),
				Capabilities: json.RawMessage(`{"tools":{}}`), Lists: map[string][]json.RawMessage{},
			}
			for n := range 9 {
				e.Lists["tools"] = append(e.Lists["tools"], json.RawMessage(fmt.Sprintf(`{"name":"read_file_%d","description":`+
					`"Reads a file of the project, or a part of it, and gives its text with the numbers of its lines.","inputSchema":`+
					`{"type":"object","properties":{"path":{"type":"string","description":"The file"},"from":{"type":"integer"}}}}`, n)))
			}
			seen.Put(catalogue.Key{Server: toolbox.KeyOf(s), Client: catalogue.Digest([]byte("legacy {}"))}, &e)
		}
		boxes = append(boxes, box)
	}
	for b.Loop() {
		tools := 0
		var recalled []*toolbox.Toolbox
		for _, cfg := range boxes {
			recalled = append(recalled, toolbox.New(cfg, toolbox.Options{Catalogue: seen}))
		}
		toolbox.Recall(recalled...)
		for _, t := range recalled {
			for _, s := range t.Servers() {
				tools += len(s.Items(toolbox.Tools))
			}
		}
		if tools != 54*7*9 {
			b.Fatalf("got %d tools, want %d", tools, 54*7*9)
		}
	}
}
