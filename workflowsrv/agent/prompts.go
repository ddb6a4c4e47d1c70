package agent

import (
	"embed"
	"strings"
)

//go:embed prompts
var prompts embed.FS

// prompt reads the instructions for a role.
func prompt(name string) string {
	text, err := prompts.ReadFile("prompts/" + name + ".md")
	if err != nil {
		panic("an embedded prompt is missing: " + err.Error())
	}
	return strings.TrimSpace(string(text))
}
