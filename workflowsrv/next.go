package workflowsrv

import (
	"context"
	"errors"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

func runNext(ctx context.Context, s *service, a arguments) (result, *fault) {
	id := a.id("workflowId", "id")
	if a.fault != nil {
		return result{}, a.fault
	}
	e, f := s.entry(id)
	if f != nil {
		return result{}, f
	}
	r := stepping.Request{Mode: s.opts.Mode, PassOver: a.bare, Completed: a.strings("completedSteps"), Context: a.object("context"), State: a.text("state")}
	if a.has("currentStep") { // It is only checked: it is the one being worked on, not a done one.
		if _, f = step(e.Workflow, a.id("currentStep")); f != nil && a.fault == nil {
			a.fault = f
		}
	}
	if a.fault != nil {
		return result{}, a.fault
	}
	answer, err := stepping.Next(ctx, e.Workflow, r)
	if err != nil {
		return result{}, stateFault(id, err)
	}
	if text, ok := displacement(e); ok {
		answer.Warnings = append(answer.Warnings, text)
	}
	return result{json: answer.AppendJSON(nil), more: answer.AppendAdvice(nil)}, nil
}

// stateFault words a state or a variable that the workflow cannot go on with.
func stateFault(workflowID string, err error) *fault {
	f := &fault{code: codeState, advice: err.Error()}
	if loop, ok := errors.AsType[*stepping.LoopError](err); ok {
		f.data = wire.NewObject(nil).Text("workflowId", workflowID).Text("details", err.Error()).Text("loopId", loop.LoopID).Text("variable", loop.Variable).Text("expected", loop.Expected).Text("got", loop.Got).End()
		return f
	}
	f.data = wire.NewObject(nil).Text("workflowId", workflowID).Text("details", err.Error()).End()
	var state *stepping.StateError
	switch {
	case errors.As(err, new(*criteria.UndecidedError)):
		f.advice += "; shorten the variable, or leave it out"
		return f
	case !errors.As(err, &state):
		return f
	}
	f.advice += "; leave state out to begin again at the first step that is not completed"
	return f
}

// isStepping reports whether an error is about a state or a variable that a workflow cannot go on with.
func isStepping(err error) bool {
	return errors.As(err, new(*stepping.LoopError)) || errors.As(err, new(*stepping.StateError)) || errors.As(err, new(*criteria.UndecidedError)) || errors.As(err, new(*stepping.TurnsError))
}
