package stepping

import (
	"cmp"
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
		l.note(stepID, t.Name, Test{Operator: cmp.Or(t.Op, truthTest), Value: t.Value})
	}
}

// addType notes a variable of which the step needs a type, such as "a number".
func (l *missingList) addType(stepID, name, want string) {
	l.note(stepID, name, Test{Operator: typeTest, Value: want})
}

// add notes all that stands in other.
func (l *missingList) add(other missingList) {
	for _, m := range other.list {
		for _, id := range m.Steps {
			for _, t := range m.Tests {
				l.note(id, m.Variable, t)
			}
		}
	}
}

func (l *missingList) note(stepID, name string, t Test) {
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
	b.WriteString("\nThen call workflow_next again.")
	return b.String()
}

// otherwise gives a value for which none of the tests holds, for a variable that does not apply; ok is false where
// there is none at hand.
func (m Missing) otherwise() (text string, ok bool) {
	values := []any{false, "none", "not applicable", nil}
	for _, t := range m.Tests {
		values = append(t.tested().Shuns(), values...)
	}
	for _, v := range values {
		null := false // which is an answer only to a comparison with null
		fails := !slices.ContainsFunc(m.Tests, func(t Test) bool {
			null = null || slices.Contains(t.tested().Shuns(), nil)
			return t.holds(m.Variable, v)
		})
		if fails && (v != nil || null) {
			return asText(v), true
		}
	}
	return "", false
}

// tested is the test as a condition makes it.
func (t Test) tested() criteria.VarTest { return criteria.VarTest{Op: t.Operator, Value: t.Value} }

// holds reports whether the test holds for the value, or nobody knows.
func (t Test) holds(name string, v any) bool {
	test := map[string]any{"var": name}
	if t.Operator != truthTest {
		test[t.Operator] = t.Value
	}
	c, err := criteria.ParseCondition(test)
	if err != nil {
		return true
	}
	holds, err := c.Eval(map[string]any{name: v}, criteria.Lenient)
	return holds || err != nil
}

func (m Missing) sentence() string {
	var values, others []string
	for _, t := range m.Tests {
		switch t.Operator {
		case typeTest:
			return "Set '" + m.Variable + "' to " + value(t.Value) + m.needed()
		case truthTest:
			values = append(values, "true", "false")
		default:
			if wants := t.tested().Wants(); wants != nil {
				values = append(values, quotedValues(wants)...)
			} else {
				others = append(others, t.Operator+" "+asText(t.Value))
			}
		}
	}
	tests := strings.Join(others, ", ")
	switch {
	case len(values) == 0:
		return "Provide a value for '" + m.Variable + "' (tested for: " + tests + ")" + m.apart() + m.needed()
	case len(values) == 1:
		values[0] = " to " + values[0]
	default:
		values[0] = " to one of: " + values[0]
	}
	text := "Set '" + m.Variable + "'" + strings.Join(values, ", ")
	if tests != "" {
		text += " (also tested for: " + tests + ")"
	}
	return text + m.apart() + m.needed()
}

// apart says how to answer that the variable does not apply, if a test can be answered so and its own values do not
// show it.
func (m Missing) apart() string {
	if slices.ContainsFunc(m.Tests, func(t Test) bool { return t.Operator == truthTest || t.tested().Numeric() }) {
		return ""
	}
	v, ok := m.otherwise()
	if !ok {
		return ""
	}
	return ", or to " + v + " if that does not apply"
}

func (m Missing) needed() string { return " (for: " + strings.Join(m.Steps, ", ") + ")" }

// quotedValues writes strings in single quotes and all else as JSON, the items of an array each for itself.
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
