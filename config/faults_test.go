package config_test

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
)

// What entries of other clients have and workbench has not is told by what it means.
func TestFaultU12_EntriesOfOthers(t *testing.T) {
	for entry, want := range map[string]string{
		`{"command": "x", "args": ["${env:HOME}"]}`:            "write ${HOME}",
		`{"command": "x", "env": {"TOKEN": "${input:t}"}}`:     "write ${secret:t}",
		`{"command": "x", "args": ["${env:a secret}"]}`:        "write ${NAME}",
		`{"command": "x", "args": ["${config:a.b}"]}`:          "no editor here",
		`{"command": "x", "args": ["${file:key.txt}"]}`:        "secret set",
		`{"command": "x", "args": ["${userHome}/a"]}`:          "write ${HOME}",
		`{"command": "x", "args": ["${__dirname}/a.js"]}`:      "workbench add FILE.mcpb",
		`{"command": "x", "args": ["${workspaceFolder}"]}`:     "the path of the folder",
		`{"command": "x", "args": ["${user_config.api_key}"]}`: "write ${secret:NAME}",
		`{"command": "x", "args": ["${PORT:?no port}"]}`:       "write ${PORT} or ${PORT:-default}",
	} {
		cfg, err := config.Parse("c.json", []byte(`{"toolboxes": {"a": {"mcpServers": {"s": `+entry+`}}}}`), nil)
		if cfg != nil && err == nil {
			err = cfg.Toolboxes[0].Servers[0].Problem
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%s: got %v, want %q", entry, err, want)
		}
	}
}
