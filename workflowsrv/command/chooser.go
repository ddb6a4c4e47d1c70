package command

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Chooser takes the choice among the likeliest commands, and finds their
// parameters in the instruction.
type Chooser interface {
	// Choose is called with at least one candidate. The error ends the turn.
	Choose(ctx context.Context, c Choice) (Chosen, error)
}

// Choice is what a [Chooser] chooses from.
type Choice struct {
	Query string
	// Context says where the session stands, the outermost place first.
	Context    string
	Candidates []Candidate
}

// Candidate is a command that an instruction may mean.
type Candidate struct {
	ListedEntry
	// Schema is the JSON Schema of the parameters together, at any place.
	Schema json.RawMessage `json:"-"`
	// Score is from 0 to 1: how much instruction and command have in common.
	Score float64 `json:"score"`
}

// Chosen is the answer of a [Chooser]: the name of a candidate, "" for none, and an
// object of the parameters that the instruction gives, nil for none. Arguments
// that are no object are no choice.
type Chosen struct {
	Command   string
	Arguments json.RawMessage
}

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

// dropParroted drops values that are documented examples and do not stand in
// the instruction: models copy them from the schema.
func (c *Command) dropParroted(args arguments, query string) {
	for _, p := range c.Params {
		v, given := args[p.Name]
		if given && slices.ContainsFunc(p.Examples, func(x json.RawMessage) bool { return string(x) == string(v) }) &&
			!strings.Contains(strings.ToLower(query), strings.ToLower(plain(v))) {
			delete(args, p.Name)
		}
	}
}
