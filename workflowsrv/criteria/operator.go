package criteria

import (
	"fmt"
	"slices"
	"strings"
)

// An operator compares a variable with an operand. All that is known of it stands in its row of operators.
type operator struct {
	name string
	sign string // what stands for the name where a condition is worded, "" for the name itself
	// unusable says why the operator can do nothing with the operand of a test, "" if it can. It prepares the test.
	unusable func(*test) string
	holds    comparison

	// What is known of the values that a test is about; what is nil is not known.

	// trials are values that a test holds for and values that it does not hold for.
	trials func(t VarTest) ([]any, bool)
	// near is the value that the test is about and that another value was meant to be.
	near func(t VarTest, value any) (any, bool)
	// wants are all values that a test holds for, and shuns is the one that it does not hold for.
	wants, shuns func(t VarTest) []any
	// numeric says that the operator compares numbers.
	numeric bool
}

// A comparison reports whether a test holds for the value of its variable. The error says that nobody knows.
type comparison func(t *test, value any, s *Scope) (bool, error)

// operators are in the order in which they are looked for. Where a condition carries more than one only the first
// decides, as in the system the format comes from; the others are in Ignored.
func operators() []operator {
	return []operator{
		{name: "equals", sign: "=", unusable: anyOperand, trials: oneValue, near: nearOne, wants: itsValue,
			holds: func(t *test, value any, s *Scope) (bool, error) { return equal(value, t.operand, s.mode), nil }},
		{name: "not_equals", sign: "≠", unusable: anyOperand, trials: oneValue, near: nearOne, shuns: itsValue,
			holds: func(t *test, value any, s *Scope) (bool, error) { return !equal(value, t.operand, s.mode), nil }},
		ordering("gt", ">", func(order int) bool { return order > 0 }),
		ordering("gte", "≥", func(order int) bool { return order >= 0 }),
		ordering("lt", "<", func(order int) bool { return order < 0 }),
		ordering("lte", "≤", func(order int) bool { return order <= 0 }),
		{name: "in", unusable: needsArray, trials: anyOfThem, near: nearAny, wants: itsItems,
			holds: func(t *test, value any, s *Scope) (bool, error) {
				return contains(t.operand.([]any), value, s.mode), nil
			}},
		{name: "contains", unusable: needsString, holds: containing},
		{name: "startsWith", unusable: needsString, holds: ofText(strings.HasPrefix)},
		{name: "endsWith", unusable: needsString, holds: ofText(strings.HasSuffix)},
		{name: "matches", unusable: needsPattern, holds: matching},
	}
}

// operatorOf gives the row of an operator; the zero row is that of a name that is none.
func operatorOf(name string) operator {
	for _, op := range operators() {
		if op.name == name {
			return op
		}
	}
	return operator{}
}

func ordering(name, sign string, fits func(order int) bool) operator {
	return operator{name: name, sign: sign, unusable: needsNumber, holds: ordered(fits), trials: aroundIt, near: nearNumber, numeric: true}
}

func operatorNames() []string {
	var names []string
	for _, op := range operators() {
		names = append(names, op.name)
	}
	return names
}

func anyOperand(*test) string { return "" }

func needsNumber(t *test) string {
	if _, ok := toNumber(t.operand); !ok {
		return fmt.Sprintf("%q compares with a number, this is %s", t.op, KindOf(t.operand))
	}
	return ""
}

func needsArray(t *test) string {
	if _, ok := t.operand.([]any); !ok {
		return fmt.Sprintf("%q takes an array of values, this is %s", t.op, KindOf(t.operand))
	}
	return ""
}

func needsString(t *test) string {
	if _, ok := t.operand.(string); !ok {
		return fmt.Sprintf("%q takes a string, this is %s", t.op, KindOf(t.operand))
	}
	return ""
}

func needsPattern(t *test) string {
	if reason := needsString(t); reason != "" {
		return reason
	}
	var err error
	if t.pattern, err = compilePattern(t.operand.(string), ""); err != nil {
		return err.Error()
	}
	if t.folded, err = t.pattern.ignoringCase(); err != nil {
		return err.Error()
	}
	t.pattern.re.MatchTimeout, t.folded.re.MatchTimeout = testTimeout, testTimeout
	return ""
}

// isTrue is the comparison of a variable that stands alone.
func isTrue(_ *test, value any, _ *Scope) (bool, error) { return truth(value), nil }

// ordered compares numbers.
func ordered(fits func(order int) bool) comparison {
	return func(t *test, value any, _ *Scope) (bool, error) {
		n, ok := toNumber(value)
		if !ok {
			return false, nil
		}
		bound, _ := toNumber(t.operand)
		order, ok := n.compare(bound)
		return ok && fits(order), nil
	}
}

// textOf gives the text of a value for the operators on strings; ok is false for a value that is none.
func textOf(value any, mode Mode) (str string, ok bool) {
	if _, isString := value.(string); !isString && mode == Strict {
		return "", false
	}
	return text(value), true
}

// ofText compares texts.
func ofText(fits func(text, operand string) bool) comparison {
	return func(t *test, value any, s *Scope) (bool, error) {
		operand := t.operand.(string)
		str, ok := textOf(value, s.mode)
		if s.mode == Lenient {
			str, operand = strings.ToLower(str), strings.ToLower(operand)
		}
		return ok && fits(str, operand), nil
	}
}

// containing finds a part of a text, and also an item of an array.
func containing(t *test, value any, s *Scope) (bool, error) {
	if list, ok := value.([]any); ok && contains(list, t.operand, s.mode) {
		return true, nil
	}
	return ofText(strings.Contains)(t, value, s)
}

func matching(t *test, value any, s *Scope) (bool, error) {
	str, ok := textOf(value, s.mode)
	if !ok {
		return false, nil
	}
	p := t.pattern
	if s.mode == Lenient {
		p = t.folded
	}
	start, _, err := p.find([]rune(str), s.meter)
	if err != nil {
		return false, &UndecidedError{Variable: t.name, Pattern: p.String(), Err: err}
	}
	return start >= 0, nil
}

func contains(list []any, value any, mode Mode) bool {
	return slices.ContainsFunc(list, func(item any) bool { return equal(value, item, mode) })
}
