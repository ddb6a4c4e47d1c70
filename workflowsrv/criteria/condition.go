package criteria

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Condition is a parsed condition. A nil Condition and the condition {} always hold.
type Condition struct {
	root    *test // nil: always true
	ignored []string
}

// test is one node of a condition: a test of a variable, or a combination of others.
type test struct {
	op       string // the name of the operator, opTruth, or one of opAnd, opOr, opNot
	name     string // the variable, for all but the combinations
	operand  any    // what the variable is compared with, for all but opTruth and the combinations
	holds    comparison
	pattern  *pattern // of "matches", as written and ignoring case
	folded   *pattern
	children []*test
}

const (
	opAnd   = "and"
	opOr    = "or"
	opNot   = "not"
	opTruth = "" // a variable alone is tested for truth
)

// kindAll is an array of rules: all have to pass.
const kindAll = "all"

// combines reports whether a node of that kind is a combination of others.
func combines(kind string) bool {
	return kind == kindAll || kind == opAnd || kind == opOr || kind == opNot
}

// ParseCondition parses a decoded JSON condition. nil and {} give a condition that always holds. The error is a
// *[ShapeError].
func ParseCondition(v any) (*Condition, error) { return parseCondition(v, "") }

func parseCondition(v any, path string) (*Condition, error) {
	c := &Condition{}
	if m, ok := v.(map[string]any); v == nil || ok && len(m) == 0 {
		return c, nil
	}
	root, err := c.parse(v, path, 0)
	if err != nil {
		return nil, err
	}
	c.root = root
	return c, nil
}

// Ignored names, as JSON pointers, the members of the condition that decide nothing: a second operator beside the one
// that counts, an "and" beside a "var". They are almost always a mistake.
func (c *Condition) Ignored() []string {
	if c == nil {
		return nil
	}
	return slices.Clone(c.ignored)
}

func (c *Condition) parse(v any, path string, depth int) (*test, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, &ShapeError{path, "a condition is an object, this is " + KindOf(v)}
	}
	if depth >= MaxDepth {
		return nil, &ShapeError{path, fmt.Sprintf("conditions nest deeper than %d", MaxDepth)}
	}
	known := append(operatorNames(), "var", opAnd, opOr, opNot)
	for _, k := range sortedKeys(m) {
		if !slices.Contains(known, k) {
			return nil, &ShapeError{pointer(path, k), fmt.Sprintf("%q is not an operator; known are %s", k, strings.Join(known, ", "))}
		}
	}
	if name, ok := m["var"]; ok {
		return c.parseVar(m, name, path)
	}
	for _, op := range []string{opAnd, opOr, opNot} {
		if operand, ok := m[op]; ok {
			c.ignoreBut(m, path, op)
			return c.parseCombination(op, operand, pointer(path, op), depth)
		}
	}
	if len(m) == 0 {
		return nil, &ShapeError{path, "this condition is empty"}
	}
	return nil, &ShapeError{path, `a comparison needs "var", the variable it is about`}
}

func (c *Condition) parseVar(m map[string]any, name any, path string) (*test, error) {
	t := &test{op: opTruth, holds: isTrue}
	var ok bool
	if t.name, ok = name.(string); !ok {
		return nil, &ShapeError{pointer(path, "var"), `"var" is the name of a variable, this is ` + KindOf(name)}
	}
	for _, op := range operators() {
		operand, ok := m[op.name]
		if !ok {
			continue
		}
		t.op, t.operand, t.holds = op.name, clone(operand), op.holds
		c.ignoreBut(m, path, op.name)
		if reason := op.unusable(t); reason != "" {
			return nil, &ShapeError{pointer(path, op.name), reason}
		}
		return t, nil
	}
	c.ignoreBut(m, path, "var")
	return t, nil
}

func (c *Condition) parseCombination(op string, operand any, path string, depth int) (*test, error) {
	t := &test{op: op}
	if op == opNot {
		child, err := c.parse(operand, path, depth+1)
		if err != nil {
			return nil, err
		}
		t.children = []*test{child}
		return t, nil
	}
	list, ok := operand.([]any)
	if !ok {
		return nil, &ShapeError{path, fmt.Sprintf("%q takes an array of conditions, this is %s", op, KindOf(operand))}
	}
	for i, v := range list {
		child, err := c.parse(v, pointer(path, strconv.Itoa(i)), depth+1)
		if err != nil {
			return nil, err
		}
		t.children = append(t.children, child)
	}
	return t, nil
}

// ignoreBut notes the members that do not decide beside op.
func (c *Condition) ignoreBut(m map[string]any, path, op string) {
	for _, k := range sortedKeys(m) {
		if k != op && k != "var" {
			c.ignored = append(c.ignored, pointer(path, k))
		}
	}
}
