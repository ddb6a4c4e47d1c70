package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// executeCommand is the one tool that takes all commands where there are too many for a tool each.
const executeCommand = "execute_command"

// slash stands for the slash of a qualified name, which names of tools cannot have.
const slash = "__"

// offer gives the tools of the place where the session stands, and the commands by the names of their tools; there are
// none where one tool takes all.
func (t *run) offer() ([]model.Tool, map[string]string) {
	list := []model.Tool{{Name: askUser, Description: "Ask the user one question, and wait for the answer.",
		Schema: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string"},"options":{"type":"array","items":{"type":"string"},"description":"the answers to choose from, if there are few"}},"required":["question"]}`)}}
	entries := t.w.Describe(t.path).Commands
	if len(entries) > maxTools {
		return append(list, model.Tool{Name: executeCommand, Description: "Run one of the listed commands, written like its examples: its name, and each parameter as <name>value</name>.",
			Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)}), nil
	}
	names := newNames(askUser, executeCommand)
	for _, entry := range entries {
		switch entry.Name {
		case command.Abort, command.WhatCanIDo, command.CurrentContext:
			continue // of no use to who has the tools and is told the place
		}
		c := t.w.Command(entry.Name)
		list = append(list, model.Tool{Name: names.add(entry.Name), Description: describe(entry), Schema: withRequired(c.Schema, entry.Parameters)})
	}
	return list, names.of
}

// names are those of tools, each once.
type names struct{ of map[string]string }

// newNames keeps names that are taken out of the way.
func newNames(taken ...string) names {
	n := names{map[string]string{}}
	for _, name := range taken {
		n.of[name] = name
	}
	return n
}

// maxName is how long the name of a tool may be.
const maxName = 64

// add gives a tool its name.
func (n names) add(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, strings.ReplaceAll(name, "/", slash))
	safe = safe[:min(len(safe), maxName)]
	unique := safe
	for i := 2; n.of[unique] != ""; i++ {
		end := fmt.Sprintf("_%d", i)
		unique = safe[:min(len(safe), maxName-len(end))] + end
	}
	n.of[unique] = name
	return unique
}

// describe words a command for the model.
func describe(entry command.ListedEntry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s", entry.Name, entry.Effect, entry.Description)
	for _, p := range entry.Parameters {
		if len(p.AvailableFrom) > 0 {
			fmt.Fprintf(&b, "\n%s is told by %s.", p.Name, strings.Join(p.AvailableFrom, ", "))
		}
	}
	return b.String()
}

// withRequired gives the schema of a command with those parameters required that are needed: what the place knows need
// not be given.
func withRequired(schema json.RawMessage, params []command.ListedParam) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &members) != nil {
		return schema
	}
	required := []string{}
	for _, p := range params {
		if p.Required {
			required = append(required, p.Name)
		}
	}
	delete(members, "required")
	if len(required) > 0 {
		members["required"], _ = json.Marshal(required)
	}
	b, _ := json.Marshal(members) // read from JSON, and so written
	return b
}
