package servers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// TestSchemasReachModels has real agents give their models tools whose input schemas the interfaces of models refuse, or
// that the agents leave out for that: behind workbench each is offered in a form that is taken, and can be called.
func TestSchemasReachModels(t *testing.T) {
	b := newBed(t)
	schemas := map[string]string{
		"list":  `{"type":"object","properties":{"filter[id]":{"type":"string"},"at<":{"type":"integer"},"marker":{"type":"string"}}}`,
		"pick":  `{"type":"object","properties":{"marker":{"type":"string"}},"oneOf":[{"properties":{"id":{"type":"integer"}},"required":["id"]},{"properties":{"name":{"type":"string"}},"required":["name"]}]}`,
		"range": `{"type":"object","properties":{"marker":{"type":"string"},"of":{"type":"array","items":[{"type":"number","minimum":0,"exclusiveMinimum":true},{"type":"number"}]},"rows":{"type":"array"}}}`,
	}
	var definitions []object
	var names []string
	for _, name := range sortedKeys(schemas) {
		definitions = append(definitions, object{"name": name, "description": "The tool " + name + ".", "inputSchema": json.RawMessage(schemas[name])})
		names = append(names, name)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	b.write(filepath.Join(dir, "tools"), wiretest.JSON(definitions))
	config := filepath.Join(dir, "workbench-config.json")
	b.write(config, wiretest.JSON(object{"openTimeout": "2m", "toolboxes": object{"box": object{"open": true, "mcpServers": object{
		"s": object{"command": self, "env": object{toolsVariable: filepath.Join(dir, "tools")}}}}}}))
	for _, a := range agents() {
		t.Run(a.name, func(t *testing.T) {
			b := &bed{tb: t, mark: b.mark, files: b.files, node: b.node, npm: b.npm}
			log := filepath.Join(t.TempDir(), "log")
			t.Setenv("WORKBENCH_SERVERS_MODEL_LOG", log)
			u := newUser("box", map[string][]string{"s": names})
			b.run(t, a, u, []string{wiretest.Program("workbench"), "serve", "--config", config})
			if u.worked() != len(names) || u.listed != len(names) {
				t.Errorf("%d of %d tools were called, %d by names that the agent offers", u.worked(), len(names), u.listed)
			}
			sent, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			seen := make(map[string]bool)
			for line := range strings.Lines(string(sent)) {
				var request any
				if json.Unmarshal([]byte(line), &request) == nil {
					offers(request, func(name string, schema map[string]any) {
						seen[name] = true
						if fault := refused(schema); fault != "" {
							t.Errorf("%s is offered with %s: %s", name, fault, wiretest.JSON(schema))
						}
					})
				}
			}
			if len(seen) < len(names) {
				t.Errorf("the model was offered %v", sortedKeys(seen))
			}
		})
	}
}

// offers finds the tools of the server in what an agent sends its model.
func offers(v any, found func(name string, schema map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			offers(inner, found)
		}
	case map[string]any:
		name, _ := v["name"].(string)
		for _, key := range []string{"input_schema", "parameters"} {
			if schema, ok := v[key].(map[string]any); ok && regexp.MustCompile(`(^|_)(list|pick|range)$`).MatchString(name) {
				found(name, schema)
			}
		}
		for _, inner := range v {
			offers(inner, found)
		}
	}
}

// refused says what the interfaces of models refuse in the schema of a tool.
func refused(schema map[string]any) string {
	for _, word := range []string{"oneOf", "anyOf", "allOf"} {
		if schema[word] != nil {
			return word + " at its top"
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		if !regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`).MatchString(name) {
			return "the name " + name
		}
	}
	text := wiretest.JSON(schema)
	if strings.Contains(text, `"items":[`) || strings.Contains(text, `"exclusiveMinimum":true`) || properties["rows"] != nil && !strings.Contains(wiretest.JSON(properties["rows"]), `"items"`) {
		return "what is not of JSON Schema 2020-12"
	}
	return ""
}
