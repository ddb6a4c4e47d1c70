package config_test

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
)

// What a person is to agree to is shown whatever names the file has chosen: those of secrets, variables and tools may be
// the same as those of the keys whose values are secret, which alone are not shown.
func TestReview(t *testing.T) {
	src := config.Source{Path: "workbench-config.json", Data: []byte(`{
		"secrets": {"apiKey": {"command": ["sh", "-c", "shown 1"]}, "headers": {"command": ["shown 2"]}},
		"models": {"baseUrl": "https://shown.3", "apiKey": "hidden 1"},
		"toolboxes": {"headers": {"pins": "off", "mcpServers": {
			"privateKey": {"command": "shown 4", "args": ["shown 5"],
				"env": {"apiKey": "shown 6", "clientSecret": "shown 7", "privateKey": "shown 8", "headers": "shown 9"},
				"tools": {"headers": {"describe": "shown a", "defaults": {"apiKey": "shown b", "x": [{"privateKey": "shown c"}]}}},
				"approve": {"clientSecret": "never"}},
			"remote": {"url": "https://shown.d", "headers": {"A": "hidden 2", "B": "shown ${E}"},
				"oauth": {"clientId": "shown f", "clientSecret": "hidden 3", "privateKey": "hidden 4",
					"identityProvider": {"issuer": "https://shown.g", "clientId": "shown h", "clientSecret": "hidden 5"}}}}}}}`)}
	lines, err := src.Review()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(lines, "\n")
	for _, shown := range strings.Fields("1 2 .3 4 5 6 7 8 9 a b c .d ${E} f .g h") {
		if want := "shown " + shown; !strings.Contains(text, strings.Replace(want, " .", ".", 1)) {
			t.Errorf("%q is not shown", want)
		}
	}
	if strings.Contains(text, "hidden") || !strings.Contains(text, `"clientSecret": "never"`) {
		t.Error("a secret is shown, or for which tools nobody is asked is not")
	}
	if t.Failed() {
		t.Log(text)
	}
}
