package runs

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// Options say how runs are carried out. Find is needed.
type Options struct {
	// Find returns the workflow of an id as it is now.
	Find func(id string) (*definition.Entry, error)
	// Log opens where runs are kept; it is called when the first is wanted, and again after an error. nil: runs are
	// kept in memory.
	Log func(ctx context.Context) (Log, error)
	// Memory is that memory, which engines may share; nil: one of its own.
	Memory Log
	// Where says what is worked on, "" where that is not known; nil: it never is.
	Where func() (repository, branch string)
	// Criteria say how outputs are judged.
	Criteria criteria.Options
	// Tools are what steps call; nil: they call none.
	Tools Tools
	// Dir is where relative paths of files that are waited for begin.
	Dir string
	// Moved is called when events of a run were kept, and must not block; begun says that they are its first. nil:
	// nobody wants to know.
	Moved func(principal, run string, begun bool)

	// Expire is how long nothing may happen in a run that is not over, 0 for ever; nil: for ever.
	Expire func() time.Duration
	// Gateway is where requests that runs wait for are to be sent, "" where that is not known.
	Gateway string

	hold time.Duration // how long a process has a run to itself while it calls a tool, unless it says so again; 0: 15 seconds
	// patience is how long one call of workflow_next waits for a time or a file; 0: 20 seconds, since clients wait a
	// minute.
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
	memory Log

	mu      sync.Mutex // guards what follows
	log     Log
	cached  map[store.Key]*Run
	pinned  map[string]*definition.Workflow // by digest
	digests map[*definition.Workflow]string
}

// NewEngine returns an engine. It opens nothing.
func NewEngine(opts Options) *Engine {
	if opts.Memory == nil {
		opts.Memory = NewMemory()
	}
	if opts.Expire == nil {
		opts.Expire = func() time.Duration { return 0 }
	}
	if opts.Moved == nil {
		opts.Moved = func(string, string, bool) {}
	}
	opts.hold, opts.patience = cmp.Or(opts.hold, 15*time.Second), cmp.Or(opts.patience, 20*time.Second)
	return &Engine{
		opts: opts, memory: opts.Memory,
		cached: map[store.Key]*Run{}, pinned: map[string]*definition.Workflow{}, digests: map[*definition.Workflow]string{},
	}
}

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

// logs are where runs may be: in the store, and in memory if they began when there was none. An error says why there is
// no store.
func (e *Engine) logs(ctx context.Context) ([]Log, error) {
	log, unkept := e.keeper(ctx)
	return slices.Compact([]Log{log, e.memory}), unkept
}

// unknown is the error for a run that was not found. While the store cannot be opened (unkept), the run may well be in it.
func unknown(id string, err, unkept error) error {
	if unkept == nil {
		return err
	}
	return fmt.Errorf("whether there is a run %q is not known, because the store cannot be opened: %w", cut.Short(id), unkept)
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

// definition returns the workflow that a run goes by, and another one that is under its id now, or why none is.
func (e *Engine) definition(ctx context.Context, log Log, r *Run) (w *definition.Workflow, now *definition.Entry, gone, err error) {
	now, same, gone := e.present(r)
	if same {
		return now.Workflow, nil, nil, nil
	}
	e.mu.Lock()
	w = e.pinned[r.Digest]
	e.mu.Unlock()
	if w != nil {
		return w, now, gone, nil
	}
	text, err := log.Definition(ctx, r.Digest)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("the definition of run %s: %w", r.ID, err)
	}
	if w, err = definition.ParsePinned(r.Workflow, text); err != nil {
		return nil, nil, nil, &Error{fmt.Sprintf("this workbench cannot read the definition that run %s uses: %v", r.ID, err), "start another run of the workflow"}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.pinned) >= most {
		clear(e.pinned)
	}
	e.pinned[r.Digest] = w
	return w, now, gone, nil
}

// present returns the workflow that is under the id of a run's now, and whether it is the one that the run goes by.
func (e *Engine) present(r *Run) (now *definition.Entry, same bool, gone error) {
	if now, gone = e.opts.Find(r.Workflow); gone != nil {
		return nil, false, gone
	}
	return now, e.digest(now.Workflow) == r.Digest, nil
}

// Drift says that the workflow of a run is no longer what the run goes by; "" where it is.
func (e *Engine) Drift(r *Run) string {
	_, same, gone := e.present(r)
	switch {
	case same:
		return ""
	case gone != nil:
		return fmt.Sprintf("the workflow %s cannot be used at present (%v); this run keeps using its own definition", r.Workflow, gone)
	}
	return fmt.Sprintf("the file of the workflow %s has changed; this run keeps using its own definition. To use the new one, "+
		"call workflow_run with action rebase", r.Workflow)
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
		return nil, &Error{fmt.Sprintf("there is no run %q", cut.Short(id)), "workflow_resume finds runs by words, and lists all of them without words"}
	}
	if err != nil {
		return nil, err
	}
	// A process that holds a run says so anew all the time: what lies far ahead was said before the clock was set back.
	if time.Until(kept.Held) > 2*e.opts.hold {
		kept.Held = time.Time{}
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
func newID() string { return "run-" + letters(10) }

// letters returns so many letters and digits by chance, which people can read out; each has five bits.
func letters(n int) string {
	const all = "abcdefghjkmnpqrstvwxyz0123456789" // 32 of them
	bits := make([]byte, n)
	_, _ = rand.Read(bits) // never fails: it ends the program instead
	for i, b := range bits {
		bits[i] = all[b%32]
	}
	return string(bits)
}

// The words by which events say how the conditions of a run compare.
const (
	strict  = "strict"
	lenient = "lenient"
)

// compares is the word for how conditions compare in runs that begin here.
func (e *Engine) compares() string {
	if e.opts.Criteria.Mode == criteria.Lenient {
		return lenient
	}
	return strict
}

// standing is where a run stands. Its conditions compare as they did where it began: every process that reads it, with
// whatever configuration, is to find it at the same step.
func (e *Engine) standing(r *Run, w *definition.Workflow) standing {
	opts := e.opts.Criteria
	switch r.compares {
	case strict:
		opts.Mode = criteria.Strict
	case lenient:
		opts.Mode = criteria.Lenient
	}
	return standing{r: r, w: w, criteria: opts, dir: e.opts.Dir}
}
