package agent

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// Model answers requests; a [model.Client] is one.
type Model interface {
	Complete(ctx context.Context, r model.Request) (*model.Reply, error)
}

// Agent works workflows by a model. Any number of goroutines may use it.
type Agent struct {
	model Model
	opts  Options
}

// Options bound what one instruction may cost; see [Agent.Run]. Zero is the
// default of each.
type Options struct {
	Tokens int              // of all requests and replies together; 1,000,000
	Calls  int              // of commands; 60
	Time   time.Duration    // until it ends, without what the user takes to answer a later call; 15 minutes
	Now    func() time.Time // the clock; time.Now
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

//go:embed prompts
var prompts embed.FS

// prompt reads the instructions for a role.
func prompt(name string) string {
	text, err := prompts.ReadFile("prompts/" + name + ".md")
	if err != nil {
		panic("an embedded prompt is missing: " + err.Error())
	}
	return strings.TrimSpace(string(text))
}

// Bounds of one instruction.
const (
	maxRounds    = 25        // replies of the model
	maxPlans     = 6         // plans, the first included
	maxFaults    = 3         // rounds on end that bring nothing
	maxCalls     = 5         // calls carried out of one reply
	maxSame      = 3         // the same call, of which the last is not made
	maxTools     = 64        // commands offered as tools; where there are more, one tool takes them all
	maxArguments = 64 << 10  // of one call, in bytes
	maxResult    = 16 << 10  // of the result of a command that the model sees, in bytes
	maxSaid      = 160 << 10 // of the dialogue, besides the instructions
	maxListing   = 48 << 10  // of a list of commands in words
	maxPlan      = 8 << 10
	maxHistory   = 10 // earlier turns
	maxExchange  = 2 << 10
	maxArtifacts = 1 << 20 // of all commands together
)

// Run works on a request until it is done, or has to be asked about. See
// [commandsrv.Agent].
func (a *Agent) Run(ctx context.Context, r commandsrv.AgentRequest) (*commandsrv.AgentResult, error) {
	t := &run{model: a.model, opts: a.opts, began: a.opts.Now(), ctx: ctx, request: r, w: r.Engine.Workflow(), path: r.Path}
	if r.State == nil {
		t.Query, t.stale = r.Query, true
		return t.work()
	}
	if err := json.Unmarshal(r.State, &t.state); err != nil {
		return nil, fmt.Errorf("what the agent was doing cannot be read, so that it cannot go on; say again what you want: %w", err)
	}
	if err := t.resume(r.Query); err != nil {
		return t.broken(err)
	}
	return t.work()
}

// clip cuts a text to a length in bytes, and says so.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("… (%d more bytes)", len(s)-most)
}
