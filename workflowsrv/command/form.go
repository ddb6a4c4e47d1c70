package command

import (
	"encoding/json"
	"fmt"
	"slices"
)

// form is a JSON Schema of a parameter, as flat as elicitation wants it (MCP 2025-06-18, "Elicitation"): a text, a
// number, a truth value or an enum. Anything else is asked for as text, which is read as JSON. choices are all its
// values, as far as they are known.
func (c *Command) form(name string, choices []string) json.RawMessage {
	p := c.Param(name)
	field := map[string]any{"type": "string", "title": spaced(name)}
	if p.Description != "" {
		field["description"] = p.Description
	}
	enum := enumTexts(p.schema)
	if len(enum) == 0 && len(choices) <= maxChoices {
		enum = choices
	}
	if len(enum) > 0 {
		field["enum"] = enum
	} else if len(p.Types) == 1 && slices.Contains([]string{"integer", "number", "boolean"}, p.Types[0]) {
		field["type"] = p.Types[0]
	} else if part, ok := p.schema.(map[string]any); ok && slices.Contains([]any{"email", "uri", "date", "date-time"}, part["format"]) {
		field["format"] = part["format"]
	}
	return formOf(map[string]any{name: field}, []string{name})
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

// maxChoices is how many choices a question names.
const maxChoices = 20
