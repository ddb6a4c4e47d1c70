package command

import (
	"encoding/json"
	"slices"
)

// lookUp asks the servers for the values that parameters with a lookup can
// have: a value that is none of them is invalid, and one that is missing gets
// suggestions. A lookup that fails decides nothing.
func (t *turn) lookUp(c *Command, args arguments, problem *Problem) {
	for _, p := range c.Params {
		v, given := args[p.Name]
		bad := slices.ContainsFunc(problem.Invalid, func(i Invalid) bool { return i.Name == p.Name })
		missing := slices.Contains(problem.Missing, p.Name)
		if p.Lookup == nil || t.Engine.opts.Caller == nil || bad || !given && !missing {
			continue
		}
		values, ok := t.existing(p.Lookup, args)
		if !ok || given && slices.Contains(values, plain(v)) {
			continue
		}
		if given {
			problem.invalid(p.Name, v, "does not exist")
		}
		problem.suggest(p.Name, near(plain(v), values))
	}
}

// maxLookup is how many values of a lookup are read.
const maxLookup = 1000

func (t *turn) existing(l *Lookup, args arguments) ([]string, bool) {
	given := json.RawMessage("{}")
	if l.Tool.arguments != nil {
		given, _ = l.Tool.arguments.append(nil, scope(args, t.path))
	}
	raw, err := t.Engine.opts.Caller.CallTool(t.ctx, l.Tool.Toolbox, l.Tool.Server, l.Tool.Tool, given)
	if err != nil {
		return nil, false
	}
	r := readToolResult(raw)
	if r.failed || r.data == nil {
		return nil, false
	}
	found := point(r.data, l.Values)
	if len(found) > maxLookup {
		return nil, false // not all of them: an absent value proves nothing
	}
	values := make([]string, len(found))
	for i, v := range found {
		values[i] = plain(v)
	}
	return values, true
}
