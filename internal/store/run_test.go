package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

func js(text string) json.RawMessage { return json.RawMessage(text) }

// A run is kept with its events in order, another store sees it at once, and who knows an old number of events changes
// nothing.
func TestRuns(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		s, other := open(t, store.Options{}), open(t, store.Options{})
		definition := []byte(`{"id":"flow"}`)
		if err := s.StartRun(t.Context(), "alice", store.Run{ID: "r1", Workflow: "flow", Head: js(`{"goal":"g"}`)}, definition, js(`{"n":1}`)); err != nil {
			t.Fatal(err)
		}
		change := store.RunChange{After: 1, Head: js(`{"goal":"h"}`), Events: []json.RawMessage{js(`{"n":2}`), js(`{"n":3}`)}, Hold: time.Hour}
		if err := other.ChangeRun(t.Context(), "alice", "r1", change); err != nil {
			t.Fatal(err)
		}
		var stale *store.StaleError
		if err := s.ChangeRun(t.Context(), "alice", "r1", change); !errors.As(err, &stale) || stale.Has != 3 {
			t.Errorf("got %v from a change behind the times, want a StaleError of 3 events", err)
		}
		if err := s.HoldRun(t.Context(), "alice", "r1", 1, time.Hour); !errors.As(err, &stale) || stale.Has != 3 {
			t.Errorf("got %v from who holds a run that others have taken over, want a StaleError of 3 events", err)
		}
		if err := s.HoldRun(t.Context(), "alice", "r1", 3, time.Hour); err != nil {
			t.Error(err)
		}
		if err := s.StartRun(t.Context(), "alice", store.Run{ID: "r1", Workflow: "flow", Head: js(`{}`)}, definition); !errors.As(err, &stale) {
			t.Errorf("got %v from a second run of the id, want a StaleError", err)
		}
		r, events, err := s.Run(t.Context(), "alice", "r1", 1)
		if err != nil || fmt.Sprintf("%s", events) != `[{"n":2} {"n":3}]` || string(r.Head) != `{"goal":"h"}` || r.Events != 3 || time.Until(r.Held) < 50*time.Minute {
			t.Errorf("got %+v, %s and %v", r, events, err)
		}
		if _, _, err := s.Run(t.Context(), "bob", "r1", 0); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v for another principal, want ErrNotFound", err)
		}
		if body, err := other.Definition(t.Context(), r.Digest); err != nil || string(body) != string(definition) {
			t.Errorf("got %s and %v, want the definition", body, err)
		}
		if err := s.ChangeRun(t.Context(), "alice", "r1", store.RunChange{After: 3, Head: r.Head, Events: []json.RawMessage{js(`{}`)}, Definition: []byte(`{"id":"flow","v":2}`)}); err != nil {
			t.Fatal(err)
		}
		if all, err := s.Runs(t.Context(), "", 10); err != nil || len(all) != 1 || all[0].Principal != "alice" || !all[0].Held.Before(time.Now()) {
			t.Errorf("got %+v and %v, want the run of alice, which nobody holds", all, err)
		}
		if _, err := s.RunsByID(t.Context(), "bob", "r1"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
		if err := s.DeleteRun(t.Context(), "alice", "r1"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Definition(t.Context(), store.Digest([]byte(`{"id":"flow","v":2}`))); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v for the definition of no run, want ErrNotFound", err)
		}
		if err := s.DeleteRun(t.Context(), "alice", "r1"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v from a second delete, want ErrNotFound", err)
		}
	})
}
