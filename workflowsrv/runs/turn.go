package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// A turn is one call that concerns a run.
type turn struct {
	standing
	e       *Engine
	log     Log
	who     Caller
	now     *definition.Entry // under the id, if that is another definition than w
	gone    error             // why there is none under the id
	pinned  []byte            // a definition that the run goes by from now on, and that is not yet kept
	pending []Event           // added to r, and not yet kept

	stuck    error // why it is not known at which step r is
	warnings []string
	children []childData // of the step where r is
	joined   string      // what is told of them in place of the prompt
}

// open begins a turn with a run that there is.
func (e *Engine) open(ctx context.Context, who Caller, id string) (*turn, error) {
	log, unkept := e.keeper(ctx)
	r, err := e.take(ctx, log, who.Principal, id)
	if err != nil && log != e.memory {
		// It may have been started when there was no store.
		if kept, fault := e.take(ctx, e.memory, who.Principal, id); fault == nil {
			r, err, log = kept, nil, e.memory
		}
	}
	if err != nil {
		return nil, unknown(id, err, unkept)
	}
	t := &turn{e: e, log: log, who: who, standing: e.standing(r, nil)}
	if t.w, t.now, t.gone, err = e.definition(ctx, log, r); err != nil {
		return nil, err
	}
	if err := t.expire(ctx); err != nil {
		return nil, err
	}
	if t.now != nil || t.gone != nil {
		t.warn("%s", e.Drift(r))
	}
	t.settle(ctx)
	return t, nil
}

func (t *turn) warn(format string, args ...any) {
	t.warnings = append(t.warnings, fmt.Sprintf(format, args...))
}

// note adds an event to the run; flush keeps it.
func (t *turn) note(e Event) {
	e.At, e.By = now(), cmp.Or(e.By, byWorkbench)
	t.pending = append(t.pending, e)
	t.r.add(e)
}

// adopt has the run go by another definition, from a place in its loops.
func adopt(t *turn, w *definition.Workflow, by, state string) {
	t.w, t.now, t.gone, t.warnings, t.pinned, t.r.Digest = w, nil, nil, nil, w.Pinned, store.Digest(w.Pinned)
	t.note(Event{Kind: Rebased, By: by, Digest: t.r.Digest, State: state})
}

// settle finds where the run is after what has happened, which is kept whatever follows from it: why no next step is
// found becomes part of the answer.
func (t *turn) settle(ctx context.Context) {
	t.children, t.joined = nil, ""
	if t.stuck = t.locate(context.WithoutCancel(ctx)); t.stuck != nil {
		t.next, t.args, t.file, t.lack, t.r.Step = stepping.Answer{}, nil, "", nil, ""
	}
}

// follow is settle for what the agent says, who can say it otherwise: the error means that nothing of it is to be kept.
func (t *turn) follow(ctx context.Context) error {
	if t.settle(ctx); t.stuck != nil {
		return fmt.Errorf("%w; nothing of this call was stored", t.stuck)
	}
	return nil
}

// flush keeps what was noted. hold is how long the turn will be at work on the run. While another process calls a tool
// for the run, nothing is kept: the result of that call could not be any more.
func (t *turn) flush(ctx context.Context, hold time.Duration) error {
	if len(t.pending) == 0 {
		return nil
	}
	if time.Now().Before(t.r.Held) {
		return &Error{fmt.Sprintf("another workbench is calling a tool for run %s, and nothing of this call was stored", t.r.ID), "try again when that has ended"}
	}
	change := store.RunChange{After: len(t.r.Events) - len(t.pending), Hold: hold, Definition: t.pinned}
	for _, event := range t.pending {
		text, err := wire.Encode(event)
		if err != nil {
			return err
		}
		t.r.Bytes += len(text)
		change.Events = append(change.Events, text)
	}
	if (t.r.Bytes > maxRunBytes || len(t.r.Events) > maxEvents) && !t.r.Status.Over() {
		return &Error{fmt.Sprintf("run %s has grown to %d events and %d MiB, which is the limit", t.r.ID, len(t.r.Events), t.r.Bytes>>20), "abandon it and start another one"}
	}
	t.attend(ctx, hold > 0)
	t.r.Rests = nil
	if t.next.Step != nil {
		t.r.Rests = t.r.until[t.gate()].Until
	}
	change.Head = wire.MustEncode(t.r.Head)
	// What was told must have been kept, whoever waits for it.
	err := t.log.ChangeRun(context.WithoutCancel(ctx), t.who.Principal, t.r.ID, change)
	if _, ok := errors.AsType[*store.StaleError](err); ok {
		return overtaken(ctx, t.log, t.who.Principal, t.r.ID)
	}
	if err != nil {
		return err
	}
	t.pending, t.pinned, t.r.Updated = nil, nil, now()
	t.e.opts.Moved(t.who.Principal, t.r.ID, false)
	t.r.Held = time.Now().Add(hold)
	return nil
}

// attend has the status say whether a person is asked where the run is, whichever way it came there.
func (t *turn) attend(ctx context.Context, calling bool) {
	if t.r.Status.Over() || t.r.Status == StatusOpen && len(t.r.asked) == 0 {
		return
	}
	if calling || t.asks(ctx) == askNothing {
		t.r.Status = StatusOpen
	} else if _, ok := t.asked(); ok {
		t.r.Status = StatusPerson
	}
}

// overtaken says who has gone on with the run meanwhile.
func overtaken(ctx context.Context, log Log, principal, id string) error {
	const next = "call workflow_next with the run alone to see where it is"
	_, events, err := log.Run(ctx, principal, id, 0)
	var last Event
	if err != nil || len(events) == 0 || json.Unmarshal(events[len(events)-1], &last) != nil {
		return &Error{fmt.Sprintf("somebody else has gone on with run %s, and nothing of this call was stored", id), next}
	}
	return &Error{fmt.Sprintf("somebody else has gone on with run %s at %s (%s %s, by %s), and nothing of this call was stored",
		id, moment(last.At), last.Kind, last.Step, last.By), next}
}

// done gives the run back.
func (t *turn) done() {
	if len(t.pending) == 0 {
		t.e.give(t.who.Principal, t.r)
	}
}

// expire ends the run if nothing has happened in it for too long. It is kept with all its events, and can be taken up
// again.
func (t *turn) expire(ctx context.Context) error {
	at := t.e.expires(t.r)
	if at == nil || time.Now().Before(*at) || time.Now().Before(t.r.Held) {
		return nil
	}
	t.note(Event{Kind: Expired, Text: fmt.Sprintf("nothing had happened in it since %s, for longer than %v", moment(t.r.Updated), t.e.opts.Expire())})
	return t.flush(ctx, 0)
}

// childData is a run that the step is joined from, in an answer.
type childData struct {
	Run      string `json:"run"`
	Workflow string `json:"workflowId"`
	Status   Status `json:"status"`
	Step     string `json:"step,omitempty"`
}
