package command

import (
	"fmt"
	"slices"
)

// lookUp asks the servers for the values that parameters with a lookup can have: a value that is none of them is
// invalid, as is one of which nobody could say, and one that is missing gets suggestions.
func (t *turn) lookUp(c *Command, args arguments, problem *Problem) {
	for _, p := range c.Params {
		v, given := args[p.Name]
		bad := problem.about(p.Name)
		missing := slices.Contains(problem.Missing, p.Name)
		if p.Lookup == nil || bad || !given && !missing {
			continue
		}
		values, err := t.existing(p.Lookup, args, t.path)
		if value, ok := mentioned(values[:min(len(values), maxLookup)], t.query, c.vocabulary()); missing && ok {
			if read, err := p.read(c.schema, []string{value}); err == nil {
				args[p.Name], t.inferred = read, true
				problem.Missing = slices.DeleteFunc(problem.Missing, func(name string) bool { return name == p.Name })
				continue
			}
		}
		if given && slices.Contains(values, plain(v)) {
			continue
		}
		switch {
		case given && err != nil:
			problem.invalid(p.Name, v, fmt.Sprintf("could not be checked: %v", err))
		case given:
			problem.invalid(p.Name, v, "does not exist")
		}
		problem.offer(p.Name, values)
		problem.suggest(p.Name, near(plain(v), values[:min(len(values), maxLookup)]))
	}
}

// maxLookup is among how many values of a lookup a like one is looked for.
const maxLookup = 1000
