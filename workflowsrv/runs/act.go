package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// Tools are what steps call.
type Tools interface {
	// CallTool calls a tool and returns the result as the server sent it. An error that is not a *NotMadeError leaves open
	// whether the call was made.
	CallTool(ctx context.Context, toolbox, server, tool string, arguments json.RawMessage) (json.RawMessage, error)
	// Hints say what a tool says of itself: that it changes nothing, and that to call it twice is as good as once.
	Hints(ctx context.Context, toolbox, server, tool string) (readOnly, idempotent bool)
}

// NotMadeError says why a call was not made, or that the server refused it.
type NotMadeError struct{ Err error }

func (e *NotMadeError) Error() string { return e.Err.Error() }

func (e *NotMadeError) Unwrap() error { return e.Err }

const (
	// maxResult is the most of a result that becomes a variable.
	maxResult = 256 << 10
	// callFor is how long a call may take whose step says nothing.
	callFor = 5 * time.Minute
)

func toolName(a *definition.Act) string { return a.Toolbox + "/" + a.Server + "/" + a.Tool }

// scope is what the texts and conditions of the step where the run is see.
func (t *turn) scope(ctx context.Context) *criteria.Scope {
	return criteria.NewScope(ctx, t.variables(), t.e.opts.Criteria.Mode)
}

// variables are those of the run and of the pass of its loop.
func (t *turn) variables() map[string]any {
	if t.next.Loop == nil {
		return t.r.context
	}
	all := maps.Clone(t.r.context)
	maps.Copy(all, t.next.Loop.Variables)
	return all
}

// unknown reports whether a call may have been made whose result is not there, and nobody is at work on it.
func (t *turn) unknown() bool {
	_, ok := t.r.intents[t.gate()]
	return ok && !t.held()
}

// held reports whether another process calls the tool at this time.
func (t *turn) held() bool {
	if t.next.Step == nil {
		return false // The run is over, or waits for variables.
	}
	_, ok := t.r.intents[t.gate()]
	return ok && time.Now().Before(t.r.Held)
}

// harmless reports whether the tool of the step may be called twice.
func (t *turn) harmless(ctx context.Context) bool {
	a := t.next.Step.Act
	if t.e.opts.Tools == nil || a == nil || a.Kind != definition.ActTool {
		return false
	}
	readOnly, idempotent := t.e.opts.Tools.Hints(ctx, a.Toolbox, a.Server, a.Tool)
	return readOnly || idempotent
}

// unsought reports whether the step calls a tool that may change something, and nobody can be taken to want that: the workflow
// came with a project, or the call was made before the agent rewound the run.
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

// calledBefore reports whether the tool of the step was called in a branch that the run has left by a rewind.
func (t *turn) calledBefore() bool {
	line := t.r.Line()
	if len(line) == len(t.r.Events) {
		return false
	}
	at := t.gate()
	for i, e := range t.r.Events {
		if e.Kind == Intended && e.Tool != "" && gate(e.Step, e.Pass) == at && !slices.Contains(line, i) {
			return true
		}
	}
	return false
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
		answer := t.answer(stateWaiting, fmt.Sprintf("Another workbench is calling %s for %s. Call workflow_next {\"run\":%q} again in a moment.", toolName(a), t.r.ID, t.r.ID))
		return &answer, nil
	}
	arguments, err := t.arguments(ctx, a)
	if err != nil {
		return t.failed(ctx, err.Error())
	}
	for {
		failures := t.r.failures[t.gate()]
		if failures > a.Retries {
			return t.failed(ctx, t.lastFailure())
		}
		intent := t.at(Intended)
		intent.Tool, intent.Arguments, intent.Attempt = toolName(a), arguments, failures+1
		t.note(intent)
		if err := t.flush(ctx, t.e.opts.hold, nil); err != nil {
			return nil, err
		}
		raw, err := t.hold(ctx, a, arguments)
		var not *NotMadeError
		if err != nil && !errors.As(err, &not) && !t.harmless(ctx) {
			// Nobody knows what became of it. The intent stays, and a person is asked.
			t.r.Held = time.Time{}
			answer, err := t.askPerson(ctx, askUnknown)
			return &answer, err
		}
		if done, err := t.returned(ctx, a, raw, err); done || err != nil {
			return nil, err
		}
	}
}

// hold makes the call, and says meanwhile that this process is at work on the run.
func (t *turn) hold(ctx context.Context, a *definition.Act, arguments json.RawMessage) (json.RawMessage, error) {
	wait := callFor
	if a.Timeout > 0 {
		wait = a.Timeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("%s did not answer within %v", toolName(a), wait))
	defer cancel()
	ended := make(chan struct{})
	defer func() { <-ended }()
	beat, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go func() {
		defer close(ended)
		tick := time.NewTicker(t.e.opts.hold / 3)
		defer tick.Stop()
		for {
			select {
			case <-beat.Done():
				return
			case <-tick.C:
				_ = t.log.HoldRun(beat, t.who.Principal, t.r.ID, len(t.r.Events), t.e.opts.hold) // The call goes on all the same.
			}
		}
	}()
	raw, err := t.e.opts.Tools.CallTool(ctx, a.Toolbox, a.Server, a.Tool, arguments)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return raw, err
}

// returned keeps what came of a call, and reports whether the step is done.
func (t *turn) returned(ctx context.Context, a *definition.Act, raw json.RawMessage, err error) (bool, error) {
	result, failure := resultOf(raw)
	if err != nil {
		failure = err.Error()
	}
	event := t.at(Returned)
	event.Tool, event.Result, event.Text = toolName(a), result, failure
	if failure == "" && a.Expect != nil {
		name := a.Result
		if name == "" {
			name = "result"
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(result))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return false, err
		}
		holds, err := a.Expect.Holds(t.scope(ctx).With(map[string]any{name: v}))
		if !holds || err != nil {
			event.Text = "the result is not what the step expects"
		}
	}
	if failure = event.Text; failure == "" && a.Result != "" {
		event.Result = nil // It becomes a variable, which the next event has.
	}
	ctx = context.WithoutCancel(ctx)
	done := t.at(Done)
	t.note(event)
	if failure != "" {
		return false, t.flush(ctx, 0, nil)
	}
	done.By, done.State = byWorkbench, t.next.State
	if a.Result != "" {
		text, err := wire.Encode(map[string]json.RawMessage{a.Result: result})
		if err != nil {
			return false, err
		}
		done.Context = text
	}
	t.note(done)
	if err := t.settle(ctx); err != nil {
		return false, err
	}
	return true, t.flush(ctx, 0, nil)
}

// resultOf gives what a result says: its structured content, or its text. failure is the text of one with isError.
func resultOf(raw json.RawMessage) (result json.RawMessage, failure string) {
	var r struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &r) != nil {
		return json.RawMessage("null"), ""
	}
	text := ""
	for _, c := range r.Content {
		if c.Type == "text" {
			text += c.Text
		}
	}
	if r.IsError {
		if text == "" {
			text = "the tool failed, and said nothing"
		}
		return nil, cut.Short(text)
	}
	if len(r.Structured) > 0 && len(r.Structured) <= maxResult {
		return r.Structured, ""
	}
	if len(text) > maxResult {
		text = text[:maxResult] + "… (cut: the result was larger)"
	}
	encoded, err := wire.Encode(text)
	if err != nil {
		encoded = json.RawMessage(`""`)
	}
	return encoded, ""
}

// arguments are those of a call with the variables put in.
func (t *turn) arguments(ctx context.Context, a *definition.Act) (json.RawMessage, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(a.Arguments))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	filled, err := fillIn(v, t.scope(ctx))
	if err != nil {
		return nil, err
	}
	return wire.Encode(filled)
}

func fillIn(v any, scope *criteria.Scope) (any, error) {
	switch v := v.(type) {
	case string:
		text, bare, unknown := stepping.Fill(v, scope)
		if unknown != "" {
			return nil, fmt.Errorf("the arguments need the variable %q, which is not set", unknown)
		}
		if bare != nil {
			return bare, nil
		}
		return text, nil
	case []any:
		list := make([]any, len(v))
		for i := range v {
			var err error
			if list[i], err = fillIn(v[i], scope); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			var err error
			if object[name], err = fillIn(member, scope); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return v, nil
}

// lastFailure is what the tool said last of why it failed.
func (t *turn) lastFailure() string {
	for i := len(t.r.Events) - 1; i >= 0; i-- {
		if e := t.r.Events[i]; e.Kind == Returned && e.Text != "" {
			return e.Text
		}
	}
	return ""
}

// failed says that the tool of the step has failed, and how to go on.
func (t *turn) failed(ctx context.Context, why string) (*Answer, error) {
	if err := t.flush(ctx, 0, nil); err != nil {
		return nil, err
	}
	a := t.answer(stateFailed, fmt.Sprintf("%s is at the step %q, which calls %s by itself. That failed: %s\n\nMend what is in the way, or set a variable with context. "+
		"Then workflow_next {\"run\":%q,\"step\":%q} has it called again.", t.r.ID, t.next.Step.Title, toolName(t.next.Step.Act), why, t.r.ID, t.next.Step.ID))
	return &a, nil
}

// late reports whether the step has waited for something for longer than it may.
func (t *turn) late() bool {
	a := t.next.Step.Act
	began, ok := t.r.until[t.gate()]
	return ok && a.For == 0 && began.Until != nil && time.Now().After(*began.Until) && (a.Webhook || !t.there())
}

// there reports whether the file that the step waits for is there.
func (t *turn) there() bool {
	path := t.next.Step.Act.File
	if text, _, unknown := stepping.Fill(path, t.scope(context.Background())); unknown == "" {
		path = text
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.e.opts.Dir, path)
	}
	_, err := os.Stat(path)
	return err == nil
}

// wait waits at the step where the run is, as long as one call may. How long was kept when the waiting began.
func (t *turn) wait(ctx context.Context) (*Answer, error) {
	a := t.next.Step.Act
	began, ok := t.r.until[t.gate()]
	if !ok {
		began = t.at(Intended)
		if d := max(a.For, a.Timeout); d > 0 {
			until := time.Now().Add(d).UTC().Truncate(time.Millisecond)
			began.Until = &until
		}
		if a.Webhook {
			began.Hook = secret()
		}
		t.note(began)
		if err := t.flush(ctx, 0, nil); err != nil {
			return nil, err
		}
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
		return nil, t.settle(ctx)
	}
	if t.late() {
		return nil, nil // A person is asked.
	}
	what := "for the file " + a.File
	if a.File == "" {
		what = "until " + began.Until.Format(time.RFC3339)
	}
	answer := t.answer(stateWaiting, fmt.Sprintf("%s waits %s. Call workflow_next {\"run\":%q} again later.", t.r.ID, what, t.r.ID))
	return &answer, nil
}
