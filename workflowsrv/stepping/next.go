package stepping

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// A Request says where the caller is in a workflow.
type Request struct {
	// Completed are ids of steps, in any order; unknown ids are warned of. The id of a loop ends that loop.
	Completed []string
	// State is that of the last answer, "" at the start and in workflows without loops. It means that the step of that
	// answer is done.
	State string
	// Context holds the variables, decoded with json.Number for numbers.
	Context map[string]any
	// Mode says how conditions compare.
	Mode criteria.Mode
	// Kept says that the caller keeps the state: the agent is not told to send it.
	Kept bool
	// PassOver is the rule of the published API: a step for which a variable is absent is passed over, whoever could
	// know it, and asked for at the end.
	PassOver bool
}

// An Answer says what to do next.
type Answer struct {
	// Step is nil when the workflow is complete and when variables are missing.
	Step       *definition.Step
	IsComplete bool
	// Prompt is never empty: it says what to do, that all is done, or what to add to the context.
	Prompt string
	// ModelHint is "" unless the step or the workflow names a tier.
	ModelHint            string
	RequiresConfirmation bool
	// Opening is what to know before the first step, nil in later answers.
	Opening *Opening
	// Rules are those that hold throughout: with the first step, at the beginning of every pass of a loop, and every
	// tenth step.
	Rules []string
	// ValidationCriteria are the messages of the rules for the step's output.
	ValidationCriteria []string
	// Warnings tell what went otherwise than the author may have meant.
	Warnings []string
	// Missing are the variables without which no step can be chosen.
	Missing []Missing
	// Waiting are the variables for want of which steps before this one were passed over, since a later step is the one
	// to learn them.
	Waiting []Missing
	// Loop is nil outside of loops.
	Loop *LoopPass
	// State is to be sent with the next call, "" if there is nothing to send.
	State string
}

// Missing is a variable that has to be set, or set to something else than null, before the workflow can go on.
type Missing struct {
	Variable string `json:"variable"`
	// Tests are what the conditions compare the variable with.
	Tests []Test `json:"tests"`
	// Steps are the ids of the steps that depend on it.
	Steps []string `json:"steps"`
}

// The operators of tests that are none in a file: a variable that has to be truthy, and one that has to be of a type.
const (
	truthTest = "truthy"
	typeTest  = "type"
)

// A Test is one comparison of a variable: an operator of conditions, or truthy or type.
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

// An Opening is what holds before the first step.
type Opening struct{ Preconditions, Questions, Preferences []string }

// maxTurns bounds the conditions that one call looks at.
const maxTurns = 100_000

// A TurnsError is a loop of which one call would have to look at too many passes to find the next step.
type TurnsError struct{ StepID string }

func (e *TurnsError) Error() string {
	return fmt.Sprintf("at the step %q more than %d conditions were looked at and none led to a step", e.StepID, maxTurns)
}

// Next says what comes next in w. The error is a [*StateError] for a state that is none of w's, a [*LoopError] for a
// variable that a loop cannot use, a [*TurnsError], and a [*criteria.UndecidedError] within for a variable that a
// condition could not be judged by, or the cause why ctx is done.
func Next(ctx context.Context, w *definition.Workflow, r Request) (Answer, error) {
	at, err := unseal(r.State, w)
	if err != nil {
		return Answer{}, err
	}
	k := &walker{
		ctx: ctx, w: w, request: r, at: at.position, warnings: at.warnings,
		completed: make(map[string]bool, len(r.Completed)), scope: criteria.NewScope(ctx, r.Context, r.Mode),
	}
	for _, id := range r.Completed {
		k.completed[id] = true
	}
	k.warnUnknown()
	found, err := k.walk()
	if err != nil {
		return Answer{}, err
	}
	return k.answer(found)
}

// A walker looks for the next step.
type walker struct {
	ctx       context.Context // of the one call that the walker is made for
	w         *definition.Workflow
	request   Request
	completed map[string]bool
	at        position
	scope     *criteria.Scope // without the variables of loops
	turns     int
	missing   missingList // what to ask for now
	waiting   missingList // what a later step is to learn
	warnings  []string
}

// A choice is a step that was found, with the variables it sees.
type choice struct {
	step  *definition.Step
	scope *criteria.Scope
	loop  *definition.Step // nil outside of loops
	pass  *LoopPass
	first bool // the first step that the loop hands out
	opens bool // the first step of its pass
}

// walk returns nil when there is no step to hand out: the workflow is then complete, unless k.missing is not empty.
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
		if eligible, err := k.eligible(s, nil, k.scope); err != nil || k.missing.any() {
			return nil, err
		} else if !eligible {
			continue
		}
		if s.Loop == nil {
			return &choice{step: s, scope: k.scope}, nil
		}
		if found, err := k.runLoop(s); found != nil || err != nil || k.missing.any() {
			return found, err
		}
	}
	k.missing, k.waiting = k.waiting, missingList{}
	return nil, nil
}

func (k *walker) done(s *definition.Step) bool {
	return k.completed[s.ID] || s.Loop != nil && k.at.finished(s.ID)
}

// eligible evaluates the condition of s, which is in the loop or, for nil, at the top. The variables for want of which
// it does not hold are asked for now if whoever did the steps so far can know them, and wait otherwise.
func (k *walker) eligible(s, loop *definition.Step, scope *criteria.Scope) (bool, error) {
	holds, err := k.holds(s, s.RunCondition, scope)
	if holds || err != nil {
		return holds, err
	}
	unset, err := k.unset(s, s.RunCondition, scope)
	for _, t := range unset {
		list := &k.waiting
		if !k.request.PassOver && k.known(t.Name, s, loop) {
			list = &k.missing
		}
		list.addTests(s.ID, []criteria.VarTest{t})
	}
	return false, err
}

// known reports whether the variable can be asked for at the step s: a step that is done has spoken of it, or none that
// is still to come will.
func (k *walker) known(name string, s, loop *definition.Step) bool {
	later := false
	passed := false
	for m := range k.w.All() {
		if m == s {
			passed = true
			continue
		}
		if !m.Mentions(name) {
			continue
		}
		if k.seen(m, s, loop) {
			return true
		}
		later = later || passed
	}
	return !later
}

// seen reports whether the step m was done before s.
func (k *walker) seen(m, s, loop *definition.Step) bool {
	if k.done(m) {
		return true
	}
	for _, l := range k.w.Steps {
		if l.Loop == nil {
			continue
		}
		if i := slices.Index(l.Loop.Body, m); i >= 0 {
			return k.done(l) || l == loop && (k.at.Pass > 1 || i < slices.Index(l.Loop.Body, s))
		}
	}
	return false
}

// holds evaluates a condition of s, and warns of variables that all but have a value that would have turned it.
func (k *walker) holds(s *definition.Step, c *criteria.Condition, scope *criteria.Scope) (bool, error) {
	if k.turns++; k.turns > maxTurns {
		return false, &TurnsError{s.ID}
	}
	if err := context.Cause(k.ctx); err != nil {
		return false, err
	}
	holds, err := c.Holds(scope)
	if err != nil {
		return false, undecided(s, err)
	}
	for _, n := range c.Nears(scope) {
		k.warn(fmt.Sprintf("the step %q depends on the variable %q, which is %s and not %s: send that if it is what is meant",
			s.ID, n.Name, cut.After(asText(n.Got), maxShown), asText(n.Want)))
	}
	return holds, nil
}

// warn adds a warning once.
func (k *walker) warn(text string) {
	if !slices.Contains(k.warnings, text) {
		k.warnings = append(k.warnings, text)
	}
}

// warnUnknown warns of completed steps that the workflow does not have.
func (k *walker) warnUnknown() {
	const most = 5
	unknown := 0
	for _, id := range k.request.Completed {
		if k.w.Step(id) != nil {
			continue
		}
		if unknown++; unknown > most {
			k.warn("more of the completed steps are not known")
			return
		}
		text := fmt.Sprintf("there is no step %q, which is among the completed steps", cut.After(id, maxShown))
		if near := nearest.Names(id, k.w.StepIDs(), 1); len(near) > 0 {
			text += fmt.Sprintf("; did you mean %q?", near[0])
		}
		k.warn(text)
	}
}

// unset gives the tests for want of whose variables a condition of s is as it is.
func (k *walker) unset(s *definition.Step, c *criteria.Condition, scope *criteria.Scope) ([]criteria.VarTest, error) {
	tests, err := c.Unset(scope)
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
		k.addOthers()
		a.Missing = k.missing.list
		a.Prompt = k.missing.prompt()
	default:
		a.IsComplete = true
		a.Prompt = "Workflow complete."
	}
	a.Waiting = k.waiting.list
	a.Warnings = k.warnings
	return a, err
}

// addOthers adds what other steps test the missing variables for, so that the answer to the first one does for them as
// well.
func (k *walker) addOthers() {
	asked := map[string]bool{}
	for _, m := range k.missing.list {
		asked[m.Variable] = m.Tests[0].Operator != typeTest
	}
	for s := range k.w.All() {
		if k.done(s) {
			continue
		}
		for _, t := range s.RunCondition.Vars() {
			if asked[t.Name] {
				k.missing.addTests(s.ID, []criteria.VarTest{t})
			}
		}
	}
}

// present fills in what concerns the step that was found.
func (k *walker) present(a *Answer, c *choice) (err error) {
	k.warnLate(c)
	a.Step, a.Loop = c.step, c.pass
	if a.Prompt, err = k.prompt(c); err != nil {
		return err
	}
	a.ModelHint = modelHint(cmp.Or(c.step.ModelTier, k.w.ModelTier))
	a.RequiresConfirmation = k.confirm(c.step, c.scope) || c.first && k.confirm(c.loop, c.scope)
	if c.step.Criteria != nil {
		a.ValidationCriteria = c.step.Criteria.Messages()
	}
	begins := len(k.completed) == 0 && k.request.State == ""
	if begins && len(k.w.Preconditions)+len(k.w.ClarificationPrompts)+len(k.w.Preferences) > 0 {
		a.Opening = &Opening{k.w.Preconditions, k.w.ClarificationPrompts, k.w.Preferences}
	}
	const often = 10
	if begins || c.opens || c.pass == nil && len(k.completed)%often == 0 {
		a.Rules = k.w.MetaGuidance
	}
	return nil
}

// warnLate says when a step is handed out after one that stands behind it in the file: its condition has come to hold
// only now.
func (k *walker) warnLate(c *choice) {
	list, s := k.w.Steps, c.step
	if c.loop != nil {
		s = c.loop
	}
	if c.loop != nil && !c.first || s.RunCondition == nil {
		return
	}
	for _, later := range list[slices.Index(list, s)+1:] {
		if !later.InLoop && k.done(later) {
			k.warn(fmt.Sprintf("the step %q comes after %q, which stands behind it in the file: its condition did not hold before", s.ID, later.ID))
			return
		}
	}
}

// confirm reports whether the user is to be asked before a step. Where that could not be judged, the user is.
func (k *walker) confirm(s *definition.Step, scope *criteria.Scope) bool {
	if s.Confirm.Always || s.Confirm.When == nil {
		return s.Confirm.Always
	}
	holds, err := k.holds(s, s.Confirm.When, scope)
	if err != nil {
		k.warn(fmt.Sprintf("the step %q is to be confirmed: %v", s.ID, err))
	}
	return holds || err != nil
}

// modelHint words a tier as the published API does.
func modelHint(tier string) string {
	return map[string]string{"heavy": "model-with-strong-reasoning", "mid": "general-purpose-model", "lightweight": "fast-model"}[tier]
}
