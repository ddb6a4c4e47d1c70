package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

// Old conversations go when it has been said for a day that they will, and not while they are used.
func TestExpire(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	each(t, func(t *testing.T, open opener, _ string) {
		start := time.Now().Truncate(time.Millisecond)
		now := start
		kept := func(age time.Duration) *store.Store {
			return open(t, store.Options{KeepFor: age, SessionIdle: time.Second}.Turned(store.Knobs{Now: func() time.Time { return now }}))
		}
		expire := func(s *store.Store, deleted, due int, from time.Time) {
			t.Helper()
			got, err := s.Expire(t.Context(), true)
			if err != nil || got.Deleted != deleted || got.Due != due || !got.From.Equal(from) {
				t.Errorf("after %v got %+v and %v, want %d deleted, %d due, from %v", now.Sub(start), got, err, deleted, due, from)
			}
		}
		expires := func(s *store.Store, id string, want time.Time) {
			t.Helper()
			c, err := s.Conversation(t.Context(), "alice", id)
			if err != nil || !c.Expires.Equal(want) {
				t.Errorf("after %v got %v and %v, want it to go at %v", now.Sub(start), c.Expires, err, want)
			}
		}
		forever := kept(0)
		old := begin(t, forever).Conversation
		say(t, forever, old, "m") // It ends by the clock.
		expire(forever, 0, 0, time.Time{})
		expires(forever, old, time.Time{})

		now = now.Add(100 * day)
		s := kept(30 * day)
		fresh, err := s.Begin(t.Context(), "alice", "editor", "another", "")
		if err != nil {
			t.Fatal(err)
		}
		expires(s, old, now.Add(day)) // The day begins when it is said.
		first := now.Add(day)
		expire(s, 0, 1, first)
		now = now.Add(day - time.Minute)
		expire(s, 0, 1, first)
		expires(s, old, first)
		expires(s, fresh.Conversation, now.Add(time.Minute-day).Add(30*day))

		// Who is in it, or works in it, keeps it.
		now = now.Add(time.Minute)
		in, err := s.Begin(t.Context(), "alice", "other", "shop", old)
		if err != nil {
			t.Fatal(err)
		}
		expire(s, 0, 0, first)
		f, err := s.Start(t.Context(), "alice", old, store.Request{Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(2 * time.Second) // The session is over, the lease is not.
		expire(s, 0, 0, first)
		if err := f.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Expire(t.Context(), false); err != nil || got.Deleted != 0 || got.Due != 1 {
			t.Errorf("got %+v and %v where the clock may be wrong, want one due", got, err)
		}
		expire(s, 1, 0, first)
		if _, err := s.Conversation(t.Context(), "alice", old); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v of an old conversation, want it gone", err)
		}
		if _, err := s.Session(t.Context(), "alice", in.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v of its session, want it gone", err)
		}
		if list, err := s.Conversations(t.Context(), "alice", "another", 9); err != nil || len(list) != 1 {
			t.Errorf("got %v and %v, want the other one still there", list, err)
		}

		// A longer age holds at once, a shorter one is said anew, and none is forgotten.
		expire(kept(60*day), 0, 0, first)
		shorter := kept(10 * day)
		second := now.Add(day)
		expire(shorter, 0, 0, second)
		now = now.Add(20 * day)
		expire(kept(0), 0, 0, time.Time{})
		expire(shorter, 0, 1, now.Add(day))
		if latest, err := s.Latest(t.Context(), "alice", 9); err != nil || len(latest) != 1 || latest[0].Expires.IsZero() {
			t.Errorf("got %+v and %v, want that it goes", latest, err)
		}
	})
}
