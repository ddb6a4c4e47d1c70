package config_test

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
)

// What entries of other clients have and workbench has not is told by what it means.
func TestFaultU12_EntriesOfOthers(t *testing.T) {
	for entry, want := range map[string]string{
		`{"command": "x", "args": ["${env:HOME}"]}`:        "variables are ${NAME}",
		`{"command": "x", "env": {"TOKEN": "${input:t}"}}`: "variables are ${NAME}",
	} {
		_, err := config.Parse("c.json", []byte(`{"toolboxes": {"a": {"mcpServers": {"s": `+entry+`}}}}`), nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%s: got %v, want %q", entry, err, want)
		}
	}
}
