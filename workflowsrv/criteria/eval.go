package criteria

import "context"

// Holds reports whether the condition holds. A variable that is absent is null.
//
// The error is an *[UndecidedError]: a test that could not be made in time would have decided. The condition then
// neither holds nor does not, and whoever asked can go neither way.
func (c *Condition) Holds(s *Scope) (bool, error) {
	if c == nil || c.root == nil {
		return true, nil
	}
	return c.root.eval(s)
}

// Eval is Holds for a condition that stands alone.
func (c *Condition) Eval(variables map[string]any, mode Mode) (bool, error) {
	return c.Holds(NewScope(context.Background(), variables, mode))
}

// eval evaluates the test. Of a combination the children that are known decide where they can.
func (t *test) eval(s *Scope) (bool, error) {
	switch t.op {
	case opNot:
		holds, err := t.children[0].eval(s)
		return !holds && err == nil, err
	case opAnd, opOr:
		var undecided error
		for _, child := range t.children {
			switch holds, err := child.eval(s); {
			case err != nil:
				undecided = err
			case holds == (t.op == opOr):
				return holds, nil
			}
		}
		return undecided == nil && t.op == opAnd, undecided
	}
	return t.holds(t, s.Value(t.name), s)
}
