package criteria

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
//
// The error is an *[UndecidedError]: a test that could not be made in time would have decided. The condition then
// neither holds nor does not, and whoever asked can go neither way.
func (c *Condition) Eval(context map[string]any, mode Mode) (bool, error) {
	return c.holds(&scope{context: context, mode: mode, meter: newMeter()})
}

func (c *Condition) holds(s *scope) (bool, error) {
	if c == nil || c.root == nil {
		return true, nil
	}
	return c.root.eval(s)
}

// scope is what the tests of one evaluation share.
type scope struct {
	context map[string]any
	mode    Mode
	meter   *meter
}

// eval evaluates the test. Of a combination the children that are known decide where they can.
func (t *test) eval(s *scope) (bool, error) {
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
	return t.holds(t, s.context[t.name], s)
}
