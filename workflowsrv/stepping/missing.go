package stepping

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

// A missingList gathers variables in the order in which they are met.
type missingList struct{ list []Missing }

func (l *missingList) any() bool { return len(l.list) > 0 }

// addTests notes the tests that keep the step from being chosen.
func (l *missingList) addTests(stepID string, tests []criteria.VarTest) {
	for _, t := range tests {
		op := t.Op
		if op == "" {
			op = "truthy"
		}
		l.add(stepID, t.Name, Test{Operator: op, Value: t.Value})
	}
}

// addType notes a variable of which the step needs a type.
func (l *missingList) addType(stepID, name, want string) {
	l.add(stepID, name, Test{Operator: "type", Value: want})
}

func (l *missingList) add(stepID, name string, t Test) {
	i := slices.IndexFunc(l.list, func(m Missing) bool { return m.Variable == name })
	if i < 0 {
		i = len(l.list)
		l.list = append(l.list, Missing{Variable: name})
	}
	m := &l.list[i]
	if !slices.ContainsFunc(m.Tests, func(have Test) bool { return reflect.DeepEqual(have, t) }) {
		m.Tests = append(m.Tests, t)
	}
	if !slices.Contains(m.Steps, stepID) {
		m.Steps = append(m.Steps, stepID)
	}
}

// prompt asks the agent for the variables.
func (l *missingList) prompt() string {
	var b strings.Builder
	b.WriteString("No eligible step due to unmet conditions. Please update context:")
	for _, m := range l.list {
		b.WriteString("\n- " + m.sentence())
	}
	b.WriteString("\nA variable that does not apply still needs a value: any other one, such as false or \"none\". " +
		"Then call workflow_next again.")
	return b.String()
}

func (m Missing) sentence() string {
	var equal, other []string
	for _, t := range m.Tests {
		value, err := json.Marshal(t.Value)
		if err != nil {
			continue
		}
		switch t.Operator {
		case "equals", "in":
			equal = append(equal, quotedValues(t.Value)...)
		case "truthy":
			equal = append(equal, "true", "false")
		case "type":
			return "Set '" + m.Variable + "' to " + article(string(value)) + m.needed()
		default:
			other = append(other, t.Operator+" "+string(value))
		}
	}
	switch {
	case len(other) == 0 && len(equal) > 0:
		return "Set '" + m.Variable + "' to one of: " + strings.Join(equal, ", ") + m.needed()
	case len(equal) == 0:
		return "Provide a value for '" + m.Variable + "' (tested for: " + strings.Join(other, ", ") + ")" + m.needed()
	}
	return "Set '" + m.Variable + "' to one of: " + strings.Join(equal, ", ") +
		" (also tested for: " + strings.Join(other, ", ") + ")" + m.needed()
}

func (m Missing) needed() string { return " (for: " + strings.Join(m.Steps, ", ") + ")" }

// quotedValues writes strings in single quotes and all else as JSON.
func quotedValues(v any) []string {
	if list, ok := v.([]any); ok {
		var all []string
		for _, item := range list {
			all = append(all, quotedValues(item)...)
		}
		return all
	}
	if s, ok := v.(string); ok {
		return []string{"'" + s + "'"}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return []string{string(text)}
}

func article(kind string) string {
	kind = strings.Trim(kind, `"`)
	if kind == "array" {
		return "an array"
	}
	return "a " + kind
}
