package criteria

import (
	"slices"
)

// Vars gives every test the condition makes, in the order of the file.
func (c *Condition) Vars() []VarTest {
	if c == nil || c.root == nil {
		return nil
	}
	return c.root.vars(nil)
}

func (t *test) vars(list []VarTest) []VarTest {
	if !combines(t.op) {
		return append(list, t.varTest())
	}
	for _, child := range t.children {
		list = child.vars(list)
	}
	return list
}

// aboutNull reports whether the test compares with null, so that null is a value like others for it.
func (t *test) aboutNull() bool {
	list, _ := t.operand.([]any)
	return t.op != opTruth && t.operand == nil || t.op == "in" && slices.Contains(list, nil)
}

func (t *test) varTest() VarTest { return VarTest{Name: t.name, Op: t.op, Value: clone(t.operand)} }

// Unset gives the tests that stand between the condition and the opposite verdict for want of a variable: those whose
// variable is absent from the scope (or null) and that, answered otherwise, could turn the verdict. It is empty when
// variables that are present have decided. A variable that is null and not absent is an answer to a test that compares
// it with null.
//
// For a condition that does not hold it is thus what the caller has to be asked for. The error is that of Holds.
func (c *Condition) Unset(s *Scope) ([]VarTest, error) {
	if c == nil || c.root == nil {
		return nil, nil
	}
	list, _, err := c.root.missing(s)
	return list, err
}

// missing gives the tests on absent variables that could turn the verdict of t, none if it is decided, and the verdict
// as it stands.
func (t *test) missing(s *Scope) (list []VarTest, verdict bool, err error) {
	if !combines(t.op) {
		value, present := s.lookUp(t.name)
		verdict, err = t.holds(t, value, s)
		if value == nil && !(present && t.aboutNull()) {
			list = []VarTest{t.varTest()}
		}
		return list, verdict, err
	}
	if t.op == opNot {
		list, verdict, err = t.children[0].missing(s)
		return list, !verdict, err
	}
	// One child decides an "and" by being false and an "or" by being true; to turn a verdict decided so, every child
	// that decides has to turn, and one that cannot keeps it. Otherwise any one child is enough.
	decides := t.op == opOr
	var turning, others []VarTest
	decided, fixed := false, false
	var undecided error
	for _, child := range t.children {
		tests, v, err := child.missing(s)
		if err != nil {
			undecided = err
			continue
		}
		if v != decides {
			others = append(others, tests...)
			continue
		}
		decided = true
		fixed = fixed || len(tests) == 0
		turning = append(turning, tests...)
	}
	switch {
	case fixed:
		return nil, decides, nil
	case decided:
		return turning, decides, nil
	case undecided != nil:
		return nil, false, undecided
	}
	return others, !decides, nil
}
