package config_test

import (
	"testing"

	"github.com/mcp-workbench/workbench/config"
)

func TestParsePlain(t *testing.T) {
	c, err := config.Parse("c.json", []byte(`{"toolboxes": {"dev": {"description": "d", "mcpServers": {
		"git": {"command": "git-mcp", "args": ["a"], "timeouts": {"start": "3s"}}, "far": {"url": "https://example.com/mcp"}, "w": {"builtin": "workflow"}}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	box, ok := c.Toolbox("dev")
	if !ok || len(box.Servers) != 3 {
		t.Fatalf("got %+v, want toolbox dev with three servers", c)
	}
	for i, want := range []config.Transport{config.TransportStdio, config.TransportHTTP, config.TransportBuiltin} {
		if got := box.Servers[i].Transport; got != want {
			t.Errorf("server %d: got transport %s, want %s", i, got, want)
		}
	}
}
