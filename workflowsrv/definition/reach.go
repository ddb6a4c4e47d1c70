package definition

import (
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

// maxTrials bounds how many contexts are tried on one condition, and maxTests how many comparisons that may cost for
// all conditions of a file.
const (
	maxTrials = 5_000
	maxTests  = 200_000
)

// checkReach warns of steps whose condition no context satisfies.
func (b *builder) checkReach() {
	left := maxTests
	for _, p := range b.steps {
		if c := p.step.RunCondition; c != nil && !satisfiable(c, &left) {
			b.warnings.Add(p.node.Get("runCondition"), p.path+"/runCondition", "holds in no context: the step is never reached")
		}
	}
}

// satisfiable tries the condition under all combinations of the values that could matter to it. It gives the condition
// the benefit of the doubt when these are more than are left, or when a test is of a kind that no value can be made
// for.
func satisfiable(c *criteria.Condition, left *int) bool {
	var names []string
	values := map[string][]any{}
	cost := 0
	for _, test := range c.Vars() {
		candidates, ok := test.Trials()
		if !ok {
			return true
		}
		cost += len(candidates)
		if _, known := values[test.Name]; !known {
			names = append(names, test.Name)
			values[test.Name] = []any{nil}
		}
		values[test.Name] = append(values[test.Name], candidates...)
	}
	trials := 1
	for _, name := range names {
		if trials *= len(values[name]); trials > maxTrials {
			return true
		}
	}
	if trials*cost > *left {
		return true
	}
	*left -= trials * cost
	context := map[string]any{}
	for n := range trials {
		for _, name := range names {
			context[name] = values[name][n%len(values[name])]
			n /= len(values[name])
		}
		if holds, err := c.Eval(context, criteria.Strict); holds || err != nil {
			return true
		}
	}
	return false
}
