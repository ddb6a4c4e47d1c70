package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// A Problem says why a command could not be run, so that a program can act on it.
type Problem struct {
	Missing []string  `json:"missing,omitempty"` // required parameters without a value
	Invalid []Invalid `json:"invalid,omitempty"`
	// Suggestions are values that could be meant, by parameter. Under "command" where the command itself is in doubt.
	Suggestions map[string][]string `json:"suggestions,omitempty"`
	// AvailableFrom are commands that tell the value, by parameter, or lead to the context that is missing, under
	// "context".
	AvailableFrom map[string][]string `json:"available_from,omitempty"`

	choices map[string][]string // all the values there are, by parameter, where a lookup told them
}

// Invalid is a value that a parameter cannot have.
type Invalid struct {
	Name   string          `json:"name"`
	Value  json.RawMessage `json:"value"`
	Reason string          `json:"reason"`
}

func (p *Problem) invalid(name string, value json.RawMessage, reason string) {
	p.Invalid = append(p.Invalid, Invalid{Name: name, Value: value, Reason: reason})
}

// about reports whether a parameter has a value that it cannot have.
func (p *Problem) about(name string) bool {
	return slices.ContainsFunc(p.Invalid, func(i Invalid) bool { return i.Name == name })
}

// set adds a member to a map that may not be there yet.
func set[V any](m *map[string]V, name string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[name] = v
}

// maxSuggestions is how many values are suggested for a parameter.
const maxSuggestions = 10

// near gives the likest of values, or the first ones where none is like it.
func near(text string, values []string) []string {
	if found := nearest.Names(text, values, 3); len(found) > 0 {
		return found
	}
	return values[:min(len(values), maxSuggestions)]
}

// offer notes all the values that a parameter can have.
func (p *Problem) offer(name string, values []string) {
	set(&p.choices, name, values)
}

func (p *Problem) suggest(name string, values []string) {
	if len(values) > 0 {
		set(&p.Suggestions, name, values)
	}
}

// sources notes where values that are missing or wrong can be had.
func (p *Problem) sources(c *Command) {
	note := func(name string) {
		param := c.Param(name)
		if param == nil {
			return
		}
		if len(param.AvailableFrom) > 0 {
			set(&p.AvailableFrom, name, param.AvailableFrom)
		}
		if _, known := p.Suggestions[name]; !known {
			p.suggest(name, near("", enumTexts(param.schema)))
		}
	}
	for _, name := range p.Missing {
		note(name)
	}
	for _, bad := range p.Invalid {
		note(bad.Name)
	}
}

func (p *Problem) empty() bool { return len(p.Missing) == 0 && len(p.Invalid) == 0 }

// words explains the problem to whoever called the command.
func (p *Problem) words(c *Command) string {
	var lines []string
	for _, name := range p.Missing {
		line := fmt.Sprintf("%s is missing", name)
		if param := c.Param(name); param != nil && param.Description != "" {
			line += " (" + strings.TrimSuffix(param.Description, ".") + ")"
		}
		lines = append(lines, line+p.hints(name, "one of")+".")
	}
	for _, bad := range p.Invalid {
		line := fmt.Sprintf("%s %s, got %s", bad.Name, bad.Reason, cut.After(string(bad.Value), 60))
		line = strings.TrimSpace(line) + p.hints(bad.Name, "did you mean")
		if !strings.HasSuffix(line, "?") {
			line += "."
		}
		lines = append(lines, line)
	}
	return fmt.Sprintf("%s was not run. %s", c.Name, strings.Join(lines, " "))
}

func (p *Problem) hints(name, lead string) string {
	var text string
	if values := p.Suggestions[name]; len(values) > 0 {
		text = "; " + lead + " " + strings.Join(values, ", ")
	}
	if from := p.AvailableFrom[name]; len(from) > 0 {
		return text + "; " + strings.Join(from, " or ") + " tells it"
	}
	if lead == "did you mean" && text != "" {
		text += "?"
	}
	return strings.TrimSuffix(text, ".")
}

// artifacts give the members of a problem, for answers that have no other place for them.
func (p *Problem) artifacts() map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if b, err := json.Marshal(p); err == nil {
		_ = json.Unmarshal(b, &m)
	}
	return m
}
