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

// manySeen are 378 servers in 54 toolboxes, of which 9 tools each were seen.
func manySeen(b *testing.B) (boxes []config.Toolbox, seen *catalogue.Catalogue) {
	seen = catalogueIn(b.TempDir())
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
	return boxes, seen
}

// BenchmarkRecall is what the first search of a session does with the catalogue.
func BenchmarkRecall(b *testing.B) {
	boxes, seen := manySeen(b)
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

// BenchmarkExcluded is what each search does that has three names in it, where every tenth server is disabled.
func BenchmarkExcluded(b *testing.B) {
	boxes, seen := manySeen(b)
	var servers []*toolbox.Server
	for _, cfg := range boxes {
		for i := range cfg.Servers {
			cfg.Servers[i].Disabled = len(servers)%10 == 0
			t := toolbox.New(config.Toolbox{Name: cfg.Name, Servers: cfg.Servers[i : i+1]}, toolbox.Options{Catalogue: seen})
			servers = append(servers, t.Servers()...)
		}
	}
	for b.Loop() {
		n := 0
		for range toolbox.Excluded(servers, "read_file_8", "read_file", "read-file") {
			n++
		}
		if n != 38 {
			b.Fatalf("got %d tools, want one of each disabled server: 38", n)
		}
	}
}
