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
	op       string   // an operator of operators, opTruth, or one of opAnd, opOr, opNot
	name     string   // the variable, for all but the combinations
	operand  any      // what the variable is compared with, for all but opTruth and the combinations
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

// operators are those that compare a variable, in the order in which they are looked for. Where a condition carries
// more than one only the first decides, as in the system the format comes from; the others are in Ignored.
func operators() []string {
	return []string{"equals", "not_equals", "gt", "gte", "lt", "lte", "in", "contains", "startsWith", "endsWith", "matches"}
}

// ParseCondition parses a decoded JSON condition. nil and {} give a condition that always holds. The error is a
// *[ShapeError].
func ParseCondition(v any) (*Condition, error) { return parseCondition(v, "") }

func parseCondition(v any, path string) (*Condition, error) {
	c := &Condition{}
	if v == nil {
		return c, nil
	}
	if m, ok := v.(map[string]any); ok && len(m) == 0 {
		return c, nil
	}
	root, err := c.parse(v, path, 0)
	if err != nil {
		return nil, err
	}
	c.root = root
	return c, nil
}

// Ignored names, as JSON pointers, the members of the condition that decide nothing: a second operator beside the
// one that counts, an "and" beside a "var". They are almost always a mistake.
func (c *Condition) Ignored() []string {
	if c == nil {
		return nil
	}
	return slices.Clone(c.ignored)
}

func (c *Condition) parse(v any, path string, depth int) (*test, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, &ShapeError{path, "a condition is an object, this is " + article(v)}
	}
	if depth >= MaxDepth {
		return nil, &ShapeError{path, fmt.Sprintf("conditions nest deeper than %d", MaxDepth)}
	}
	known := append(operators(), "var", opAnd, opOr, opNot)
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
	t := &test{op: opTruth}
	var ok bool
	if t.name, ok = name.(string); !ok {
		return nil, &ShapeError{pointer(path, "var"), `"var" is the name of a variable, this is ` + article(name)}
	}
	for _, op := range operators() {
		operand, ok := m[op]
		if !ok {
			continue
		}
		t.op, t.operand = op, clone(operand)
		c.ignoreBut(m, path, op)
		if err := t.checkOperand(pointer(path, op)); err != nil {
			return nil, err
		}
		return t, nil
	}
	c.ignoreBut(m, path, "var")
	return t, nil
}

// checkOperand reports an operand that its operator can do nothing with, and compiles a pattern.
func (t *test) checkOperand(path string) error {
	switch t.op {
	case "gt", "gte", "lt", "lte":
		if _, ok := toNumber(t.operand); !ok {
			return &ShapeError{path, fmt.Sprintf("%q compares with a number, this is %s", t.op, article(t.operand))}
		}
	case "in":
		if _, ok := t.operand.([]any); !ok {
			return &ShapeError{path, `"in" takes an array of values, this is ` + article(t.operand)}
		}
	case "contains", "startsWith", "endsWith", "matches":
		s, ok := t.operand.(string)
		if !ok {
			return &ShapeError{path, fmt.Sprintf("%q takes a string, this is %s", t.op, article(t.operand))}
		}
		if t.op == "matches" {
			var err error
			if t.pattern, err = compilePattern(s, ""); err != nil {
				return &ShapeError{path, err.Error()}
			}
			if t.folded, err = t.pattern.ignoringCase(); err != nil {
				return &ShapeError{path, err.Error()}
			}
		}
	}
	return nil
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
		return nil, &ShapeError{path, fmt.Sprintf("%q takes an array of conditions, this is %s", op, article(operand))}
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
