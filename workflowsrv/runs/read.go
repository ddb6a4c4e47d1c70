package runs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

// Shown is a run as JSON.
type Shown struct {
	Principal  string     `json:"user_id"`
	Run        string     `json:"run"`
	Workflow   string     `json:"workflow"`
	Status     Status     `json:"status"`
	Goal       string     `json:"goal"`
	Step       string     `json:"step,omitempty"`
	Done       int        `json:"done"`
	Repository string     `json:"repository,omitempty"`
	Branch     string     `json:"branch,omitempty"`
	Client     string     `json:"client,omitempty"`
	Created    time.Time  `json:"created_at"`
	Updated    time.Time  `json:"updated_at"`
	Expires    *time.Time `json:"expires_at,omitempty"`
	// Drift says that the workflow is no longer what the run goes by.
	Drift  string  `json:"definition,omitempty"`
	Events []Event `json:"events,omitempty"` // nil in a list
}

// Show gives what is known of a run without its events.
func Show(principal string, r store.Run, h Head) Shown {
	return Shown{principal, r.ID, r.Workflow, h.Status, h.Goal, h.Step, h.Done, h.Repository, h.Branch, h.Client, r.Created, r.Updated, nil, "", nil}
}

// Shown gives a run with its events.
func (e *Engine) Shown(principal string, r *Run) Shown {
	s := Show(principal, store.Run{ID: r.ID, Workflow: r.Workflow, Created: r.Created, Updated: r.Updated}, r.Head)
	s.Events, s.Drift = r.Events, e.Drift(r)
	return s
}

// List returns the runs of a principal that were changed last, the latest first.
func (e *Engine) List(ctx context.Context, principal string, limit int) ([]Found, error) {
	var all []Found
	logs, _ := e.logs(ctx)
	for _, log := range logs {
		list, err := log.Runs(ctx, principal, limit)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			all = append(all, foundRun(r, e.opts.Expire()))
		}
	}
	slices.SortStableFunc(all, func(a, b Found) int { return b.Updated.Compare(a.Updated) })
	return all[:min(limit, len(all))], nil
}

// Read returns a run of a principal; it is store.ErrNotFound where there is none.
func (e *Engine) Read(ctx context.Context, principal, id string) (*Run, error) {
	kept, events, err := e.read(ctx, principal, id, 0)
	if err != nil {
		return nil, err
	}
	return Open(kept, events)
}

// Events says how many events a run has, of which the caller knows so many.
func (e *Engine) Events(ctx context.Context, principal, id string, known int) (int, error) {
	kept, _, err := e.read(ctx, principal, id, known)
	return kept.Events, err
}

func (e *Engine) read(ctx context.Context, principal, id string, after int) (kept store.Run, events []json.RawMessage, err error) {
	logs, unkept := e.logs(ctx)
	for _, log := range logs {
		if kept, events, err = log.Run(ctx, principal, id, after); !errors.Is(err, store.ErrNotFound) {
			return kept, events, err
		}
	}
	return kept, events, unknown(id, err, unkept)
}
