package workflowsrv

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// asTask has a call about a run that waits for a person become a task, where the client takes one. Its id is the state
// of the question, which is in the log of the run: it is the same task after the client or workbench was started again,
// and ends also when the person answers elsewhere.
func asTask(c mcpserve.Call, r mcpserve.Result) mcpserve.Result {
	if q := r.Question; q != nil && c.Tasks {
		return mcpserve.Result{Task: &mcpserve.Task{ID: q.State, Created: q.Asked, Updated: q.Asked, Question: q}}
	}
	return r
}

// goOnWith goes on with such a call of a principal.
func goOnWith(ctx context.Context, engine *runs.Engine, p principal.Principal, c mcpserve.TaskCall) (mcpserve.Task, error) {
	who := runs.Caller{Principal: p.Name, May: p.May, Client: c.Client}
	var reply *runs.Reply
	if c.Answer != nil {
		reply = &runs.Reply{State: c.ID, Action: c.Answer.Action, Form: c.Answer.Form}
	}
	answer, asked, err := engine.Asked(ctx, who, c.ID, reply)
	if told := new(runs.Error); errors.As(err, &told) && asked.IsZero() {
		return mcpserve.Task{}, &wire.Error{Code: wire.CodeInvalidParams, Message: "task not found: " + err.Error()}
	}
	t := mcpserve.Task{ID: c.ID, Created: asked, Updated: time.Now(), Result: toolResult(kept("", answer, err))}
	if t.Question = t.Result.Question; t.Question != nil {
		t.Updated = asked
	}
	return t, nil
}
