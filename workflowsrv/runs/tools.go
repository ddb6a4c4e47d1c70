package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// Tools are what steps call.
type Tools interface {
	// CallTool calls a tool and returns the result as the server sent it. An error that is not a *NotMadeError leaves
	// open whether the call was made.
	CallTool(ctx context.Context, toolbox, server, tool string, arguments json.RawMessage) (json.RawMessage, error)
	// Hints say what a tool says of itself: that it changes nothing, and that to call it twice is as good as once.
	Hints(ctx context.Context, toolbox, server, tool string) (readOnly, idempotent bool)
}

// NotMadeError says why a call was not made, or that the server refused it.
type NotMadeError struct{ Err error }

func (e *NotMadeError) Error() string { return e.Err.Error() }

func (e *NotMadeError) Unwrap() error { return e.Err }

func toolName(a *definition.Act) string { return a.Toolbox + "/" + a.Server + "/" + a.Tool }

const (
	// maxResult is the most of a result that becomes a variable.
	maxResult = 256 << 10
	// maxFailure is how much is kept of why a call failed, which the agent or a person is told.
	maxFailure = 2 << 10
	// callFor is how long a call may take whose step says nothing.
	callFor = 5 * time.Minute
)

// harmless reports whether the tool that a step calls may be called twice.
func harmless(ctx context.Context, tools Tools, a *definition.Act) bool {
	if tools == nil || a == nil || a.Kind != definition.ActTool {
		return false
	}
	readOnly, idempotent := tools.Hints(ctx, a.Toolbox, a.Server, a.Tool)
	return readOnly || idempotent
}

// hold makes the call of a step, and meanwhile says again and again that this process is at work on it. A process that
// was stopped for a while, and whose run another one has taken over, gives the call up: it may not have been sent yet.
// If nothing can be said because of the store, the call goes on.
func hold(ctx context.Context, tools Tools, a *definition.Act, arguments json.RawMessage, every time.Duration, again func(ctx context.Context) error) (json.RawMessage, error) {
	wait := cmp.Or(a.Timeout, callFor)
	ctx, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("%s did not answer within %v", toolName(a), wait))
	defer cancel()
	ctx, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	ended := make(chan struct{})
	defer func() { <-ended }()
	beat, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-beat.Done():
				return
			case <-tick.C:
				if err := again(beat); errors.As(err, new(*store.StaleError)) || errors.Is(err, store.ErrNotFound) {
					lose(err)
					return
				}
			}
		}
	}()
	raw, err := tools.CallTool(ctx, a.Toolbox, a.Server, a.Tool, arguments)
	if err != nil && ctx.Err() != nil && !errors.As(err, new(*NotMadeError)) {
		err = context.Cause(ctx)
	}
	return raw, err
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
	if len(raw) == 0 {
		return json.RawMessage("null"), "" // The call failed.
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, "its result cannot be read: " + foreign.NewError(err).Error()
	}
	text := ""
	for _, c := range r.Content {
		if c.Type == "text" {
			text += c.Text
		}
	}
	if r.IsError {
		return nil, cut.After(cmp.Or(text, "the tool failed, and said nothing"), maxFailure)
	}
	if len(r.Structured) > 0 && len(r.Structured) <= maxResult {
		return r.Structured, ""
	}
	if len(text) > maxResult {
		text = strings.ToValidUTF8(text[:maxResult], "") + "… (cut: the result was larger)"
	}
	return wire.MustEncode(text), ""
}
