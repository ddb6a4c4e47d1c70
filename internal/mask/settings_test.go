package mask_test

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/mask"
)

// Of a configuration everything is shown but what may be a secret, and each line stays where it is.
func TestSettings(t *testing.T) {
	for name, tc := range map[string]struct{ file, text string }{
		"JSON": {"c.json", `{"toolboxes": {"box": {"description": "kept", "mcpServers": {"a": {"command": "kept",
			"args": ["kept", "--api-key", "canary", "--token=canary", "kept"], "env": {"A": "canary \" canary", "B": "${KEPT}"}},
			"ü ü ü ü": {"url": "https://canary@host/", "headers": {"Ü": "canary", "X": "canary"}}, "c": {"url": "https://host/?k=canary", "auth": {"clientSecret": "canary"}}}}},
			"store": {"dsn": "postgres://canary"}}`},
		"YAML": {"c.yaml", `
toolboxes:
  box:
    description: kept
    mcpServers:
      a:
        command: kept
        args: [kept, --password, canary, kept]
        env:
          A: canary # canary
          B: |
            canary
            canary
          C: 'canary''canary'
          D: ${KEPT}
      b: {url: "https://kept/", headers: {X: canary, Y: "canary"}}
store: {dsn: canary}
`},
		"TOML": {"c.toml", `
[mcp_servers.a]
command = "kept"
args = ["kept", "--token", "canary", "kept=kept"]
env = { A = "canary", B = 'canary' } # kept

[mcp_servers.a.http_headers]
"Ü-X" = "canary"
[mcp_servers.b]
bearer_token = "canary" # kept
url = "https://kept/"
[c.env]
A = """canary"
canary"""
B = '''
canary'canary'''
`},
		"what cannot be read": {"c.json", `{"env": "canary`},
	} {
		t.Run(name, func(t *testing.T) {
			got := mask.Settings(tc.file, []byte(tc.text))
			if strings.Contains(got, "canary") {
				t.Errorf("a secret is shown:\n%s", got)
			}
			if want := strings.Count(strings.ToLower(tc.text), "kept"); strings.Count(strings.ToLower(got), "kept") != want {
				t.Errorf("got less than what is no secret, want %d times kept:\n%s", want, got)
			}
			if got != "" && strings.Count(got, "\n") != strings.Count(tc.text, "\n") {
				t.Errorf("got other lines:\n%s", got)
			}
		})
	}
}
