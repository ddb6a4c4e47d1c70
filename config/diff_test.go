package config_test

import (
	"reflect"
	"testing"

	"github.com/mcp-workbench/workbench/config"
)

func TestDiff(t *testing.T) {
	const base = `{"toolboxes": {
		"dev": {"description": "Work", "mcpServers": {"git": {"command": "git-mcp", "env": {"A": "1"}}, "web": {"url": "https://a.example/mcp"}}},
		"notes": {"mcpServers": {"files": {"command": "files-mcp", "toolFilters": ["read_*"]}}}}}`
	dev := func(c config.ToolboxChange) *config.Changes {
		c.Name = "dev"
		return &config.Changes{Toolboxes: []config.ToolboxChange{c}}
	}
	tests := []struct {
		name, now string
		want      *config.Changes
		text      string
	}{
		{"the same, written otherwise", `
			// A comment moves the lines.
			{"openTimeout": "10s", "toolboxes": {
			"dev": {"mcpServers": {"git": {"env": {"A": "1"}, "command": "git-mcp", "args": []}, "web": {"url": "https://a.example/mcp", "type": "http"}}, "description": "Work"},
			"notes": {"mcpServers": {"files": {"command": "files-mcp", "toolFilters": ["read_*"], "timeouts": {"start": 30}}}}}}`,
			&config.Changes{}, "nothing"},
		{"settings of the top level", `{"toolMode": "proxy", "openTimeout": "1s", "maxMessage": 2000000, "store": {"path": "/s.db"}, "toolboxes": {
			"dev": {"description": "Work", "mcpServers": {"git": {"command": "git-mcp", "env": {"A": "1"}}, "web": {"url": "https://a.example/mcp"}}},
			"notes": {"mcpServers": {"files": {"command": "files-mcp", "toolFilters": ["read_*"]}}}}}`,
			&config.Changes{Settings: []string{"toolMode", "openTimeout", "maxMessage", "store"}}, "settings toolMode, openTimeout, maxMessage, store"},
		{"a toolbox added and one removed", `{"toolboxes": {
			"new": {"mcpServers": {}},
			"dev": {"description": "Work", "mcpServers": {"git": {"command": "git-mcp", "env": {"A": "1"}}, "web": {"url": "https://a.example/mcp"}}}}}`,
			&config.Changes{Added: []string{"new"}, Removed: []string{"notes"}}, "toolboxes added new; toolboxes removed notes"},
		{"toolboxes reordered", `{"toolboxes": {
			"notes": {"mcpServers": {"files": {"command": "files-mcp", "toolFilters": ["read_*"]}}},
			"dev": {"description": "Work", "mcpServers": {"git": {"command": "git-mcp", "env": {"A": "1"}}, "web": {"url": "https://a.example/mcp"}}}}}`,
			&config.Changes{Reordered: true}, "toolboxes reordered"},
		{"settings of a toolbox", `{"toolboxes": {
			"dev": {"description": "Play", "open": true, "prefix": "none", "mcpServers": {"git": {"command": "git-mcp", "env": {"A": "1"}}, "web": {"url": "https://a.example/mcp"}}},
			"notes": {"mcpServers": {"files": {"command": "files-mcp", "toolFilters": ["read_*"]}}}}}`,
			dev(config.ToolboxChange{Settings: []string{"description", "open", "prefix"}}), "toolbox dev: settings description, open, prefix"},
		{"servers added, removed", `{"toolboxes": {
			"dev": {"description": "Work", "mcpServers": {"web": {"url": "https://a.example/mcp"}, "db": {"command": "db-mcp"}}},
			"notes": {"mcpServers": {"files": {"command": "files-mcp", "toolFilters": ["read_*"]}}}}}`,
			dev(config.ToolboxChange{Added: []string{"db"}, Removed: []string{"git"}}), "toolbox dev: servers added db; toolbox dev: servers removed git"},
		{"servers reordered", `{"toolboxes": {
			"dev": {"description": "Work", "mcpServers": {"web": {"url": "https://a.example/mcp"}, "git": {"command": "git-mcp", "env": {"A": "1"}}}},
			"notes": {"mcpServers": {"files": {"command": "files-mcp", "toolFilters": ["read_*"]}}}}}`,
			dev(config.ToolboxChange{Reordered: true}), "toolbox dev: servers reordered"},
		{"an environment and a header", `{"toolboxes": {
			"dev": {"description": "Work", "mcpServers": {"git": {"command": "git-mcp", "env": {"A": "2"}}, "web": {"url": "https://a.example/mcp", "headers": {"A": "b"}}}},
			"notes": {"mcpServers": {"files": {"command": "files-mcp", "toolFilters": ["read_*"]}}}}}`,
			dev(config.ToolboxChange{Restarted: []string{"git", "web"}}), "toolbox dev: servers restarted git, web"},
		{"switched off, shared", `{"toolboxes": {
			"dev": {"description": "Work", "mcpServers": {"git": {"command": "git-mcp", "env": {"A": "1"}, "disabled": true}, "web": {"url": "https://a.example/mcp", "shared": true}}},
			"notes": {"mcpServers": {"files": {"command": "files-mcp", "toolFilters": ["read_*"]}}}}}`,
			dev(config.ToolboxChange{Restarted: []string{"git", "web"}}), "toolbox dev: servers restarted git, web"},
		{"filters and bounds", `{"toolboxes": {
			"dev": {"description": "Work", "mcpServers": {"git": {"command": "git-mcp", "env": {"A": "1"}, "toolFilters": ["log"]}, "web": {"url": "https://a.example/mcp", "timeouts": {"callIdle": 1}, "idleTimeout": "1h"}}},
			"notes": {"mcpServers": {"files": {"command": "files-mcp", "toolFilters": ["read_*"]}}}}}`,
			dev(config.ToolboxChange{Adjusted: []string{"git", "web"}}), "toolbox dev: servers adjusted git, web"},
		{"a variable that is not set", `{"toolboxes": {
			"dev": {"description": "Work", "mcpServers": {"git": {"command": "git-mcp", "env": {"A": "${NOT_SET}"}}, "web": {"url": "https://a.example/mcp"}}},
			"notes": {"mcpServers": {"files": {"command": "files-mcp", "toolFilters": ["read_*"]}}}}}`,
			dev(config.ToolboxChange{Restarted: []string{"git"}}), "toolbox dev: servers restarted git"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			old, now := mustParse(t, base), mustParse(t, tt.now)
			got := config.Diff(old, now)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v want %+v", got, tt.want)
			}
			if got.String() != tt.text {
				t.Errorf("got text %q want %q", got, tt.text)
			}
			if got, want := got.None(), tt.text == "nothing"; got != want {
				t.Errorf("None: got %v want %v", got, want)
			}
			if same := config.Diff(now, now); !same.None() {
				t.Errorf("a configuration differs from itself: %v", same)
			}
		})
	}
}

// TestDiffSettled covers that every field of Server decides on something: one that is added to the configuration
// restarts servers, unless it is named among those that do not.
func TestDiffSettled(t *testing.T) {
	adjusted := map[string]bool{"ToolFilters": true, "Tools": true, "Timeouts": true, "IdleTimeout": true, "MaxInFlight": true, "Pins": true, "LargeResults": true, "ReadOnly": true, "Approve": true}
	kind := reflect.TypeFor[config.Server]()
	for i := range kind.NumField() {
		field := kind.Field(i)
		if field.Name == "AnyHTTP" { // a server that was reached is reached in the same way
			continue
		}
		if field.Name == "Name" || field.Name == "Problem" || field.Name == "Written" {
			continue
		}
		t.Run(field.Name, func(t *testing.T) {
			old, now := mustParse(t, oneServer), mustParse(t, oneServer)
			v := reflect.ValueOf(&now.Toolboxes[0].Servers[0]).Elem().Field(i)
			if !different(v) {
				t.Fatalf("no other value is known for a %s", v.Type())
			}
			want := config.ToolboxChange{Name: "dev", Restarted: []string{"git"}}
			if adjusted[field.Name] {
				want = config.ToolboxChange{Name: "dev", Adjusted: []string{"git"}}
			}
			if got := config.Diff(old, now).Toolboxes; !reflect.DeepEqual(got, []config.ToolboxChange{want}) {
				t.Errorf("got %+v want %+v", got, want)
			}
		})
	}
}

const oneServer = `{"toolboxes": {"dev": {"mcpServers": {"git": {"command": "git-mcp"}}}}}`

// different gives a value another content.
func different(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		v.SetString("other" + v.String())
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.Zero(v.Type().Key()), reflect.Zero(v.Type().Elem()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		return different(v.Field(0))
	default:
		return false
	}
	return true
}

func mustParse(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("workbench-config.json", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}
