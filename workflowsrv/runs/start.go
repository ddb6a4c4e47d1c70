package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Start begins a run of a workflow.
func (e *Engine) Start(ctx context.Context, who Caller, workflow, goal string, variables json.RawMessage) (Answer, error) {
	if len(goal) > maxGoal {
		return Answer{}, &Error{fmt.Sprintf("the goal has %d bytes, which is more than %d", len(goal), maxGoal), "say it in a few sentences"}
	}
	if len(variables) > maxContext {
		return Answer{}, tooMuch("context", len(variables), maxContext)
	}
	if a, err := e.reply(ctx, who); a != nil || err != nil {
		return value(a), err
	}
	entry, err := e.opts.Find(workflow)
	if err != nil {
		return Answer{}, err
	}
	log, fault := e.keeper(ctx)
	fresh := &Run{ID: newID(), Workflow: entry.ID, Digest: e.digest(entry.Workflow), Head: Head{Name: entry.Name}, place: newPlace()}
	t := &turn{e: e, log: log, who: who, standing: e.standing(fresh, entry.Workflow)}
	if fault != nil {
		t.warn("this run is kept in memory and is gone when workbench ends: %v", fault)
	} else if log == e.memory {
		t.warn("this run is kept in memory and is gone when workbench ends")
	}
	started := Event{Kind: Started, By: who.agent(), Workflow: entry.ID, Digest: t.r.Digest, Goal: strings.TrimSpace(goal), Context: variables, Conditions: e.compares()}
	if e.opts.Where != nil {
		started.Repository, started.Branch = e.opts.Where()
	}
	t.note(started)
	if err := t.follow(ctx); err != nil {
		return Answer{}, err
	}
	if err := e.begin(ctx, log, who.Principal, fresh, entry.Pinned); err != nil {
		return Answer{}, err
	}
	if t.r, err = e.take(ctx, log, who.Principal, t.r.ID); err != nil {
		return Answer{}, err
	}
	t.pending = nil
	defer t.done()
	a, err := t.goOn(ctx)
	if err == nil && a.Question == nil {
		a.Text = rules(t.w, a.Text) + a.Text
	}
	return a, err
}

// begin keeps a run that is not kept yet.
func (e *Engine) begin(ctx context.Context, log Log, principal string, r *Run, definition []byte) error {
	r.Bytes = 0
	var events []json.RawMessage
	for _, event := range r.Events {
		text, err := wire.Encode(event)
		if err != nil {
			return err
		}
		r.Bytes += len(text)
		events = append(events, text)
	}
	kept := store.Run{ID: r.ID, Workflow: r.Workflow, Head: wire.MustEncode(r.Head)}
	if err := log.StartRun(context.WithoutCancel(ctx), principal, kept, definition, events...); err != nil {
		return err
	}
	e.opts.Moved(principal, r.ID, true)
	return nil
}
