package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// unsought reports whether the step calls a tool that may change something, and nobody can be taken to want that: the
// workflow came with a project, or the call was made before the agent rewound the run.
func (t *turn) unsought(ctx context.Context) bool {
	a := t.next.Step.Act
	if a == nil || a.Kind != definition.ActTool {
		return false
	}
	if e, err := t.e.opts.Find(t.r.Workflow); !t.calledBefore() && err == nil && !e.Origin.IsForeign() && t.e.digest(e.Workflow) == t.r.Digest {
		return false
	}
	if t.e.opts.Tools == nil {
		return true
	}
	readOnly, _ := t.e.opts.Tools.Hints(ctx, a.Toolbox, a.Server, a.Tool)
	return !readOnly
}

// repeatable reports whether the call that may have been made is one that the step makes still, and that may be made twice.
// Whatever else a person is asked before it is asked before it is made again, too.
func (t *turn) repeatable(ctx context.Context) bool {
	a := t.next.Step.Act
	return harmless(ctx, t.e.opts.Tools, a) && t.r.intents[t.gate()].Tool == toolName(a)
}

// act carries out the step where the run is, which is not the agent's. An answer means that the run does not go on yet.
func (t *turn) act(ctx context.Context) (*Answer, error) {
	if t.next.Step.Act.Kind == definition.ActWait {
		return t.wait(ctx)
	}
	return t.call(ctx)
}

// call calls the tool of the step where the run is. What is about to be done is kept before, and what came of it after.
func (t *turn) call(ctx context.Context) (*Answer, error) {
	a := t.next.Step.Act
	if t.e.opts.Tools == nil {
		return t.failed(ctx, "this workbench calls no tools by itself; start it with workbench serve")
	}
	if t.who.May != nil && !t.who.May(a.Toolbox) {
		return t.failed(ctx, fmt.Sprintf("there is no toolbox %q for this user", a.Toolbox))
	}
	if t.held() {
		return some(t.answer(ctx, stateWaiting, fmt.Sprintf("Another workbench is calling %s for %s. Call workflow_next {\"run\":%q} again in a moment.", toolName(a), t.r.ID, t.r.ID)))
	}
	if t.lack != nil {
		return t.failed(ctx, t.lack.Error())
	}
	for {
		failures := t.r.failures[t.gate()]
		if failures > a.Retries || failures > 0 && ctx.Err() != nil {
			return t.failed(ctx, t.lastFailure())
		}
		intent := t.at(Intended)
		intent.Tool, intent.Arguments, intent.Attempt = toolName(a), t.args, failures+1
		t.note(intent)
		if err := t.flush(ctx, t.e.opts.hold); err != nil {
			return nil, err
		}
		raw, err := hold(ctx, t.e.opts.Tools, a, t.args, t.e.opts.hold/3, func(ctx context.Context) error {
			return t.log.HoldRun(ctx, t.who.Principal, t.r.ID, len(t.r.Events), t.e.opts.hold)
		})
		t.r.Held = time.Time{}
		if err != nil && !errors.As(err, new(*NotMadeError)) && !harmless(ctx, t.e.opts.Tools, a) {
			// Nobody knows what became of it. The intent stays, and a person is asked.
			lost := t.at(Lost)
			lost.Tool, lost.Text = toolName(a), cut.After(err.Error(), maxFailure)
			t.note(lost)
			return some(inquiry{t, askUnknown}.ask(ctx))
		}
		if done, err := t.returned(ctx, a, raw, err); done || err != nil {
			return nil, err
		}
	}
}

// returned keeps what came of a call, and reports whether the step is done.
func (t *turn) returned(ctx context.Context, a *definition.Act, raw json.RawMessage, err error) (bool, error) {
	ctx = context.WithoutCancel(ctx)
	result, failure := resultOf(raw)
	if err != nil {
		failure = err.Error()
	}
	event := t.at(Returned)
	event.Tool, event.Result, event.Text = toolName(a), result, failure
	if failure == "" && a.Expect != nil {
		holds, err := a.Expect.Holds(t.scope(ctx).With(decode(variable(cmp.Or(a.Result, "result"), result))))
		if !holds || err != nil {
			event.Text = "the result is not what the step expects"
		}
	}
	if failure = event.Text; failure == "" && a.Result != "" {
		event.Result = nil // It becomes a variable, which the next event has.
	}
	done := t.at(Done)
	t.note(event)
	if failure != "" {
		return false, t.flush(ctx, 0)
	}
	done.By, done.State = byWorkbench, t.next.State
	if a.Result != "" {
		done.Context = variable(a.Result, result)
	}
	t.note(done)
	t.settle(ctx)
	return true, t.flush(ctx, 0)
}

// variable is the context of an event that sets one.
func variable(name string, value json.RawMessage) json.RawMessage {
	return wire.MustEncode(map[string]json.RawMessage{name: value})
}

// stays says why the run does not go on from where it is, and what can be done.
func (t *turn) stays(ctx context.Context, why error) (Answer, error) {
	return t.answer(ctx, stateFailed, fmt.Sprintf("%s does not go on: %v\n\nWhat was done is stored. Remove the cause, or set a variable otherwise with "+
		"workflow_next {\"run\":%q,\"context\":{…}}, or go back with workflow_run and the action rewind. Then call workflow_next {\"run\":%q}.", t.r.ID, why, t.r.ID, t.r.ID))
}

// failed says that the tool of the step has failed, and how to go on.
func (t *turn) failed(ctx context.Context, why string) (*Answer, error) {
	return some(t.answer(ctx, stateFailed, fmt.Sprintf("%s is at the step %q, which calls %s by itself. That failed: %s\n\nRemove the cause, or set a variable with context. "+
		"Then workflow_next {\"run\":%q,\"step\":%q} calls it again.", t.r.ID, t.next.Step.Title, toolName(t.next.Step.Act), why, t.r.ID, t.ref())))
}

// begins is the event that the waiting of the step begins. hook is the secret of the address that was given out before,
// "" for none.
func (t *turn) begins(hook string) Event {
	a, began := t.next.Step.Act, t.at(Intended)
	if d := max(a.For, a.Timeout); d > 0 {
		until := time.Now().Add(d).UTC().Truncate(time.Millisecond)
		began.Until = &until
	}
	if a.Webhook {
		began.Hook = cmp.Or(hook, secret())
	}
	return began
}

// wait waits at the step where the run is, as long as one call may. How long was kept when the waiting began.
func (t *turn) wait(ctx context.Context) (*Answer, error) {
	a := t.next.Step.Act
	if t.lack != nil {
		return some(t.stays(ctx, fmt.Errorf("the file that the step %q waits for: %w", t.next.Step.Title, t.lack)))
	}
	began, ok := t.r.until[t.gate()]
	if !ok {
		began = t.begins("")
		t.note(began)
	}
	if err := t.flush(ctx, 0); err != nil { // The waiting may take longer than the caller has patience.
		return nil, err
	}
	if a.Webhook {
		return t.waitHook(ctx, began)
	}
	over := func() bool {
		if a.File != "" {
			return t.there()
		}
		return !time.Now().Before(*began.Until)
	}
	if !over() {
		ctx, cancel := context.WithTimeout(ctx, t.e.opts.patience)
		defer cancel()
		look := time.NewTicker(100 * time.Millisecond)
		defer look.Stop()
		for !over() && !t.late() && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-look.C:
			}
		}
	}
	if over() {
		done := t.at(Done)
		done.By, done.State = byWorkbench, t.next.State
		t.note(done)
		t.settle(ctx)
		return nil, nil
	}
	if t.late() {
		return nil, nil // A person is asked.
	}
	what := "for the file " + t.file
	if a.File == "" {
		what = "until " + began.Until.Format(time.RFC3339)
	}
	return some(t.answer(ctx, stateWaiting, fmt.Sprintf("%s waits %s. Call workflow_next {\"run\":%q} again later.", t.r.ID, what, t.r.ID)))
}
