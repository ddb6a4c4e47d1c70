package definition_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// TestDocs makes sure that the manual names every key of the schema, and that the workflow it shows is one.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	var schema any
	if err := json.Unmarshal(definition.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	keys := propertyNames(schema, nil)
	if len(keys) < 100 {
		t.Errorf("got %d keys in the schema, want all of them", len(keys))
	}
	for _, key := range keys {
		if !strings.Contains(text, "`"+key+"`") {
			if key != "kind" && key != "when" { // stand within the examples of their parts
				t.Errorf("docs/workflows.md does not name the key %q", key)
			}
		}
	}
	parsed := 0
	for _, block := range strings.Split(text, "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if !strings.HasPrefix(block, "id:") {
			continue
		}
		w, err := definition.Parse("docs.yaml", []byte(block))
		if err != nil || len(w.Warnings) > 0 {
			t.Errorf("the workflow in docs/workflows.md: got %v, want neither faults nor warnings", err)
		}
		parsed++
	}
	if parsed == 0 {
		t.Error("got no workflow in docs/workflows.md, want at least one")
	}
}

// propertyNames lists the keys that objects have in a schema, each once.
func propertyNames(schema any, list []string) []string {
	switch s := schema.(type) {
	case []any:
		for _, item := range s {
			list = propertyNames(item, list)
		}
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		for name := range properties {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
		for _, value := range s {
			list = propertyNames(value, list)
		}
	}
	return list
}
