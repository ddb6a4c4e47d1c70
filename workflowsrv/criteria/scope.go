package criteria

import (
	"context"
)

// Mode says how forgiving the comparisons of a condition are.
type Mode int

const (
	// Strict compares without conversion: "1" is not 1, "Large" is not "large". It is the default.
	Strict Mode = iota
	// Lenient compares strings trimmed and without regard to case, a string with a number by the number it spells, and
	// a string with a truth value by name (true/1/yes, false/0/no). The string operators disregard case and work on the
	// string form of any value. Numeric operators still demand a number.
	Lenient
)

// A Scope is what the conditions of one call are judged in: the variables, how they are compared, and the time that all
// matches of the call may take together. It is for one goroutine.
type Scope struct {
	context map[string]any
	over    map[string]any // stands before context
	mode    Mode
	meter   *meter
}

// NewScope returns a scope with the variables of context. When ctx is done, nothing more is judged in it.
func NewScope(ctx context.Context, variables map[string]any, mode Mode) *Scope {
	return &Scope{context: variables, mode: mode, meter: &meter{ctx: ctx}}
}

// With returns a scope in which the variables of over stand before those of s. It shares the time of s.
func (s *Scope) With(over map[string]any) *Scope {
	return &Scope{context: s.context, over: over, mode: s.mode, meter: s.meter}
}

// Value is the value of a variable, nil for one that is absent. Names are literal, so "a.b" is one name, and nothing is
// found but what was put there.
func (s *Scope) Value(name string) any {
	v, _ := s.lookUp(name)
	return v
}

func (s *Scope) lookUp(name string) (v any, ok bool) {
	if v, ok = s.over[name]; !ok {
		v, ok = s.context[name]
	}
	return v, ok
}
