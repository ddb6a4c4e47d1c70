package criteria

import (
	"maps"
	"slices"
	"strings"
)

// A Near is a variable that all but has the value that a condition tests it for. The comparison is right, and yet the
// caller hardly meant what follows from it.
type Near struct {
	Name string // the variable
	Got  any    // its value
	Want any    // the value it is tested for, or the number or truth value that Got spells
}

// Nears gives the variables whose value differs from what the condition tests them for in case, in white space or
// separators, in number (bug and bugs) or in type alone ("5" and 5), and that would turn the verdict if it did not.
func (c *Condition) Nears(s *Scope) []Near {
	if c == nil || c.root == nil {
		return nil
	}
	var list []Near
	for _, t := range c.Vars() {
		value := s.Value(t.Name)
		if want, ok := t.near(value); ok && !slices.ContainsFunc(list, func(n Near) bool { return n.Name == t.Name }) {
			list = append(list, Near{t.Name, value, want})
		}
	}
	if len(list) == 0 {
		return nil // as nearly always, and nothing was judged again
	}
	verdict, err := c.root.eval(s)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(list, func(n Near) bool {
		over := maps.Clone(s.over)
		if over == nil {
			over = map[string]any{}
		}
		over[n.Name] = n.Want
		other, err := c.root.eval(s.With(over))
		return err != nil || other == verdict
	})
}

// near gives the value that the test is about and that value was meant to be.
func (t VarTest) near(value any) (want any, ok bool) {
	if t.Op == opTruth {
		text, isText := value.(string)
		spelt, named := truthOf(text)
		return spelt, isText && named && !spelt
	}
	if value == nil {
		return nil, false
	}
	near := operatorOf(t.Op).near
	if near == nil {
		return nil, false
	}
	return near(t, value)
}

// truthOf reads a word that names a truth value.
func truthOf(text string) (truth, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes":
		return true, true
	case "false", "no":
		return false, true
	}
	return false, false
}
