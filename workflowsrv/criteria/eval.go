package criteria

import (
	"slices"
	"strings"
)

// Mode says how forgiving the comparisons of a condition are.
type Mode int

const (
	// Strict compares without conversion: "1" is not 1, "Large" is not "large". It is the default.
	Strict Mode = iota
	// Lenient compares strings trimmed and without regard to case, a string with a number by the number it spells,
	// and a string with a truth value by name (true/1/yes, false/0/no). The string operators disregard case and work
	// on the string form of any value. Numeric operators still demand a number.
	Lenient
)

// Eval reports whether the condition holds. A variable that the context does not have is null; names are literal,
// so "a.b" is one name, and nothing is found in a context but what was put there.
func (c *Condition) Eval(context map[string]any, mode Mode) bool {
	return c.holds(&scope{context: context, mode: mode, meter: newMeter()})
}

func (c *Condition) holds(s *scope) bool { return c == nil || c.root == nil || c.root.eval(s) }

// scope is what the tests of one evaluation share.
type scope struct {
	context map[string]any
	mode    Mode
	meter   *meter
}

func (t *test) eval(s *scope) bool {
	switch t.op {
	case opAnd:
		for _, child := range t.children {
			if !child.eval(s) {
				return false
			}
		}
		return true
	case opOr:
		for _, child := range t.children {
			if child.eval(s) {
				return true
			}
		}
		return false
	case opNot:
		return !t.children[0].eval(s)
	}
	return t.compare(s.context[t.name], s)
}

func (t *test) compare(value any, s *scope) bool {
	switch t.op {
	case opTruth:
		return truth(value)
	case "equals":
		return equal(value, t.operand, s.mode)
	case "not_equals":
		return !equal(value, t.operand, s.mode)
	case "in":
		return contains(t.operand.([]any), value, s.mode)
	case "gt", "gte", "lt", "lte":
		return t.order(value)
	}
	return t.compareText(value, s)
}

func (t *test) order(value any) bool {
	n, ok := toNumber(value)
	if !ok {
		return false
	}
	bound, _ := toNumber(t.operand)
	order, ok := n.compare(bound)
	if !ok {
		return false
	}
	switch t.op {
	case "gt":
		return order > 0
	case "gte":
		return order >= 0
	case "lt":
		return order < 0
	}
	return order <= 0
}

// compareText carries out the operators on strings. "contains" also finds an item of an array.
func (t *test) compareText(value any, s *scope) bool {
	operand := t.operand.(string)
	if list, ok := value.([]any); ok && t.op == "contains" && contains(list, operand, s.mode) {
		return true
	}
	if _, ok := value.(string); !ok && s.mode == Strict {
		return false
	}
	str, pattern := text(value), t.pattern
	if s.mode == Lenient {
		pattern = t.folded
	}
	if t.op == "matches" {
		start, _, err := pattern.find([]rune(str), s.meter)
		return err == nil && start >= 0
	}
	if s.mode == Lenient {
		str, operand = strings.ToLower(str), strings.ToLower(operand)
	}
	switch t.op {
	case "contains":
		return strings.Contains(str, operand)
	case "startsWith":
		return strings.HasPrefix(str, operand)
	}
	return strings.HasSuffix(str, operand)
}

func contains(list []any, value any, mode Mode) bool {
	return slices.ContainsFunc(list, func(item any) bool { return equal(value, item, mode) })
}
