package config_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
)

// TestShipped checks that the file at the root is a good start: plain JSON that the schema it names finds right, usable
// as it is in an empty environment, with a server of each transport.
func TestShipped(t *testing.T) {
	const path = "../workbench-config.json"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var plain struct {
		Schema string `json:"$schema"`
	}
	if err := json.Unmarshal(data, &plain); err != nil {
		t.Fatalf("got %v, want JSON without comments, which any editor reads", err)
	}
	schema, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(plain.Schema)))
	if err != nil || string(schema) != string(config.Schema()) {
		t.Errorf("$schema %q: got error %v, want the path of the schema", plain.Schema, err)
	}
	if err := validate(compile(t), data); err != nil {
		t.Error(err)
	}
	cfg, err := load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if problems := cfg.Problems(); len(problems) > 0 {
		t.Errorf("got problems %v, want none without any variable", problems)
	}
	shown := map[config.Transport]bool{}
	for _, box := range cfg.Toolboxes {
		for _, s := range box.Servers {
			shown[s.Transport] = true
		}
	}
	want := []config.Transport{config.TransportBuiltin, config.TransportHTTP, config.TransportSSE, config.TransportStdio}
	if got := slices.Sorted(maps.Keys(shown)); !slices.Equal(got, want) {
		t.Errorf("got transports %q, want %q", got, want)
	}
}

// TestDocument checks docs/configuration.md: its examples are read, its error is what its file gives, and it names
// every key.
func TestDocument(t *testing.T) {
	data, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	document := string(data)
	blocks := regexp.MustCompile("(?s)```(json|yaml)\n(.*?)```").FindAllStringSubmatch(document, -1)
	if len(blocks) < 3 {
		t.Fatalf("got %d examples, want at least 3", len(blocks))
	}
	var encoded []string
	for _, block := range blocks {
		cfg, err := config.Parse("/etc/wb/example."+block[1], []byte(block[2]), func(name string) (string, bool) { return "/" + name, true })
		if err != nil {
			t.Errorf("got %v, want an example that is read:\n%s", err, block[2])
			continue
		}
		encoded = append(encoded, string(encode(t, cfg)))
	}
	if first, last := encoded[0], encoded[len(encoded)-1]; first != last {
		t.Errorf("got the first example\n%s\nand the last\n%s\nwant them to say the same", first, last)
	}

	_, err = config.Parse("workbench-config.json", []byte(`{
  "toolMode": "atuo",
  "toolboxes": {
    "code": {"description": "Repositories and reviews", "mcpServers": {
      "git": {"comand": "git-mcp"}
    }}
  }
}`), nil)
	if got := errorText(err) + "\n"; !strings.Contains(document, "```text\n"+got+"```") {
		t.Errorf("got the error\n%swant it to be in the document", got)
	}

	keys := regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\|").FindAllStringSubmatch(document, -1)
	var named []string
	for _, key := range keys {
		named = append(named, key[1])
	}
	var schema map[string]any
	if err := json.Unmarshal(config.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(maps.Keys(properties(schema)))
	slices.Sort(named)
	named = slices.Compact(named) // two objects may have a key of one name
	if !slices.Equal(named, want) {
		t.Errorf("got tables of the keys %q, want %q", named, want)
	}
}

// properties returns the keys that are properties anywhere in a schema.
func properties(schema map[string]any) map[string]bool {
	found := map[string]bool{}
	for key, value := range schema {
		if alternatives, ok := value.([]any); ok {
			for _, alternative := range alternatives {
				if inner, ok := alternative.(map[string]any); ok {
					maps.Copy(found, properties(inner))
				}
			}
			continue
		}
		inner, ok := value.(map[string]any)
		if !ok {
			continue
		}
		if key == "properties" {
			for name := range inner {
				found[name] = true
			}
		}
		maps.Copy(found, properties(inner))
	}
	return found
}
