package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

// A Log keeps runs. A *store.Store is one that lasts.
type Log interface {
	StartRun(ctx context.Context, principal string, r store.Run, definition []byte, events ...json.RawMessage) error
	ChangeRun(ctx context.Context, principal, id string, c store.RunChange) error
	HoldRun(ctx context.Context, principal, id string, events int, hold time.Duration) error
	Run(ctx context.Context, principal, id string, after int) (store.Run, []json.RawMessage, error)
	Runs(ctx context.Context, principal string, limit int) ([]store.OwnedRun, error)
	RunsByID(ctx context.Context, principal, id string) ([]store.OwnedRun, error)
	Definition(ctx context.Context, digest string) ([]byte, error)
}

var _ Log = (*store.Store)(nil)

// maxMemory is how many bytes of events and definitions are kept in memory.
const maxMemory = 64 << 20

// A memory keeps runs as long as the program runs.
type memory struct {
	mu          sync.Mutex // guards what follows
	runs        map[store.Key]*memoryRun
	definitions map[string][]byte
	bytes       int
}

type memoryRun struct {
	run    store.Run
	events []json.RawMessage
}

// NewMemory returns a log that is gone when the program ends.
func NewMemory() Log {
	return &memory{runs: map[store.Key]*memoryRun{}, definitions: map[string][]byte{}}
}

// StartRun implements Log.
func (m *memory) StartRun(_ context.Context, principal string, r store.Run, definition []byte, events ...json.RawMessage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := store.Key{Principal: principal, ID: r.ID}
	if there := m.runs[key]; there != nil {
		return &store.StaleError{Has: len(there.events)}
	}
	r.Digest = store.Digest(definition)
	if err := m.takeLocked(r.Digest, definition, events); err != nil {
		return err
	}
	r.Created, r.Events = time.Now(), len(events)
	r.Updated = r.Created
	m.runs[key] = &memoryRun{r, slices.Clone(events)}
	return nil
}

// takeLocked keeps a definition and makes room for events; it needs mu.
func (m *memory) takeLocked(digest string, definition []byte, events []json.RawMessage) error {
	size := 0
	for _, e := range events {
		size += len(e)
	}
	if m.definitions[digest] == nil {
		size += len(definition)
	}
	if m.bytes+size > maxMemory {
		return &store.InvalidError{What: fmt.Sprintf("runs take more than the %d MiB that are kept in memory; give workbench a folder for them", maxMemory>>20)}
	}
	m.bytes += size
	if definition != nil {
		m.definitions[digest] = definition
	}
	return nil
}

// ChangeRun implements Log.
func (m *memory) ChangeRun(_ context.Context, principal, id string, c store.RunChange) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.atLocked(principal, id, c.After)
	if err != nil {
		return err
	}
	digest := r.run.Digest
	if c.Definition != nil {
		digest = store.Digest(c.Definition)
	}
	if err := m.takeLocked(digest, c.Definition, c.Events); err != nil {
		return err
	}
	r.run.Digest, r.run.Head, r.run.Updated, r.run.Held = digest, c.Head, time.Now(), time.Now().Add(c.Hold)
	r.events = append(r.events, c.Events...)
	r.run.Events = len(r.events)
	return nil
}

// HoldRun implements Log.
func (m *memory) HoldRun(_ context.Context, principal, id string, events int, hold time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.atLocked(principal, id, events)
	if err == nil {
		r.run.Held = time.Now().Add(hold)
	}
	return err
}

// atLocked returns a run that has so many events; it needs mu.
func (m *memory) atLocked(principal, id string, events int) (*memoryRun, error) {
	r := m.runs[store.Key{Principal: principal, ID: id}]
	switch {
	case r == nil:
		return nil, store.ErrNotFound
	case len(r.events) != events:
		return nil, &store.StaleError{Has: len(r.events), Want: events}
	}
	return r, nil
}

// Run implements Log.
func (m *memory) Run(_ context.Context, principal, id string, after int) (store.Run, []json.RawMessage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runs[store.Key{Principal: principal, ID: id}]
	if r == nil {
		return store.Run{}, nil, store.ErrNotFound
	}
	return r.run, slices.Clone(r.events[min(after, len(r.events)):]), nil
}

// Runs implements Log.
func (m *memory) Runs(_ context.Context, principal string, limit int) ([]store.OwnedRun, error) {
	list := m.owned(principal, func(string) bool { return true })
	slices.SortFunc(list, func(a, b store.OwnedRun) int { return b.Updated.Compare(a.Updated) })
	return list[:min(limit, len(list))], nil
}

// RunsByID implements Log.
func (m *memory) RunsByID(_ context.Context, principal, id string) ([]store.OwnedRun, error) {
	list := m.owned(principal, func(other string) bool { return other == id })
	if len(list) == 0 {
		return nil, store.ErrNotFound
	}
	return list, nil
}

// owned are the runs of a principal, or with "" of everybody, whose id fits.
func (m *memory) owned(principal string, fits func(id string) bool) (list []store.OwnedRun) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, r := range m.runs {
		if fits(key.ID) && (principal == "" || key.Principal == principal) {
			list = append(list, store.OwnedRun{Principal: key.Principal, Run: r.run})
		}
	}
	return list
}

// Definition implements Log.
func (m *memory) Definition(_ context.Context, digest string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if body := m.definitions[digest]; body != nil {
		return body, nil
	}
	return nil, store.ErrNotFound
}
