package criteria

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A VarTest is one test that a condition makes of a variable.
type VarTest struct {
	Name  string // the variable
	Op    string // the operator as it stands in the file; "" where the variable alone is tested for truth
	Value any    // what it is compared with; nil for Op ""
}

// Trials are values that the test holds for and values that it does not hold for; ok is false where nobody can tell.
func (t VarTest) Trials() (values []any, ok bool) {
	if t.Op == opTruth {
		return []any{true, false}, true
	}
	trials := operatorOf(t.Op).trials
	if trials == nil {
		return nil, false
	}
	return trials(t)
}

// Wants are all values that the test holds for, nil where these are not told by its operator.
func (t VarTest) Wants() []any { return valuesOf(operatorOf(t.Op).wants, t) }

// Shuns is the one value that the test does not hold for, nil where there is no such.
func (t VarTest) Shuns() []any { return valuesOf(operatorOf(t.Op).shuns, t) }

// Numeric reports whether the test compares numbers.
func (t VarTest) Numeric() bool { return operatorOf(t.Op).numeric }

func valuesOf(of func(t VarTest) []any, t VarTest) []any {
	if of == nil {
		return nil
	}
	return of(t)
}

// The parts of rows of operators.

func itsValue(t VarTest) []any { return []any{t.Value} }

func itsItems(t VarTest) []any {
	list, _ := t.Value.([]any)
	return list
}

func oneValue(t VarTest) ([]any, bool) { return []any{t.Value, other(t)}, true }

func anyOfThem(t VarTest) ([]any, bool) {
	list, ok := t.Value.([]any)
	return append(list, other(t)), ok
}

// aroundIt are values near enough to lie between two limits that leave any room.
func aroundIt(t VarTest) ([]any, bool) {
	n, ok := t.Value.(json.Number)
	f, err := strconv.ParseFloat(n.String(), 64)
	near := math.Max(1, math.Abs(f)) * 1e-9
	return []any{t.Value, f - near, f + near}, ok && err == nil
}

func other(t VarTest) any { return "another value than " + t.Name }

func nearOne(t VarTest, value any) (any, bool) { return t.Value, alike(value, t.Value) }

func nearAny(t VarTest, value any) (any, bool) {
	list, _ := t.Value.([]any)
	if contains(list, value, Strict) {
		return nil, false
	}
	if i := slices.IndexFunc(list, func(item any) bool { return alike(value, item) }); i >= 0 {
		return list[i], true
	}
	return nil, false
}

func nearNumber(_ VarTest, value any) (any, bool) {
	text, isText := value.(string)
	n, isNumber := parseNumber(strings.TrimSpace(text))
	switch {
	case !isText || !isNumber:
		return nil, false
	case n.integer:
		return n.i, true
	}
	return n.f, true
}
