package runs

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// Options say how runs are carried out. Find is needed.
type Options struct {
	// Find returns the workflow of an id as it is now.
	Find func(id string) (*definition.Entry, error)
	// Log opens where runs are kept; it is called when the first is wanted, and again after an error. nil: runs are kept in
	// memory.
	Log func(ctx context.Context) (Log, error)
	// Where says what is worked on, "" where that is not known; nil: it never is.
	Where func() (repository, branch string)
	// Criteria say how outputs are judged.
	Criteria criteria.Options
	// Tools are what steps call; nil: they call none.
	Tools Tools
	// Dir is where relative paths of files that are waited for begin.
	Dir string
	// Moved is called when events of a run were kept, and must not block; begun says that they are its first. nil: nobody wants to
	// know.
	Moved func(principal, run string, begun bool)

	// Expire is how long nothing may happen in a run that is not over, 0 for ever; nil: for ever.
	Expire func() time.Duration
	// Gateway is where requests that runs wait for are to be sent, "" where that is not known.
	Gateway string

	hold time.Duration // how long a process has a run to itself while it calls a tool, unless it says so again; 0: 15 seconds
	// patience is how long one call of workflow_next waits for a time or a file; 0: 20 seconds, since clients wait a minute.
	patience time.Duration
}

// Bounds of what is kept of one run.
const (
	maxGoal      = 4 << 10
	maxNotes     = 64 << 10
	maxArtifacts = 1 << 20
	maxContext   = 1 << 20
	maxRunBytes  = 64 << 20
	maxEvents    = 20_000
)

// An Engine carries out runs.
type Engine struct {
	opts   Options
	parser *definition.Parser
	memory Log

	mu      sync.Mutex // guards what follows
	log     Log
	cached  map[store.Key]*Run
	pinned  map[string]*definition.Workflow // by digest
	digests map[*definition.Workflow]string
}

// NewEngine returns an engine. It opens nothing.
func NewEngine(opts Options) *Engine {
	opts.hold, opts.patience = cmp.Or(opts.hold, 15*time.Second), cmp.Or(opts.patience, 20*time.Second)
	return &Engine{
		opts: opts, parser: new(definition.Parser), memory: NewMemory(),
		cached: map[store.Key]*Run{}, pinned: map[string]*definition.Workflow{}, digests: map[*definition.Workflow]string{},
	}
}

// A Caller is who asks something of a run.
type Caller struct {
	Principal string
	Client    string // the name of the agent's program
	// May reports whether the principal may use a toolbox; nil: every one.
	May func(toolbox string) bool
	// Ask asks the person at the client; nil: the client cannot.
	Ask func(ctx context.Context, q Question) (Reply, error)
	// Asks says that a Question may be the answer; Reply is what came of one.
	Asks  bool
	Reply *Reply
}

func (c Caller) agent() string {
	if c.Client == "" {
		return byAgent + "unknown"
	}
	return byAgent + cut.Short(c.Client)
}

// An Error is why nothing was done, with what to do.
type Error struct{ What, Next string }

func (e *Error) Error() string { return e.What + "; " + e.Next }

// keeper returns the log, and why it is not one that lasts.
func (e *Engine) keeper(ctx context.Context) (Log, error) {
	e.mu.Lock()
	log := e.log
	e.mu.Unlock()
	if log != nil {
		return log, nil
	}
	if e.opts.Log == nil {
		return e.memory, nil
	}
	log, err := e.opts.Log(ctx)
	if err != nil {
		return e.memory, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log = log
	return log, nil
}

// most is how many runs and definitions an engine remembers.
const most = 128

// digest names a workflow by its content.
func (e *Engine) digest(w *definition.Workflow) string {
	e.mu.Lock()
	d, ok := e.digests[w]
	e.mu.Unlock()
	if ok {
		return d
	}
	d = store.Digest(w.Pinned)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.digests) >= most {
		clear(e.digests)
	}
	e.digests[w] = d
	return d
}

// definition returns the workflow that a run goes by. changed says that there is another one under its id now.
func (e *Engine) definition(ctx context.Context, log Log, r *Run) (w *definition.Workflow, now *definition.Entry, err error) {
	now, err = e.opts.Find(r.Workflow)
	if err == nil && e.digest(now.Workflow) == r.Digest {
		return now.Workflow, nil, nil
	}
	if err != nil {
		now = nil // The file is gone, which does not matter to the run.
	}
	e.mu.Lock()
	w = e.pinned[r.Digest]
	e.mu.Unlock()
	if w != nil {
		return w, now, nil
	}
	text, err := log.Definition(ctx, r.Digest)
	if err != nil {
		return nil, now, fmt.Errorf("the definition of run %s: %w", r.ID, err)
	}
	if w, err = e.parser.ParsePinned(r.Workflow, text); err != nil {
		return nil, now, &Error{fmt.Sprintf("this workbench cannot read the definition that run %s goes by: %v", r.ID, err), "take the present one with workflow_run, action rebase"}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.pinned) >= most {
		clear(e.pinned)
	}
	e.pinned[r.Digest] = w
	return w, now, nil
}

// take returns a run as the log has it. It is the caller's until give.
func (e *Engine) take(ctx context.Context, log Log, principal, id string) (*Run, error) {
	key := store.Key{Principal: principal, ID: id}
	e.mu.Lock()
	r := e.cached[key]
	delete(e.cached, key)
	e.mu.Unlock()
	after := 0
	if r != nil {
		after = len(r.Events)
	}
	kept, events, err := log.Run(ctx, principal, id, after)
	if r != nil && (err != nil || !kept.Created.Equal(r.Created)) { // It was deleted, and may have been imported again.
		r = nil
		kept, events, err = log.Run(ctx, principal, id, 0)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, &Error{fmt.Sprintf("there is no run %q", cut.Short(id)), "workflow_resume finds runs by words, also by none"}
	}
	if err != nil {
		return nil, err
	}
	if r == nil {
		return Open(kept, events)
	}
	return r, r.read(kept, events)
}

// give lets the next caller have a run without reading it again.
func (e *Engine) give(principal string, r *Run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.cached) >= most {
		clear(e.cached)
	}
	e.cached[store.Key{Principal: principal, ID: r.ID}] = r
}

// newID returns the id of a run, which people can read out.
func newID() string {
	const letters = "abcdefghjkmnpqrstvwxyz0123456789" // 32 of them
	var bits [10]byte
	_, _ = rand.Read(bits[:]) // never fails: it ends the program instead
	for i, b := range bits {
		bits[i] = letters[b%32]
	}
	return "run-" + string(bits[:])
}

// A turn is one call that concerns a run.
type turn struct {
	e       *Engine
	log     Log
	who     Caller
	r       *Run
	w       *definition.Workflow
	now     *definition.Entry // under the id, if that is another definition than w
	pending []Event           // added to r, and not yet kept
	next    stepping.Answer   // where r is

	warnings []string
	children []childData // of the step where r is
	joined   string      // what is told of them in place of the prompt
}

// open begins a turn with a run that there is.
func (e *Engine) open(ctx context.Context, who Caller, id string) (*turn, error) {
	log, _ := e.keeper(ctx)
	r, err := e.take(ctx, log, who.Principal, id)
	if err != nil && log != e.memory {
		// It may have been started when there was no store.
		if kept, fault := e.take(ctx, e.memory, who.Principal, id); fault == nil {
			r, err, log = kept, nil, e.memory
		}
	}
	if err != nil {
		return nil, err
	}
	t := &turn{e: e, log: log, who: who, r: r}
	if t.w, t.now, err = e.definition(ctx, log, r); err != nil {
		return nil, err
	}
	if err := t.expire(ctx); err != nil {
		return nil, err
	}
	if t.now != nil {
		t.warn("the file of the workflow %s has changed since; this run goes on by the definition that it has. To take the new one, "+
			"call workflow_run with action rebase", r.Workflow)
	}
	return t, t.settle(ctx)
}

func (t *turn) warn(format string, args ...any) {
	t.warnings = append(t.warnings, fmt.Sprintf(format, args...))
}

// note adds an event to the run; flush keeps it.
func (t *turn) note(e Event) {
	e.At = now()
	if e.By == "" {
		e.By = byWorkbench
	}
	t.pending = append(t.pending, e)
	t.r.add(e)
}

// now is the time as events have it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// at is an event about the step where the run is.
func (t *turn) at(kind Kind) Event {
	e := Event{Kind: kind, Step: t.next.Step.ID}
	if p := t.next.Loop; p != nil {
		e.Loop, e.Pass = p.ID, p.Iteration
		if l := t.w.Step(p.ID); l != nil && l.Loop != nil && l.Loop.ItemVar != "" {
			if item, err := json.Marshal(p.Variables[l.Loop.ItemVar]); err == nil && p.Variables[l.Loop.ItemVar] != nil && len(item) < 4<<10 {
				e.Item = item
			}
		}
	}
	return e
}

func (t *turn) gate() string {
	pass := 0
	if t.next.Loop != nil {
		pass = t.next.Loop.Iteration
	}
	return gate(t.next.Step.ID, pass)
}

// settle finds where the run is.
func (t *turn) settle(ctx context.Context) error {
	if t.r.Status.Over() {
		return nil
	}
	// The definition may be another one than that by which they were done.
	completed := slices.DeleteFunc(slices.Clone(t.r.completed), func(id string) bool { return t.w.Step(id) == nil })
	request := stepping.Request{Completed: completed, State: t.r.state, Context: t.r.context, Mode: t.e.opts.Criteria.Mode, Kept: true}
	for {
		a, err := stepping.Next(ctx, t.w, request)
		if err != nil {
			return err
		}
		if a.Loop != nil && t.r.stops[a.Loop.ID] > 0 && a.Loop.Iteration > t.r.stops[a.Loop.ID] && !slices.Contains(request.Completed, a.Loop.ID) {
			request.Completed = append(slices.Clip(request.Completed), a.Loop.ID)
			continue
		}
		t.next, t.children, t.joined = a, nil, ""
		t.r.Step = ""
		if a.Step != nil {
			t.r.Step = a.Step.ID
		}
		return nil
	}
}

// flush keeps what was noted. hold is how long the turn will be at work on the run.
func (t *turn) flush(ctx context.Context, hold time.Duration, definition []byte) error {
	if len(t.pending) == 0 {
		return nil
	}
	change := store.RunChange{After: len(t.r.Events) - len(t.pending), Hold: hold, Definition: definition}
	for _, event := range t.pending {
		text, err := wire.Encode(event)
		if err != nil {
			return err
		}
		t.r.Bytes += len(text)
		change.Events = append(change.Events, text)
	}
	if t.r.Bytes > maxRunBytes || len(t.r.Events) > maxEvents {
		return &Error{fmt.Sprintf("run %s has grown to %d events and %d MiB, and takes no more", t.r.ID, len(t.r.Events), t.r.Bytes>>20), "abandon it and start another one"}
	}
	var err error
	if change.Head, err = wire.Encode(t.r.Head); err != nil {
		return err
	}
	// What was told must have been kept, whoever waits for it.
	err = t.log.ChangeRun(context.WithoutCancel(ctx), t.who.Principal, t.r.ID, change)
	var stale *store.StaleError
	if errors.As(err, &stale) {
		return t.overtaken(ctx)
	}
	if err != nil {
		return err
	}
	t.pending, t.r.Updated = nil, now()
	t.e.moved(t.who.Principal, t.r.ID, false)
	if definition != nil {
		t.r.Digest = store.Digest(definition)
	}
	t.r.Held = time.Now().Add(hold)
	return nil
}

func (e *Engine) moved(principal, run string, begun bool) {
	if e.opts.Moved != nil {
		e.opts.Moved(principal, run, begun)
	}
}

// overtaken says who has gone on with the run meanwhile.
func (t *turn) overtaken(ctx context.Context) error {
	const next = "call workflow_next with the run alone to see where it is"
	_, events, err := t.log.Run(ctx, t.who.Principal, t.r.ID, 0)
	var last Event
	if err != nil || len(events) == 0 || json.Unmarshal(events[len(events)-1], &last) != nil {
		return &Error{fmt.Sprintf("somebody else has gone on with run %s, and nothing of this call was kept", t.r.ID), next}
	}
	return &Error{fmt.Sprintf("somebody else has gone on with run %s at %s (%s %s, by %s), and nothing of this call was kept",
		t.r.ID, last.At.Format(time.TimeOnly), last.Kind, last.Step, last.By), next}
}

// done gives the run back.
func (t *turn) done() {
	if len(t.pending) == 0 {
		t.e.give(t.who.Principal, t.r)
	}
}
