package runs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// rebase has the run go by the present definition of its workflow. What was done stays done, by the ids of the steps. A
// person has to agree if that definition asks less: who may write its file must not take gates out of a run that is
// under way.
func rebase(ctx context.Context, t *turn, _ Order) (Answer, error) {
	if t.r.Status.Over() {
		return t.over(ctx)
	}
	withdrawn := t.withdraw()
	_, asked := t.r.proposed()
	switch {
	case t.gone != nil:
		return Answer{}, &Error{fmt.Sprintf("run %s cannot use the present definition of %s: %v", t.r.ID, t.r.Workflow, t.gone), "call workflow_next to go on with the one that it has"}
	case asked, t.now == nil && withdrawn:
		return t.goOn(ctx)
	case t.now == nil:
		return Answer{}, &Error{fmt.Sprintf("run %s uses the present definition of %s already", t.r.ID, t.r.Workflow), "call workflow_next to go on"}
	}
	present := t.now.Workflow
	state, err := tryOut(ctx, t.standing, present)
	if err != nil {
		if _, ok := errors.AsType[*stepping.StateError](err); ok {
			return Answer{}, &Error{fmt.Sprintf("run %s is in a loop that is different in the present definition of %s: %v", t.r.ID, t.r.Workflow, err),
				"rewind to an event before the loop, then rebase"}
		}
		return Answer{}, err
	}
	less := asksLess(t.w, present, t.r.completed)
	if len(less) == 0 {
		adopt(t, present, t.who.agent(), state)
	} else {
		t.note(Event{Kind: Asked, Step: rebaseStep, Digest: t.e.digest(present), Definition: present.Pinned, Hash: store.NewID(), Text: t.workflow() +
			" is to go on by a changed file, which asks less than the one it goes by:\n- " + strings.Join(less, "\n- ") + "\nShall it?"})
	}
	t.settle(ctx)
	return t.goOn(ctx)
}

// tryOut finds where the run would be by another definition, and gives the place in the loops by which it is there: that
// of the last step, or, where the definition has not the loop of that any more, the place behind the loop, if the run
// is there.
func tryOut(ctx context.Context, trial standing, w *definition.Workflow) (state string, err error) {
	r := *trial.r
	next := trial.next
	trial.r, trial.w = &r, w
	err = trial.locate(ctx)
	if errors.As(err, new(*stepping.StateError)) && next.Step != nil && next.Loop == nil {
		r.state = next.State
		err = trial.locate(ctx)
	}
	return r.state, err
}

// withdraw takes the question back that a person is asked about a definition, if that is not the present one any more,
// and reports whether it did.
func (t *turn) withdraw() bool {
	p, ok := t.r.proposed()
	if !ok || t.gone != nil || t.now != nil && t.e.digest(t.now.Workflow) == p.Digest {
		return false
	}
	t.note(Event{Kind: Dismissed, Step: rebaseStep, Text: "the file has changed again"})
	return true
}
