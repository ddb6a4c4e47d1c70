package workflowsrv

import (
	"context"
	"errors"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

func runNext(ctx context.Context, s *service, a arguments) (result, *fault) {
	id, f := a.id("workflowId", "id")
	if f != nil {
		return result{}, f
	}
	e, f := s.entry(id)
	if f != nil {
		return result{}, f
	}
	r, f := s.request(e.Workflow, a)
	if f != nil {
		return result{}, f
	}
	r.PassOver = isBare(ctx)
	answer, err := stepping.Next(ctx, e.Workflow, r)
	if err != nil {
		return result{}, stateFault(id, err)
	}
	if text, ok := displacement(e); ok {
		answer.Warnings = append(answer.Warnings, text)
	}
	return result{json: answer.AppendJSON(nil), more: answer.AppendAdvice(nil)}, nil
}

// request reads the arguments of workflow_next beside the workflow.
func (s *service) request(w *definition.Workflow, a arguments) (r stepping.Request, f *fault) {
	r.Mode = s.opts.Mode
	if r.Completed, f = a.strings("completedSteps"); f != nil {
		return r, f
	}
	if r.Context, f = a.object("context"); f != nil {
		return r, f
	}
	if r.State, f = a.text("state"); f != nil {
		return r, f
	}
	if !a.has("currentStep") {
		return r, nil
	}
	// The step is only checked: it is the one being worked on, not a done one.
	current, f := a.id("currentStep")
	if f == nil {
		_, f = step(w, current)
	}
	return r, f
}

// stateFault words a state or a variable that the workflow cannot go on with.
func stateFault(workflowID string, err error) *fault {
	f := &fault{code: codeState, advice: err.Error()}
	if loop, ok := errors.AsType[*stepping.LoopError](err); ok {
		f.data = appendObject(nil, "workflowId", workflowID, "details", err.Error(),
			"loopId", loop.LoopID, "variable", loop.Variable, "expected", loop.Expected, "got", loop.Got)
		return f
	}
	f.data = appendObject(nil, "workflowId", workflowID, "details", err.Error())
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
