package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// A Step is what an agent says when it calls workflow_next about a run. With the run alone it asks where that is.
type Step struct {
	Run string
	// ID is the step that is done, in a loop with the pass, as in item#2; "" is the one where the run is, if anything
	// is said of it.
	ID        string
	Output    string
	Notes     string
	Artifacts []json.RawMessage
	Context   json.RawMessage // the variables that changed
	// Code is a one-time code that a person has given the agent.
	Code string
}

// says reports whether anything is said of a step.
func (s Step) says() bool { return s.ID != "" || s.brings() }

// brings reports whether the call has what came of a step.
func (s Step) brings() bool { return s.Output != "" || s.Notes != "" || len(s.Artifacts) > 0 }

// sameJSON reports whether two texts are the same JSON but for the spaces, which are not kept.
func sameJSON(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(wire.MustEncode(a), wire.MustEncode(b))
}

// Next takes what an agent has done, and says what is next.
func (e *Engine) Next(ctx context.Context, who Caller, s Step) (Answer, error) {
	if err := s.check(); err != nil {
		return Answer{}, err
	}
	if a, err := e.reply(ctx, who); a != nil || err != nil {
		return value(a), err
	}
	t, err := e.open(ctx, who, s.Run)
	if err != nil {
		return Answer{}, err
	}
	defer t.done()
	if t.r.Status.Over() {
		return t.over(ctx)
	}
	if s.Code != "" {
		at := inquiry{t, t.asks(ctx)}
		if err := at.useCode(ctx, s.Code); err != nil {
			return Answer{}, err
		}
		return t.goOn(ctx)
	}
	if !s.says() {
		if len(s.Context) > 0 {
			if err := t.learn(ctx, s.Context); err != nil {
				return Answer{}, err
			}
		}
		return t.goOn(ctx)
	}
	if again, err := t.repeated(s); again || err != nil {
		if awaited := t.awaited(s.Context); err == nil && awaited != nil {
			t.warn("the variables of this call were stored")
			err = t.learn(ctx, awaited)
		}
		if err != nil {
			return Answer{}, err
		}
		return t.goOn(ctx)
	}
	return t.take(ctx, s)
}

func (s Step) check() error {
	size := 0
	for _, a := range s.Artifacts {
		size += len(a)
	}
	switch {
	case len(s.Notes) > maxNotes:
		return tooMuch("notes", len(s.Notes), maxNotes)
	case size > maxArtifacts:
		return tooMuch("artifacts", size, maxArtifacts)
	case len(s.Context) > maxContext:
		return tooMuch("context", len(s.Context), maxContext)
	}
	return nil
}

// repeated reports whether a call tells of a step that was kept already: its answer was lost, or it was sent twice. A
// step that is neither done nor the one where the run is, is an error.
func (t *turn) repeated(s Step) (bool, error) {
	id, pass := s.ID, 0
	if step, number, ok := strings.Cut(id, "#"); ok {
		if n, err := strconv.Atoi(number); err == nil && n > 0 && strconv.Itoa(n) == number { // otherwise it is no step's id
			id, pass = step, n
		}
	}
	last := t.r.last
	same := last.Step != "" && s.brings() && last.Output == s.Output && last.Notes == s.Notes && slices.EqualFunc(last.Artifacts, s.Artifacts, sameJSON)
	here := t.next.Step
	switch {
	case s.ID == "" && same:
		t.warn("this was stored already, as the result of the step %s", last.Step)
		return true, nil
	case s.ID == "":
		return false, nil
	case pass > 0 && t.r.doneAt[gate(id, pass)] != "":
		t.warn("the step %s was done before in pass %d, and nothing that this call says of it was stored", id, pass)
		return true, nil
	case here != nil && here.ID == id && (pass == 0 || gate(id, pass) == t.gate()):
		// In a loop the same step comes again; the same words about it are the last pass told twice.
		if pass == 0 && last.Step == id && same && t.next.Loop != nil && last.Pass > 0 && last.Pass == t.next.Loop.Iteration-1 {
			t.warn("this was stored already, as the result of the step %s in pass %d; say something of pass %d", id, last.Pass, t.next.Loop.Iteration)
			return true, nil
		}
		return false, nil
	case pass == 0 && t.r.wasDone(id):
		t.warn("the step %s was done before, and nothing that this call says of it was stored", id)
		return true, nil
	}
	at, next := "waits for variables", "send them first, as workflow_next with the run alone says"
	if here != nil {
		at, next = fmt.Sprintf("is at the step %q", t.ref()), "do that one first; workflow_next with the run alone shows it"
	}
	if t.w.Step(id) == nil {
		hint := ""
		if near := nearest.Names(id, t.w.StepIDs(), 1); len(near) > 0 {
			hint = fmt.Sprintf("; did you mean %q?", near[0])
		}
		return false, &Error{fmt.Sprintf("the workflow %s has no step %q%s; the run %s", t.r.Workflow, cut.Short(s.ID), hint, at), "call workflow_next with the run alone to see it"}
	}
	return false, &Error{fmt.Sprintf("the step %q is not the next one: the run %s", s.ID, at), next}
}

// wasDone reports whether a step was done on the line where the run is, in any pass.
func (r *Run) wasDone(id string) bool {
	for at := range r.doneAt {
		if strings.HasPrefix(at, id+"#") {
			return true
		}
	}
	return false
}

// take keeps what an agent says of the step where the run is, if that will do.
func (t *turn) take(ctx context.Context, s Step) (Answer, error) {
	here := t.next.Step
	t.withdraw()
	if _, asked := t.r.proposed(); here == nil && !asked {
		if err := t.learn(ctx, s.Context); err != nil {
			return Answer{}, err
		}
		if t.next.Step == nil {
			t.warn("nothing about a step was stored: the run is at none")
		}
		return t.goOn(ctx)
	}
	switch why := t.asks(ctx); {
	case why != askNothing: // It is not the agent's to say what the person says.
		e := t.about(Refused)
		e.By, e.Text = t.who.agent(), "the agent said that the step was done"
		t.note(e)
		t.warn("nothing of this call was stored: a person has to answer first")
		return t.goOn(ctx)
	case here.Act != nil:
		if err := t.learn(ctx, s.Context); err != nil {
			return Answer{}, err
		}
		if t.next.Step != here {
			return t.goOn(ctx) // The variables lead past the step.
		}
		if here.Act.Kind == definition.ActTool && t.r.failures[t.gate()] > 0 {
			again := t.at(Noted)
			again.By, again.Text = t.who.agent(), "call the tool again"
			t.note(again)
			return t.goOn(ctx)
		}
		t.warn("nothing that this call says of the step was stored: workbench carries out the step %s by itself", here.ID)
		return t.goOn(ctx)
	case len(here.Delegations) > 0:
		if a, err := t.join(ctx); a != nil || err != nil {
			t.warn("nothing of this call was stored: the runs of the step %s come first", here.ID)
			return value(a), err
		}
	}
	changed, err := t.changes(s.Context)
	if err != nil {
		return Answer{}, err
	}
	variables := t.r.context
	if len(changed) > 0 {
		variables = maps.Clone(variables)
		maps.Copy(variables, decode(changed))
	}
	if l := t.next.Loop; l != nil {
		variables = maps.Clone(variables)
		maps.Copy(variables, l.Variables)
	}
	done := t.at(Done)
	done.By, done.Output, done.Notes, done.Artifacts, done.Context, done.State =
		t.who.agent(), s.Output, s.Notes, slices.Clone(s.Artifacts), changed, t.next.State
	r := judge(ctx, t.w, here, done.Loop, submission{s.Output, s.Notes, s.Artifacts}, variables, t.criteria)
	if len(r.reasons) > 0 {
		blocked := t.at(Blocked)
		blocked.By, blocked.Reasons = t.who.agent(), r.reasons
		t.note(blocked)
		return t.answer(ctx, stateBlocked, t.refused(r), r.reasons...)
	}
	t.note(done)
	if err := t.follow(ctx); err != nil {
		return Answer{}, err
	}
	return t.goOn(ctx)
}
