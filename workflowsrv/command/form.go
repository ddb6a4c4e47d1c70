package command

import (
	"encoding/json"
	"fmt"
	"slices"
)

// form is a JSON Schema of the named parameters, as flat as elicitation wants
// it (MCP 2025-06-18, "Elicitation"): texts, numbers, truth values and enums.
// Anything else is asked for as text, which is read as JSON.
func (c *Command) form(names []string) json.RawMessage {
	properties := map[string]any{}
	for _, name := range names {
		p := c.Param(name)
		if p == nil {
			continue
		}
		field := map[string]any{"type": "string", "title": spaced(name)}
		if p.Description != "" {
			field["description"] = p.Description
		}
		if enum := enumTexts(p.schema); len(enum) > 0 {
			field["enum"] = enum
		} else if len(p.Types) == 1 && slices.Contains([]string{"integer", "number", "boolean"}, p.Types[0]) {
			field["type"] = p.Types[0]
		} else if part, ok := p.schema.(map[string]any); ok && slices.Contains([]any{"email", "uri", "date", "date-time"}, part["format"]) {
			field["format"] = part["format"]
		}
		properties[name] = field
	}
	return formOf(properties, names)
}

func confirmForm() json.RawMessage {
	return formOf(map[string]any{"confirm": map[string]any{"type": "boolean", "title": "Run it"}}, []string{"confirm"})
}

func choiceForm(commands []string) json.RawMessage {
	return formOf(map[string]any{"command": map[string]any{"type": "string", "title": "Command", "enum": append(slices.Clone(commands), "none")}}, []string{"command"})
}

func formOf(properties map[string]any, required []string) json.RawMessage {
	b, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
	if err != nil {
		panic(fmt.Sprintf("a form of plain values: %v", err))
	}
	return b
}
