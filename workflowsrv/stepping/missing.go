package stepping

import (
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
			op = truthTest
		}
		l.add(stepID, t.Name, Test{Operator: op, Value: t.Value})
	}
}

// addType notes a variable of which the step needs a type, such as "a number".
func (l *missingList) addType(stepID, name, want string) {
	l.add(stepID, name, Test{Operator: typeTest, Value: want})
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
	tested := false
	for _, m := range l.list {
		b.WriteString("\n- " + m.sentence())
		tested = tested || m.Tests[0].Operator != typeTest
	}
	if tested {
		b.WriteString("\nA condition that does not apply is answered with any other value, such as false or \"none\".")
	}
	b.WriteString("\nThen call workflow_next again.")
	return b.String()
}

func (m Missing) sentence() string {
	var values, others []string
	for _, t := range m.Tests {
		switch t.Operator {
		case typeTest:
			return "Set '" + m.Variable + "' to " + value(t.Value) + m.needed()
		case "equals", "in":
			values = append(values, quotedValues(t.Value)...)
		case truthTest:
			values = append(values, "true", "false")
		default:
			others = append(others, t.Operator+" "+asText(t.Value))
		}
	}
	tests := strings.Join(others, ", ")
	switch {
	case len(values) == 0:
		return "Provide a value for '" + m.Variable + "' (tested for: " + tests + ")" + m.needed()
	case len(values) == 1:
		values[0] = " to " + values[0]
	default:
		values[0] = " to one of: " + values[0]
	}
	text := "Set '" + m.Variable + "'" + strings.Join(values, ", ")
	if tests != "" {
		text += " (also tested for: " + tests + ")"
	}
	return text + m.needed()
}

func (m Missing) needed() string { return " (for: " + strings.Join(m.Steps, ", ") + ")" }

// quotedValues writes strings in single quotes and all else as JSON, the
// items of an array each for itself.
func quotedValues(v any) []string {
	switch v := v.(type) {
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, quotedValues(item)...)
		}
		return all
	case string:
		return []string{"'" + v + "'"}
	}
	return []string{asText(v)}
}
