package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tailscale/hujson"

	"github.com/mcp-workbench/workbench/config"
)

// TestSchemaFile compares the committed schema with the one made from the types.
func TestSchemaFile(t *testing.T) {
	const path = "workbench-config.schema.json"
	if *update {
		if err := os.WriteFile(path, config.Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, config.Schema()) {
		t.Errorf("%s is not what the types give: run go test ./config -run TestSchemaFile -update", path)
	}
}

// TestSchemaKeys compares the properties of every object of the schema with the keys that Parse knows there, as its
// hint at an unknown key lists them.
func TestSchemaKeys(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(config.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	defs := schema["$defs"].(map[string]any)
	server := defs["server"].(map[string]any)
	for _, tt := range []struct {
		name   string
		object any
		file   string
	}{
		{"top", schema, `{"qqqqqqqq": 1}`},
		{"toolbox", defs["toolbox"], `{"toolboxes": {"t": {"qqqqqqqq": 1, "mcpServers": {}}}}`},
		{"store", schema["properties"].(map[string]any)["store"], `{"store": {"qqqqqqqq": 1}}`},
		{"models", schema["properties"].(map[string]any)["models"], `{"models": {"baseUrl": "https://h/v1", "default": "m", "qqqqqqqq": 1}}`},
		{"server", server, `{"toolboxes": {"t": {"mcpServers": {"s": {"command": "x", "qqqqqqqq": 1}}}}}`},
		{"oauth", server["properties"].(map[string]any)["oauth"],
			`{"toolboxes": {"t": {"mcpServers": {"s": {"url": "http://h", "oauth": {"qqqqqqqq": 1}}}}}}`},
		{"assertion", server["properties"].(map[string]any)["oauth"].(map[string]any)["properties"].(map[string]any)["assertion"],
			`{"toolboxes": {"t": {"mcpServers": {"s": {"url": "http://h", "oauth": {"grant": "jwt_bearer", "assertion": {"file": "x", "qqqqqqqq": 1}}}}}}}`},
		{"identityProvider", server["properties"].(map[string]any)["oauth"].(map[string]any)["properties"].(map[string]any)["identityProvider"],
			`{"toolboxes": {"t": {"mcpServers": {"s": {"url": "http://h", "oauth": {"grant": "jwt_bearer", "identityProvider": {
				"issuer": "http://h", "clientId": "c", "idToken": {"file": "x"}, "qqqqqqqq": 1}}}}}}}`},
		{"timeouts", server["properties"].(map[string]any)["timeouts"],
			`{"toolboxes": {"t": {"mcpServers": {"s": {"command": "x", "timeouts": {"qqqqqqqq": 1}}}}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := config.Parse("c.json", []byte(tt.file), nil)
			var faults *config.Error
			if !errors.As(err, &faults) || len(faults.Faults) != 1 {
				t.Fatalf("got error %v, want one fault", err)
			}
			known := strings.Split(strings.TrimPrefix(faults.Faults[0].Hint, "known are "), ", ")
			slices.Sort(known)
			properties := tt.object.(map[string]any)["properties"].(map[string]any)
			if got := slices.Sorted(maps.Keys(properties)); !slices.Equal(got, known) {
				t.Errorf("got properties %q, want %q", got, known)
			}
			for key, property := range properties {
				if text, _ := property.(map[string]any)["description"].(string); text == "" {
					t.Errorf("property %s: got no description", key)
				}
			}
		})
	}
}

// TestSchemaAccepts checks that what Parse accepts is right by the schema.
func TestSchemaAccepts(t *testing.T) {
	schema := compile(t)
	paths, err := filepath.Glob("testdata/accepted/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if f := archive.Files[0]; strings.HasSuffix(f.Name, ".json") {
			if err := validate(schema, f.Data); err != nil {
				t.Errorf("%s: got %v, want it to be right", path, err)
			}
		}
	}
}

// TestSchemaRefuses checks that the schema sees the faults that an editor should show.
func TestSchemaRefuses(t *testing.T) {
	schema := compile(t)
	const server = `{"toolboxes": {"t": {"mcpServers": {"s": %s}}}}`
	for _, tt := range []struct{ name, file string }{
		{"unknown key", `{"toolboxs": {}}`},
		{"servers at the top", `{"mcpServers": {}}`},
		{"no servers", `{"toolboxes": {"t": {}}}`},
		{"wrong choice", `{"toolMode": "fast"}`},
		{"negative duration", `{"openTimeout": -1}`},
		{"unreadable duration", `{"openTimeout": "soon"}`},
		{"two stores", `{"store": {"path": "a", "dsn": "b"}}`},
		{"empty name", `{"toolboxes": {"": {"mcpServers": {}}}}`},
		{"slash in a name", `{"toolboxes": {"a/b": {"mcpServers": {}}}}`},
		{"unknown key of a server", fmt.Sprintf(server, `{"command": "x", "evn": {}}`)},
		{"neither command nor url nor builtin", fmt.Sprintf(server, `{}`)},
		{"two of them", fmt.Sprintf(server, `{"command": "x", "url": "http://h"}`)},
		{"number in env", fmt.Sprintf(server, `{"command": "x", "env": {"PORT": 8080}}`)},
		{"unknown transport", fmt.Sprintf(server, `{"url": "http://h", "transport": "remote"}`)},
		{"unknown timeout", fmt.Sprintf(server, `{"url": "http://h", "timeouts": {"stat": 1}}`)},
		{"inheritEnv", fmt.Sprintf(server, `{"command": "x", "inheritEnv": "HOME"}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := validate(schema, []byte(tt.file)); err == nil {
				t.Error("got no error from the schema, want one")
			}
			if _, err := config.Parse("c.json", []byte(tt.file), nil); err == nil {
				t.Error("got no error from Parse, want one")
			}
		})
	}
}

func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(schema *jsonschema.Schema, file []byte) error {
	standard, err := hujson.Standardize(slices.Clone(file))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(standard))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}
