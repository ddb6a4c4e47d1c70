package runs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

const (
	// maxChildren bounds the runs that one step begins, and maxDepth how many runs may have begun one another: a
	// workflow that names itself would go on for ever.
	maxChildren = 32
	maxDepth    = 8
	// maxResults is how much is told of the results of the runs of one step, and least how much of each anyway.
	maxResults = 16 << 10
	least      = 1 << 10
)

// join begins the runs of a parallel step, each once, and answers as long as one of them is not over. When all are, the
// step itself is the agent's, who is told what came of them. Workflows that are not there leave the whole step to the
// agent.
func (t *turn) join(ctx context.Context) (*Answer, error) {
	began, ok := t.r.children[t.gate()]
	if !ok {
		if t.r.Events[0].Depth >= maxDepth {
			t.warn("workbench begins no more runs below this one: %d have begun one another already; do this step without",
				maxDepth)
			return nil, nil
		}
		began = t.at(Intended)
		var err error
		if began.Children, err = t.wanted(ctx, t.e.opts.Find); err != nil {
			return some(t.stays(ctx, err))
		}
		if len(began.Children) == 0 {
			return nil, nil
		}
		t.note(began)
	}
	if err := t.flush(ctx, 0); err != nil { // No run is begun that this one does not know of.
		return nil, err
	}
	open := 0
	t.children = nil
	var todo, results strings.Builder
	for _, c := range began.Children {
		r, err := t.child(ctx, c)
		if errors.As(err, new(*Error)) {
			return some(t.stays(ctx, err))
		} else if err != nil {
			return nil, err
		}
		d := childData{Run: c.Run, Workflow: c.Workflow, Status: r.Status}
		goal := ""
		if c.Goal != "" {
			goal = ": " + c.Goal
		}
		if r.Status.Over() {
			fmt.Fprintf(&results, "\n- %s, %s%s: %s", c.Run, c.Workflow, goal, r.Status)
			if text := r.result(max(maxResults/len(began.Children), least)); text != "" {
				results.WriteString(".\n" + text)
			}
		} else {
			d.Step = r.Step
			open++
			fmt.Fprintf(&todo, "\n- workflow_next {\"run\":%q}, %s%s", c.Run, c.Workflow, goal)
			if c.Note != "" {
				todo.WriteString(" (" + c.Note + ")")
			}
		}
		t.children = append(t.children, d)
	}
	over := len(began.Children) - open
	if open == 0 {
		t.joined = "The results of the runs of this step:" + results.String()
		if s := t.next.Step.Synthesis; s != "" {
			t.joined += "\n\n" + stepping.Fill(s, t.scope(ctx))
		}
		return nil, nil
	}
	return some(t.answer(ctx, stateRuns, fmt.Sprintf("%s, step %s: %s\n\n%d of %d runs of this step are over. Do these, in parallel if you can use other agents, each from its "+
		"first step to its end:%s\n\nThen call workflow_next {\"run\":%q}.", t.r.ID, t.next.Step.ID, t.next.Step.Title, over, len(began.Children), todo.String(), t.r.ID)))
}

// child returns a run that this one has begun; one that is not there begins now, also if it was deleted.
func (t *turn) child(ctx context.Context, c Child) (*Run, error) {
	kept, events, err := t.log.Run(ctx, t.who.Principal, c.Run, 0)
	if errors.Is(err, store.ErrNotFound) {
		entry, fault := t.e.opts.Find(c.Workflow)
		if fault != nil {
			return nil, &Error{fmt.Sprintf("the run %s of this step is not there, and no other can begin in its place: the workflow %s: %v", c.Run, c.Workflow, fault),
				"put the workflow there, or go back to before this step to do it without"}
		}
		fresh := &Run{ID: c.Run, Workflow: entry.ID, Digest: t.e.digest(entry.Workflow), Head: Head{Name: entry.Name}, place: newPlace()}
		started := Event{Kind: Started, At: now(), By: t.who.agent(), Workflow: entry.ID, Digest: fresh.Digest, Goal: c.Goal, Context: c.Context,
			From: t.r.ID, Depth: t.r.Events[0].Depth + 1, Repository: t.r.Repository, Branch: t.r.Branch, Conditions: t.r.compares}
		fresh.add(started)
		s := t.e.standing(fresh, entry.Workflow)
		_ = s.locate(ctx) // What keeps it from going on is told there.
		err = t.e.begin(ctx, t.log, t.who.Principal, fresh, entry.Pinned)
		if err != nil && !errors.As(err, new(*store.StaleError)) { // Another call may have begun it at the same time.
			return nil, err
		}
		kept, events, err = t.log.Run(ctx, t.who.Principal, c.Run, 0)
		if err != nil {
			return nil, err
		}
		return Open(kept, events)
	}
	if err != nil {
		return nil, err
	}
	return Open(kept, events)
}

// abandonChildren gives up the runs that this one has begun, with the run itself: also those of branches that were left.
func (t *turn) abandonChildren(ctx context.Context) error {
	var children []Child
	for _, e := range t.r.Events {
		children = append(children, e.Children...)
	}
	for _, c := range children {
		child, err := t.e.open(ctx, t.who, c.Run)
		if _, ok := errors.AsType[*Error](err); ok {
			continue // It was deleted, or never began.
		} else if err != nil {
			return err
		}
		if !child.r.Status.Over() && child.r.Events[0].From == t.r.ID { // A fork has those of the first run in its events.
			if err := child.abandonChildren(ctx); err != nil {
				return err
			}
			child.note(Event{Kind: Abandoned, By: t.who.agent(), Text: t.r.ID + " was abandoned, which it belongs to"})
			if err := child.flush(ctx, 0); err != nil {
				return err
			}
		}
		child.done()
	}
	return nil
}

// wanted are the runs that the step wants begun; none where one of them cannot be.
func (s *standing) wanted(ctx context.Context, find func(id string) (*definition.Entry, error)) ([]Child, error) {
	var list []Child
	scope := s.scope(ctx)
	for _, d := range s.next.Step.Delegations {
		if d.When != nil {
			applies, err := d.When.Holds(scope)
			if err != nil {
				return nil, err
			}
			if !applies {
				continue
			}
		}
		if _, err := find(d.WorkflowID); err != nil || len(list) == maxChildren {
			return nil, nil
		}
		handed, err := stepping.Handed(d, scope)
		if err != nil {
			return nil, err
		}
		variables := wire.MustEncode(handed)
		if len(variables) > maxContext {
			return nil, tooMuch("the context for the workflow "+d.WorkflowID, len(variables), maxContext)
		}
		goal, _, err := stepping.FillData(d.Goal, scope)
		switch {
		case errors.As(err, new(stepping.UnknownError)):
			goal = d.Goal
		case err != nil:
			return nil, fmt.Errorf("the goal for the workflow %s: %w", d.WorkflowID, err)
		case len(goal) > maxGoal:
			return nil, tooMuch("the goal for the workflow "+d.WorkflowID, len(goal), maxGoal)
		}
		c := Child{Run: newID(), Workflow: d.WorkflowID, Goal: goal, Context: variables}
		if len(d.AllowedTools) > 0 {
			c.Note = "only with the tools " + strings.Join(d.AllowedTools, ", ")
		}
		list = append(list, c)
	}
	return list, nil
}
