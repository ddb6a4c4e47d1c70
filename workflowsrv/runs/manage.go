package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// An Order changes a run otherwise than by a step.
type Order struct {
	Run    string
	Action string // one of actions
	// Name is that of a checkpoint, which is set or gone back to.
	Name string
	// To is the number of the event to go back to or to fork from, where no checkpoint is named; 0: the last.
	To int
	// Reason is why a run is abandoned.
	Reason string
}

// An action is what an order may be for.
type action struct {
	name string
	do   func(ctx context.Context, t *turn, o Order) (Answer, error)
}

const actionFork = "fork"

func actions() []action {
	return []action{
		{"checkpoint", checkpoint}, // gives the place where the run is a name
		{"rewind", rewind},         // goes back; what came after stays in the record
		{actionFork, fork},         // begins another run from a place of this one
		{"abandon", abandon},       // gives the run up
		{"rebase", rebase},         // takes the present definition of the workflow
	}
}

// Manage carries out an order.
func (e *Engine) Manage(ctx context.Context, who Caller, o Order) (Answer, error) {
	if a, err := e.reply(ctx, who); a != nil || err != nil {
		return value(a), err
	}
	t, err := e.open(ctx, who, o.Run)
	if err != nil {
		return Answer{}, err
	}
	defer t.done()
	var names []string
	for _, a := range actions() {
		if a.name == o.Action {
			return a.do(ctx, t, o)
		}
		names = append(names, a.name)
	}
	hint := nearest.Before(o.Action, names, "known are "+strings.Join(names, ", "))
	return Answer{}, &Error{fmt.Sprintf("there is no action %q", cut.Short(o.Action)), hint}
}

func abandon(ctx context.Context, t *turn, o Order) (Answer, error) {
	if t.r.Status.Over() {
		return t.over(ctx)
	}
	if err := t.abandonChildren(ctx); err != nil {
		return Answer{}, err
	}
	t.note(Event{Kind: Abandoned, By: t.who.agent(), Text: cut.Short(o.Reason)})
	return t.over(ctx)
}

func checkpoint(ctx context.Context, t *turn, o Order) (Answer, error) {
	if o.To != 0 {
		return Answer{}, &Error{"a checkpoint is where the run is, not at an event", "leave out to, or rewind to the event first"}
	}
	name := cmp.Or(checkpointName(o), fmt.Sprintf("checkpoint %d", len(t.r.Events)+1))
	if t.r.Status.Over() {
		return t.over(ctx)
	}
	t.note(Event{Kind: Checkpoint, By: t.who.agent(), Text: name})
	return t.answer(ctx, stateCheckpoint, fmt.Sprintf("%s has the checkpoint %q, event %d. To come back to it: workflow_run {\"run\":%q,\"action\":\"rewind\",\"name\":%s}.",
		t.r.ID, name, len(t.r.Events), t.r.ID, quoted(name)))
}

// checkpointName is the name in an order, as it is kept.
func checkpointName(o Order) string { return cut.Short(strings.TrimSpace(o.Name)) }

// placeOf finds the event that an order names.
func (r *Run) placeOf(o Order) (int, error) {
	name := checkpointName(o)
	if name == "" {
		switch {
		case o.To == 0 && o.Action == actionFork:
			return len(r.Events), nil
		case o.To == 0:
			return 0, &Error{"nothing says where to rewind to", "give the name of a checkpoint as name, or the number of an event as to"}
		case o.To < 1 || o.To > len(r.Events):
			return 0, &Error{fmt.Sprintf("run %s has the events 1 to %d, not %d", r.ID, len(r.Events), o.To),
				"answers say the number of the last event, and workbench runs show lists them"}
		}
		return o.To, nil
	}
	if o.To != 0 {
		return 0, &Error{fmt.Sprintf("the checkpoint %q and the event %d are two places", name, o.To), "give name or to, not both"}
	}
	var names []string
	for i, e := range slices.Backward(r.Events) {
		if e.Kind == Checkpoint {
			if e.Text == name {
				return i + 1, nil
			}
			names = append(names, strconv.Quote(e.Text))
		}
	}
	return 0, &Error{fmt.Sprintf("run %s has no checkpoint %q", r.ID, name), "it has " + cmp.Or(strings.Join(names, ", "), "none")}
}

func rewind(ctx context.Context, t *turn, o Order) (Answer, error) {
	to, err := t.r.placeOf(o)
	if err != nil {
		return Answer{}, err
	}
	t.note(Event{Kind: Rewound, By: t.who.agent(), To: to, Text: cut.Short(o.Reason)})
	if err := t.follow(ctx); errors.As(err, new(*stepping.StateError)) {
		return Answer{}, err // No variable would help there.
	}
	a, err := t.goOn(ctx)
	if err == nil && a.Question == nil {
		a.Text = t.recap(t.e.expires(t.r)) + "\n\n" + a.Text
	}
	return a, err
}

// fork begins another run with the events that led to a place of this one.
func fork(ctx context.Context, t *turn, o Order) (Answer, error) {
	to, err := t.r.placeOf(o)
	if err != nil {
		return Answer{}, err
	}
	upto := &Run{Events: t.r.Events[:to:to]}
	fresh := &Run{ID: newID(), Workflow: t.r.Workflow, Head: Head{Name: t.r.Name}, place: newPlace()}
	line, done := upto.Line(), map[string]bool{}
	for _, i := range line {
		if e := upto.Events[i]; e.Kind == Done {
			done[gate(e.Step, e.Pass)] = true
		}
	}
	for _, i := range line {
		e := upto.Events[i]
		switch e.Kind {
		case Rewound, Finished, Abandoned, Expired:
			continue // The line is straight in the fork, and goes on.
		case Asked, Dismissed, Coded, Refused, Answered, Intended, Lost:
			if !done[gate(e.Step, e.Pass)] {
				continue // A person answers for each run, which waits, calls tools and begins runs by itself.
			}
		}
		fresh.add(e)
	}
	forked := Event{Kind: Forked, By: t.who.agent(), From: t.r.ID, To: to, At: now()}
	for _, e := range t.r.Events {
		if at := gate(e.Step, e.Pass); e.Kind == Intended && e.Tool != "" && !done[at] && !slices.Contains(forked.Called, at) {
			forked.Called = append(forked.Called, at)
		}
		forked.Called = append(forked.Called, e.Called...)
	}
	fresh.add(forked)
	fresh.Status = StatusOpen
	definition, err := t.log.Definition(ctx, t.r.Digest)
	if err != nil {
		return Answer{}, err
	}
	s := t.e.standing(fresh, t.w)
	_ = s.locate(ctx) // What keeps it from going on is told then.
	if err := t.e.begin(ctx, t.log, t.who.Principal, fresh, definition); err != nil {
		return Answer{}, err
	}
	f, err := t.e.open(ctx, t.who, fresh.ID)
	if err != nil {
		return Answer{}, err
	}
	defer f.done()
	a, err := f.goOn(ctx)
	if err == nil && a.Question == nil {
		a.Text = fmt.Sprintf("%s was forked from %s at event %d.\n\n%s", fresh.ID, t.r.ID, to, a.Text)
	}
	return a, err
}
