package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// choose leaves the choice to the [Chooser].
func (t *turn) choose(found []candidate) (*Outcome, error) {
	c := Choice{Query: t.query, Context: t.w.Trail(t.path)}
	for _, f := range found {
		c.Candidates = append(c.Candidates, f.shown(t.path))
	}
	chosen, err := t.Engine.opts.Chooser.Choose(t.ctx, c)
	if err != nil {
		return nil, fmt.Errorf("choosing a command: %w", err)
	}
	i := slices.IndexFunc(found, func(f candidate) bool { return f.command.Name == chosen.Command })
	if i < 0 {
		return t.offer(found)
	}
	v := found[i].visible
	args := arguments{}
	if len(chosen.Arguments) > 0 && (json.Unmarshal(chosen.Arguments, &args) != nil || args == nil) {
		return t.offer(found) // nobody knows what it was to be run with
	}
	v.command.dropParroted(args, t.query)
	return t.run(v, args, &Problem{})
}

// dropParroted drops values that are documented examples and do not stand in the instruction: models copy them from the
// schema.
func (c *Command) dropParroted(args arguments, query string) {
	for _, p := range c.Params {
		v, given := args[p.Name]
		if given && slices.ContainsFunc(p.Examples, func(x json.RawMessage) bool { return string(x) == string(v) }) &&
			!strings.Contains(strings.ToLower(query), strings.ToLower(plain(v))) {
			delete(args, p.Name)
		}
	}
}
