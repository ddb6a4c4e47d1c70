package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// The core commands, which every workflow has at every place.
const (
	WhatCanIDo     = "what_can_i_do"
	CurrentContext = "what_is_current_context"
	GoUp           = "go_up"
	ResetContext   = "reset_context"
	Abort          = "abort"
)

func coreNames() []string { return []string{WhatCanIDo, CurrentContext, GoUp, ResetContext, Abort} }

func coreCommands() []*Command {
	list := []*Command{
		{Name: WhatCanIDo, Effect: Read, Description: "List the commands that can be used here",
			Utterances: []string{"help", "what can I do here", "show me the commands", "what are my options"}},
		{Name: CurrentContext, Effect: Read, Description: "Say where the session is",
			Utterances: []string{"where am I", "what is the current context", "what am I looking at"}},
		{Name: GoUp, Effect: Navigate, Description: "Go to the place around this one",
			Utterances: []string{"go back", "go up", "one level up"}},
		{Name: ResetContext, Effect: Navigate, Description: "Go back to the top",
			Utterances: []string{"start over", "go to the top", "reset the context"}},
		{Name: Abort, Effect: Navigate, Description: "Drop the open question",
			Utterances: []string{"cancel that", "never mind", "forget it"}},
	}
	for _, c := range list {
		c.Leaf, c.core = c.Name, true
		c.Schema = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
		c.index()
	}
	return list
}

// artifacts encodes values by name.
func artifacts(pairs ...any) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		if b, err := json.Marshal(pairs[i+1]); err == nil {
			m[pairs[i].(string)] = b
		}
	}
	return m
}

// A Listing is what can be done at a place, as get_commands returns it.
type Listing struct {
	DisplayText string        `json:"display_text"`
	Commands    []ListedEntry `json:"commands"`
}

// ListedEntry is a command in a [Listing].
type ListedEntry struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Effect      Effect        `json:"effect"`
	Parameters  []ListedParam `json:"parameters"`
	// InputSchema is the JSON Schema of the parameters together. What the place knows is not required.
	InputSchema json.RawMessage `json:"input_schema"`
	// Confirm says that the user is asked before, however it is called.
	Confirm bool `json:"confirm,omitempty"`
	// Examples are command strings, and Utterances things people say.
	Examples   []string `json:"examples"`
	Utterances []string `json:"utterances,omitempty"`
}

// ListedParam is a parameter in a [Listing].
type ListedParam struct {
	Name          string            `json:"name"`
	Type          string            `json:"type"`
	Required      bool              `json:"required"`
	Description   string            `json:"description"`
	Choices       []string          `json:"choices,omitempty"` // the texts that it can be
	Default       json.RawMessage   `json:"default,omitempty"`
	Examples      []json.RawMessage `json:"examples,omitempty"`
	AvailableFrom []string          `json:"available_from,omitempty"`
}

// Describe lists the commands that are there where a path ends.
func (w *Workflow) Describe(p Path) Listing {
	l := Listing{Commands: []ListedEntry{}}
	var b strings.Builder
	fmt.Fprintf(&b, "Commands at %s:", w.Title(p))
	for _, v := range w.visibleAt(p) {
		entry := v.command.listed(p[:v.depth])
		l.Commands = append(l.Commands, entry)
		fmt.Fprintf(&b, "\n- %s: %s", entry.Examples[0], summary(entry.Description))
		if len(v.command.Utterances) > 0 {
			fmt.Fprintf(&b, " (for example %q)", v.command.Utterances[0])
		}
	}
	l.DisplayText = b.String()
	return l
}

// listed shows the command at a place, which may have some of its values.
func (c *Command) listed(at Path) ListedEntry {
	entry := ListedEntry{Name: c.Name, Description: c.Description, Effect: c.Effect, Confirm: c.Confirm, Parameters: []ListedParam{}, Utterances: c.Utterances}
	example := c.Name
	needed, fewer := []string{}, false
	for _, p := range c.Params {
		required := p.needed(at)
		kind := cmp.Or(strings.Join(p.Types, " or "), "any")
		entry.Parameters = append(entry.Parameters, ListedParam{Name: p.Name, Type: kind, Required: required, Description: p.Description,
			Choices: enumTexts(p.schema), Default: p.fallback(), Examples: p.Examples, AvailableFrom: p.AvailableFrom})
		if required {
			needed = append(needed, p.Name)
			example += " <" + p.Name + ">" + escape(p.sample()) + "</" + p.Name + ">"
		}
		fewer = fewer || p.Required && !required
	}
	entry.InputSchema = c.Schema
	if fewer {
		entry.InputSchema = requiring(c.Schema, needed)
	}
	entry.Examples = []string{example}
	return entry
}

// fallback is the value that stands in for an absent one, be it of our giving or the tool's; nil is none.
func (p *Param) fallback() json.RawMessage {
	part, _ := p.schema.(map[string]any)
	v, ok := part["default"]
	if p.Default != nil || !ok {
		return p.Default
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return raw
}

// requiring gives a schema with other members required.
func requiring(schema json.RawMessage, names []string) json.RawMessage {
	var at [1]wire.Span
	list, err := json.Marshal(names)
	if err != nil || wire.Find(schema, wire.Whole(schema), []string{"required"}, at[:]) != nil || !at[0].Present() {
		return schema
	}
	return wire.Splice(nil, schema, wire.Edit{Span: at[0], New: list})
}

// sample is a value that shows what the parameter takes.
func (p *Param) sample() string {
	if len(p.Examples) > 0 {
		return plain(p.Examples[0])
	}
	if enum := enumTexts(p.schema); len(enum) > 0 {
		return enum[0]
	}
	for _, kind := range p.Types {
		switch kind {
		case "integer", "number":
			return "1"
		case "boolean":
			return "true"
		case "array":
			return "[]"
		case "object":
			return "{}"
		}
	}
	return "…"
}

// escape writes a value so that [Parse] reads it back.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(s)
}

// Format writes an action as a command string that [Engine.Execute] reads back. A parameter whose name cannot be a tag
// is left out.
func (w *Workflow) Format(a Action) string {
	var b strings.Builder
	b.WriteString(a.CommandName)
	args := arguments{}
	_ = json.Unmarshal(a.Arguments, &args)
	c := w.commands[a.CommandName]
	if c == nil {
		return b.String()
	}
	for _, p := range c.Params {
		v, ok := args[p.Name]
		if !ok || strings.ContainsAny(p.Name, "<>") {
			continue
		}
		text := escape(plain(v))
		if text != strings.Trim(text, space) {
			text = strings.NewReplacer(" ", "&#32;", "\t", "&#9;", "\n", "&#10;", "\r", "&#13;").Replace(text)
		}
		fmt.Fprintf(&b, " <%s>%s</%s>", p.Name, text, p.Name)
	}
	return b.String()
}

// Info is what a workflow says of itself, as get_workflow_info returns it.
type Info struct {
	WorkflowName      string   `json:"workflow_name"`
	Description       string   `json:"description"`
	Purpose           string   `json:"purpose"`
	AvailableContexts []string `json:"available_contexts"`
}

// Info describes the workflow.
func (w *Workflow) Info() Info {
	info := Info{w.Name, w.Description, w.Purpose, []string{}}
	for _, c := range w.Contexts {
		info.AvailableContexts = append(info.AvailableContexts, c.Name)
	}
	return info
}
