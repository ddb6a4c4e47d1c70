package proxy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The definitions of the meta tools are what models read: a change of them is made on purpose.
func TestMetaTools(t *testing.T) {
	for name, config := range map[string]string{
		"meta_tools":      `{"toolboxes": {"dev": {"description": "Development <tools>", "mcpServers": {}}, "bare": {"mcpServers": {}}}}`,
		"meta_tools_none": `{"toolboxes": {}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, def := range metaTools(t, config) {
				got.Write(def)
				got.WriteString("\n")
			}
			file := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("got\n%swant\n%s", &got, want)
			}
		})
	}
}

// Some clients cut descriptions at 2 KB; ours stay below, however many toolboxes there are, and the enum still names
// each.
func TestMetaToolsOfManyToolboxes(t *testing.T) {
	const n = 200
	boxes := make(map[string]any)
	for i := range n {
		boxes[fmt.Sprintf("box-%03d", i)] = map[string]any{"description": strings.Repeat("words ", 30), "mcpServers": map[string]any{}}
	}
	config, err := json.Marshal(map[string]any{"toolboxes": boxes})
	if err != nil {
		t.Fatal(err)
	}
	for _, def := range metaTools(t, string(config)) {
		var tool struct {
			Name, Description string
			InputSchema       struct {
				Properties map[string]struct {
					Description string
					Enum        []string
				}
			}
		}
		if err := json.Unmarshal(def, &tool); err != nil {
			t.Fatal(err)
		}
		const most = 2000
		if len(tool.Description) > most {
			t.Errorf("%s: got a description of %d bytes, want at most %d", tool.Name, len(tool.Description), most)
		}
		for name, p := range tool.InputSchema.Properties {
			if len(p.Description) > most {
				t.Errorf("%s: got a description of %s of %d bytes, want at most %d", tool.Name, name, len(p.Description), most)
			}
		}
		// Some clients show the model no more than the beginning before it asks for the tool.
		if tool.Name == "workbench_open_toolbox" {
			if begin := tool.Description[:160]; !strings.HasPrefix(begin, "Open a toolbox (box-000, box-001, ") || !strings.Contains(begin, " more): ") {
				t.Errorf("%s: got the description %s, want the first toolboxes and how many more there are at its beginning", tool.Name, tool.Description)
			}
		}
		named, asks := tool.InputSchema.Properties["toolbox_name"]
		if got := len(named.Enum); asks && got != n {
			t.Errorf("%s: got an enum of %d toolboxes, want %d", tool.Name, got, n)
		}
	}
}

// metaTools lists what a front offers before anything is open.
func metaTools(t *testing.T, config string) []json.RawMessage {
	t.Helper()
	l := connect(t, newFront(t, readConfig(t, config), ""))
	l.initialize("2025-11-25", "{}")
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var reply struct {
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(l.reply("1")), &reply); err != nil {
		t.Fatal(err)
	}
	l.close()
	return reply.Result.Tools
}
