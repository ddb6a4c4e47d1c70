package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// An Engine runs the commands of a workflow. It has no state, and any number of goroutines may use it.
type Engine struct {
	w     *Workflow
	opts  Options
	words func() *index
	user  string // for whom the commands run, "" where nobody is told apart
}

// New returns an engine.
func New(w *Workflow, opts Options) *Engine {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.LookupEnv == nil {
		opts.LookupEnv = func(string) (string, bool) { return "", false }
	}
	return &Engine{w: w, opts: opts, words: sync.OnceValue(func() *index { return newIndex(w) })}
}

// For returns the engine for the commands of a user, whom {user_id} stands for.
func (e *Engine) For(user string) *Engine {
	theirs := *e
	theirs.user = user
	return &theirs
}

// Workflow returns the workflow that the engine runs.
func (e *Engine) Workflow() *Workflow { return e.w }

// Execute carries out an exact command string, "Order/cancel_order <reason>late</reason>", from where the path ends.
// See [Parse] for the grammar. No model is asked and nothing is guessed.
//
// The error is an [*Error] of code 422 for a string that does not keep to the grammar, of 409 for a path that the
// workflow does not have any more, or the cause of ctx. A command that is unknown, lacks parameters or fails is an
// Outcome without success.
func (e *Engine) Execute(ctx context.Context, p Path, text string, opts CallOptions) (*Outcome, error) {
	t, err := e.turn(ctx, p, text, opts)
	if err != nil {
		return nil, err
	}
	return t.execute(text)
}

// Run is Execute for a command whose parameters are values already. Names that the command does not have and values of
// a wrong type are a Problem.
func (e *Engine) Run(ctx context.Context, p Path, a Action, opts CallOptions) (*Outcome, error) {
	t, err := e.turn(ctx, p, a.CommandName, opts)
	if err != nil {
		return nil, err
	}
	return t.action(a)
}

// Names reports whether a text begins with the name of a command that is there where a path ends.
func (e *Engine) Names(p Path, text string) bool {
	name, _, err := ParseName(text)
	if err != nil {
		return false
	}
	_, problem := e.w.resolve(p, name)
	return problem == nil
}

// A turn is one call of the engine.
type turn struct {
	*Engine
	performer
	path     Path
	raw      string
	opts     CallOptions
	traces   []TraceEvent
	inferred bool
	proposed bool   // only proposed: it waits for a yes, whatever it does
	was      string // Pending.Command of the question that is answered
	query    string // the instruction, for what Assist does
	memory   memory
}

func (e *Engine) turn(ctx context.Context, p Path, raw string, opts CallOptions) (*turn, error) {
	if kept, whole := e.w.Resume(p); !whole {
		return nil, &Error{Code: http.StatusConflict, Offset: -1, Message: "the session stands at " + e.w.Trail(p) +
			", of which the workflow now has only " + e.w.Trail(kept) + "; go on from there"}
	}
	return &turn{Engine: e, performer: performer{&e.opts, ctx, e.user}, path: p, raw: raw, opts: opts, memory: memory{seen: opts.Seen}}, nil
}

func (t *turn) execute(text string) (*Outcome, error) {
	name, rest, err := ParseName(text)
	if err != nil {
		return nil, err
	}
	v, problem := t.w.resolve(t.path, name)
	if problem != nil {
		return t.refuse(nil, nil, problem, t.w.explainUnknown(t.path, name, problem)), nil
	}
	problem = &Problem{}
	args, err := v.command.parse(text, rest, problem)
	if err != nil {
		return nil, err
	}
	return t.run(v, args, problem)
}

func (t *turn) action(a Action) (*Outcome, error) {
	v, problem := t.w.resolve(t.path, a.CommandName)
	if problem != nil {
		return t.refuse(nil, nil, problem, t.w.explainUnknown(t.path, a.CommandName, problem)), nil
	}
	args := arguments{}
	if len(a.Arguments) > 0 {
		if err := json.Unmarshal(a.Arguments, &args); err != nil || args == nil {
			return nil, &Error{Code: http.StatusUnprocessableEntity, Offset: -1, Message: "the arguments of " + a.CommandName + " are not a JSON object"}
		}
	}
	for name, v := range args {
		args[name] = wire.Compact(nil, v)
	}
	return t.run(v, args, &Problem{})
}

// run runs a command whose values are read, if nothing is wrong with them. problem has what reading found wrong.
func (t *turn) run(v visible, args arguments, problem *Problem) (*Outcome, error) {
	c := v.command
	for name, value := range args {
		if tooDeep(value) {
			delete(args, name)
			problem.invalid(name, wire.AppendQuote(nil, cut.Short(string(value))), fmt.Sprintf("is nested deeper than %d levels", maxNested))
		}
	}
	given := args.json(c)
	t.traceIn(c, given)
	at := t.path[:v.depth]
	c.complete(args, at)
	c.check(t.ctx, args, problem)
	t.lookUp(c, args, problem)
	if err := context.Cause(t.ctx); err != nil {
		return nil, err
	}
	if !problem.empty() {
		problem.sources(c)
		return t.ask(c, args, problem), nil
	}
	if !t.opts.Confirmed && (t.proposed || c.Confirm || t.inferred && c.Effect != Read || t.opts.Inferred && c.Effect != Read && c.Effect != Navigate) {
		return t.confirm(c, args, at), nil
	}
	if c.core {
		return t.runCore(c, args), nil
	}
	r := t.call(c, args, at)
	if err := context.Cause(t.ctx); err != nil && r.failed {
		return nil, err
	}
	return t.conclude(c, args, at, r), nil
}

// said is an instruction at the place where the session stands.
func (t *turn) said(query string) *instruction {
	return &instruction{t.w, t.path, query, t.opts.Corrections, &t.memory}
}
