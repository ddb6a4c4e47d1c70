package workflowsrv

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// caller says who makes a call about runs, and how the person there can be asked.
func caller(p principal.Principal, c mcpserve.Call) runs.Caller {
	who := runs.Caller{Principal: p.Name, May: p.May, Client: c.Client, Asks: c.Asked}
	if a := c.Answer; a != nil {
		who.Reply = &runs.Reply{State: a.State, Action: a.Action, Form: a.Form}
	}
	if c.Elicit != nil {
		who.Ask = func(ctx context.Context, q runs.Question) (runs.Reply, error) {
			answer, err := c.Elicit.Elicit(ctx, q.Message, q.Form)
			if err != nil {
				return runs.Reply{}, err
			}
			return runs.Reply{State: q.State, Action: answer.Action, Form: answer.Form}, nil
		}
	}
	return who
}

// kept gives what came of a call about a run. The text stands in the structured content, too: some clients show their
// model that alone.
func kept(workflowID string, a runs.Answer, err error) (result, *fault) {
	var known faultError
	switch {
	case err == nil && a.Question != nil:
		return result{question: a.Question}, nil
	case err == nil:
		quoted := wire.AppendQuote(nil, a.Text)
		return result{json: slices.Concat(a.Data[:len(a.Data)-1], []byte(`,"prompt":`), quoted, []byte("}")), quoted: quoted}, nil
	case errors.As(err, &known):
		return result{}, known.fault
	case errors.As(err, new(*runs.Error)):
		return result{}, &fault{code: codeState, data: wire.NewObject(nil).Text("details", err.Error()).End(), advice: err.Error()}
	case isStepping(err):
		return result{}, stateFault(workflowID, err)
	}
	return result{}, &fault{code: codeStorage, data: wire.NewObject(nil).Text("details", err.Error()).End(), advice: err.Error()}
}

func keepStart(ctx context.Context, s *service, a arguments, who runs.Caller) (result, *fault) {
	id, goal, variables := a.id("workflowId", "id"), a.text("goal"), a.raw("context", "{", "an object")
	if a.fault != nil {
		return result{}, a.fault
	}
	answer, err := s.runs.Start(ctx, who, id, goal, variables)
	return kept(id, answer, err)
}

func keepResume(ctx context.Context, s *service, a arguments, who runs.Caller) (result, *fault) {
	query, run := a.text("query"), a.text("run")
	if a.fault != nil {
		return result{}, a.fault
	}
	answer, err := s.runs.Resume(ctx, who, query, run)
	return kept("", answer, err)
}

func keepNext(ctx context.Context, s *service, a arguments, who runs.Caller) (result, *fault) {
	for _, name := range []string{"completedSteps", "state", "currentStep"} {
		if a.has(name) {
			return result{}, invalidParams(name + " is for calls without a run: the run knows where it is")
		}
	}
	if !a.has("run") {
		return result{}, invalidParams("run is required beside step, output, notes, artifacts and code; workflow_start begins one")
	}
	step := runs.Step{Run: a.text("run"), ID: a.text("step"), Notes: a.text("notes"), Code: a.text("code")}
	if a.has("output") && string(a.given["output"]) != `""` {
		step.Output = a.output()
	}
	step.Context = a.raw("context", "{", "an object")
	list := a.raw("artifacts", "[{", "an array of objects")
	if a.fault != nil {
		return result{}, a.fault
	}
	if len(list) > 0 && list[0] == '{' {
		list = slices.Concat([]byte("["), list, []byte("]")) // One alone is meant as a list of one.
	}
	if len(list) > 0 {
		if err := json.Unmarshal(list, &step.Artifacts); err != nil {
			return result{}, invalidParams("artifacts must be an array of objects")
		}
	}
	answer, err := s.runs.Next(ctx, who, step)
	return kept("", answer, err)
}

func keepManage(ctx context.Context, s *service, a arguments, who runs.Caller) (result, *fault) {
	o := runs.Order{Run: a.text("run"), Action: a.text("action"), Name: a.text("name"), Reason: a.text("reason")}
	if a.has("to") {
		to, ok := jsontype.Int(a.given["to"])
		if !ok {
			a.refuse("to must be the number of an event")
		}
		o.To = to
	}
	if a.fault != nil {
		return result{}, a.fault
	}
	answer, err := s.runs.Manage(ctx, who, o)
	return kept("", answer, err)
}
