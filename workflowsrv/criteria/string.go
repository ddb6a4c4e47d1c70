package criteria

import (
	"cmp"
	"encoding/json"
	"strings"
)

// String words the condition for people: size = "large" and not (risk > 3).
func (c *Condition) String() string {
	if c == nil || c.root == nil {
		return "always"
	}
	return c.root.words(false)
}

// words words the test, in parentheses if it joins others and stands in another.
func (t *test) words(within bool) string {
	switch t.op {
	case opTruth:
		return t.name
	case opNot:
		return "not (" + t.children[0].words(false) + ")"
	case opAnd, opOr:
		parts := make([]string, len(t.children))
		for i, child := range t.children {
			parts[i] = child.words(true)
		}
		text := strings.Join(parts, " "+t.op+" ")
		if within && len(parts) > 1 {
			return "(" + text + ")"
		}
		return text
	}
	value, err := json.Marshal(t.operand)
	if err != nil {
		value = []byte("?")
	}
	return t.name + " " + cmp.Or(operatorOf(t.op).sign, t.op) + " " + string(value)
}

// Words words the test for people, as [Condition.String] does.
func (t VarTest) Words() string {
	return (&test{op: t.Op, name: t.Name, operand: t.Value}).words(false)
}
