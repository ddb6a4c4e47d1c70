package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// Agent works workflows by a model. Any number of goroutines may use it.
type Agent struct {
	model Model
	opts  Options
}

var (
	_ commandsrv.Agent      = (*Agent)(nil)
	_ commandsrv.Summarizer = (*Agent)(nil)
	_ command.Chooser       = (*Agent)(nil)
)

// New returns an agent that asks m.
func New(m Model, opts Options) *Agent {
	opts.Tokens, opts.Calls, opts.Time = cmp.Or(opts.Tokens, 1_000_000), cmp.Or(opts.Calls, 60), cmp.Or(opts.Time, 15*time.Minute)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Agent{m, opts}
}

// Run works on a request until it is done, or has to be asked about. See [commandsrv.Agent].
func (a *Agent) Run(ctx context.Context, r commandsrv.AgentRequest) (*commandsrv.AgentResult, error) {
	t := &run{model: a.model, opts: a.opts, began: a.opts.Now(), ctx: ctx, request: r, w: r.Engine.Workflow(), path: r.Path}
	if r.State == nil {
		t.Query, t.stale = r.Query, true
		return t.work()
	}
	if err := json.Unmarshal(r.State, &t.state); err != nil {
		return nil, fmt.Errorf("what the agent was doing cannot be read, so that it cannot go on; say again what you want: %w", foreign.NewError(err))
	}
	if err := t.resume(r.Query); err != nil {
		return t.broken(err)
	}
	return t.work()
}
