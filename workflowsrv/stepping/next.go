package stepping

import (
	"fmt"
	"maps"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// A Request says where the caller is in a workflow.
type Request struct {
	// Completed are ids of steps, in any order; unknown ids do not matter. The
	// id of a loop ends that loop.
	Completed []string
	// State is that of the last answer, "" at the start and in workflows
	// without loops. It means that the step of that answer is done.
	State string
	// Context holds the variables, decoded with json.Number for numbers.
	Context map[string]any
	// Mode says how conditions compare.
	Mode criteria.Mode
	// Kept says that the caller keeps the state: the agent is not told to send it.
	Kept bool
}

// An Answer says what to do next.
type Answer struct {
	// Step is nil when the workflow is complete and when variables are missing.
	Step       *definition.Step
	IsComplete bool
	// Prompt is never empty: it says what to do, that all is done, or what to
	// add to the context.
	Prompt string
	// ModelHint is "" unless the step or the workflow names a tier.
	ModelHint            string
	RequiresConfirmation bool
	// ValidationCriteria are the messages of the rules for the step's output.
	ValidationCriteria []string
	// Warnings tell what went otherwise than the author may have meant.
	Warnings []string
	// Missing are the variables without which no step can be chosen.
	Missing []Missing
	// Loop is nil outside of loops.
	Loop *LoopPass
	// State is to be sent with the next call, "" if there is nothing to send.
	State string
}

// Missing is a variable that has to be set, or set to something else than
// null, before the workflow can go on.
type Missing struct {
	Variable string `json:"variable"`
	// Tests are what the conditions compare the variable with.
	Tests []Test `json:"tests"`
	// Steps are the ids of the steps that depend on it.
	Steps []string `json:"steps"`
}

// The operators of tests that are none in a file: a variable that has to be
// truthy, and one that has to be of a type.
const (
	truthTest = "truthy"
	typeTest  = "type"
)

// A Test is one comparison of a variable: an operator of conditions, or truthy
// or type.
type Test struct {
	Operator string `json:"operator"`
	Value    any    `json:"value,omitempty"`
}

// A LoopPass is the place in a loop.
type LoopPass struct {
	ID            string `json:"id"`
	Title         string `json:"title"`
	Type          string `json:"type"`
	Iteration     int    `json:"iteration"` // from 1
	MaxIterations int    `json:"maxIterations"`
	// Total is the number of passes where it is known beforehand.
	Total *int `json:"total,omitempty"`
	// Variables are those that the loop sets for this pass.
	Variables map[string]any `json:"variables"`
}

// Next says what comes next in w. The error is a [*StateError] for a state
// that is none of w's, a [*LoopError] for a variable that a loop cannot use,
// and a [*criteria.UndecidedError] within for one that a condition could not
// be judged by.
func Next(w *definition.Workflow, r Request) (Answer, error) {
	at, err := unseal(r.State, w)
	if err != nil {
		return Answer{}, err
	}
	k := &walker{w: w, request: r, at: at, completed: make(map[string]bool, len(r.Completed))}
	for _, id := range r.Completed {
		k.completed[id] = true
	}
	found, err := k.walk()
	if err != nil {
		return Answer{}, err
	}
	return k.answer(found)
}

// A walker looks for the next step.
type walker struct {
	w         *definition.Workflow
	request   Request
	completed map[string]bool
	at        position
	missing   missingList
	warnings  []string
}

// A choice is a step that was found, with the context it sees.
type choice struct {
	step    *definition.Step
	context map[string]any
	loop    *definition.Step // nil outside of loops
	pass    *LoopPass
	first   bool // the first step that the loop hands out
}

// walk returns nil when there is no step to hand out: the workflow is then
// complete, unless k.missing is not empty.
func (k *walker) walk() (*choice, error) {
	if k.at.Loop != "" {
		loop := k.w.Step(k.at.Loop)
		if found, err := k.runLoop(loop); found != nil || err != nil || k.missing.any() {
			return found, err
		}
	}
	for _, s := range k.w.Steps {
		if s.InLoop || k.done(s) {
			continue
		}
		if eligible, err := k.eligible(s, k.request.Context); err != nil {
			return nil, err
		} else if !eligible {
			continue
		}
		if s.Loop == nil {
			return &choice{step: s, context: k.request.Context}, nil
		}
		// What conditions before the loop lack does not keep it from running.
		before := k.missing
		k.missing = missingList{}
		if found, err := k.runLoop(s); found != nil || err != nil || k.missing.any() {
			return found, err
		}
		k.missing = before
	}
	return nil, nil
}

func (k *walker) done(s *definition.Step) bool {
	return k.completed[s.ID] || s.Loop != nil && k.at.finished(s.ID)
}

// eligible evaluates the condition of s, and notes the variables for want of
// which it does not hold.
func (k *walker) eligible(s *definition.Step, context map[string]any) (bool, error) {
	holds, err := k.holds(s, s.RunCondition, context)
	if holds || err != nil {
		return holds, err
	}
	unset, err := k.unset(s, s.RunCondition, context)
	k.missing.addTests(s.ID, unset)
	return false, err
}

// holds evaluates a condition of s.
func (k *walker) holds(s *definition.Step, c *criteria.Condition, context map[string]any) (bool, error) {
	holds, err := c.Eval(context, k.request.Mode)
	return holds, undecided(s, err)
}

// unset gives the tests for want of whose variables a condition of s is as it
// is.
func (k *walker) unset(s *definition.Step, c *criteria.Condition, context map[string]any) ([]criteria.VarTest, error) {
	tests, err := c.Missing(context, k.request.Mode)
	return tests, undecided(s, err)
}

func undecided(s *definition.Step, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the condition of the step %q: %w", s.ID, err)
}

func (k *walker) answer(found *choice) (a Answer, err error) {
	a.State = k.at.seal(k.w)
	switch {
	case found != nil:
		err = k.present(&a, found)
	case k.missing.any():
		a.Missing = k.missing.list
		a.Prompt = k.missing.prompt()
	default:
		a.IsComplete = true
		a.Prompt = "Workflow complete."
	}
	a.Warnings = k.warnings
	return a, err
}

// present fills in what concerns the step that was found.
func (k *walker) present(a *Answer, c *choice) (err error) {
	a.Step, a.Loop = c.step, c.pass
	if a.Prompt, err = k.prompt(c); err != nil {
		return err
	}
	a.ModelHint = modelHint(orElse(c.step.ModelTier, k.w.ModelTier))
	a.RequiresConfirmation = k.confirm(c.step, c.context) || c.first && k.confirm(c.loop, c.context)
	if c.step.Criteria != nil {
		a.ValidationCriteria = c.step.Criteria.Messages()
	}
	return nil
}

// confirm reports whether the user is to be asked before a step. Where that
// could not be judged, the user is.
func (k *walker) confirm(s *definition.Step, context map[string]any) bool {
	if s.Confirm.Always || s.Confirm.When == nil {
		return s.Confirm.Always
	}
	holds, err := s.Confirm.When.Eval(context, k.request.Mode)
	if err != nil {
		k.warnings = append(k.warnings, fmt.Sprintf("the step %q is to be confirmed: %v", s.ID, err))
	}
	return holds || err != nil
}

// modelHint words a tier as the published API does.
func modelHint(tier string) string {
	switch tier {
	case "heavy":
		return "model-with-strong-reasoning"
	case "mid":
		return "general-purpose-model"
	case "lightweight":
		return "fast-model"
	}
	return ""
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// with returns the context with more variables.
func with(context, more map[string]any) map[string]any {
	all := make(map[string]any, len(context)+len(more))
	maps.Copy(all, context)
	maps.Copy(all, more)
	return all
}
