package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// lookUp asks the servers for the values that parameters with a lookup can
// have: a value that is none of them is invalid, as is one of which nobody could
// say, and one that is missing gets suggestions.
func (t *turn) lookUp(c *Command, args arguments, problem *Problem) {
	for _, p := range c.Params {
		v, given := args[p.Name]
		bad := problem.about(p.Name)
		missing := slices.Contains(problem.Missing, p.Name)
		if p.Lookup == nil || bad || !given && !missing {
			continue
		}
		values, err := t.existing(p.Lookup, args)
		if value, ok := mentioned(values[:min(len(values), maxLookup)], t.query, t.vocabulary(c)); missing && ok {
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

// existing asks for the values that a parameter can have.
func (t *turn) existing(l *Lookup, args arguments) ([]string, error) {
	if t.Engine.opts.Caller == nil {
		return nil, fmt.Errorf("calling a tool %w", errNoRunner)
	}
	given := json.RawMessage("{}")
	if l.Tool.arguments != nil {
		given, _ = l.Tool.arguments.append(nil, t.scope(args, t.path))
	}
	raw, err := t.Engine.opts.Caller.CallTool(t.ctx, l.Tool.Toolbox, l.Tool.Server, l.Tool.Tool, given)
	if err != nil {
		return nil, err
	}
	r := readToolResult(raw)
	switch {
	case r.failed:
		return nil, fmt.Errorf("%s/%s: %s", l.Tool.Server, l.Tool.Tool, summary(r.text))
	case r.data == nil:
		return nil, errors.New(l.Tool.Server + "/" + l.Tool.Tool + " returned no data")
	}
	found := point(r.data, l.Values)
	values := make([]string, len(found))
	for i, v := range found {
		values[i] = plain(v)
	}
	return values, nil
}
