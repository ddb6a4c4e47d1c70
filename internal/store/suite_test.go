package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

func TestTurns(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		s := open(t, store.Options{})
		session := begin(t, s)
		c := session.Conversation
		if turns, err := s.Turns(t.Context(), "alice", c, 0); err != nil || len(turns) != 0 {
			t.Errorf("got %v and %v of a new conversation, want no turns", turns, err)
		}
		f, err := s.Start(t.Context(), "alice", c, store.Request{Key: "k1", Digest: "d", Kind: "agent", Message: "zero \x00 <b> \u2028"})
		if err != nil {
			t.Fatal(err)
		}
		want := store.Turn{Status: "awaiting_user", Summary: "s", Output: json.RawMessage(`{"n":12345678901234567890,"html":"<a>"}`),
			Traces: []json.RawMessage{json.RawMessage(`{"direction":"agent_to_workflow"}`), json.RawMessage(`null`)}, State: json.RawMessage(`["Order","44821"]`)}
		got, err := f.Finish(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		want.Key, want.Kind, want.Message, want.Started, want.Ended = "k1", "agent", "zero \x00 <b> \u2028", got.Started, got.Ended
		if !reflect.DeepEqual(got, want) || got.Ended.Before(got.Started) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		say(t, s, c, "two")
		say(t, s, c, "three")

		s = open(t, store.Options{}) // as another process would
		turns, err := s.Turns(t.Context(), "alice", c, 0)
		if err != nil || len(turns) != 3 || !reflect.DeepEqual(turns[0], want) {
			t.Fatalf("got %+v and %v, want %+v first of three", turns, err, want)
		}
		if turns, err := s.Turns(t.Context(), "alice", c, 2); err != nil || messages(turns) != "two three" {
			t.Errorf("got %v and %v, want the last two", messages(turns), err)
		}
		kept, err := s.Conversation(t.Context(), "alice", c)
		if err != nil || kept.Turns != 3 || string(kept.State) != `["Order","44821"]` || !kept.Updated.Equal(turns[2].Ended) || kept.Client != "editor" || kept.Workflow != "shop" {
			t.Errorf("got %+v and %v", kept, err)
		}
		if err := s.SaveState(t.Context(), "alice", c, json.RawMessage(`[]`)); err != nil {
			t.Error(err)
		}
		if kept, err := s.Conversation(t.Context(), "alice", c); err != nil || string(kept.State) != `[]` {
			t.Errorf("got state %s and %v, want []", kept.State, err)
		}
	})
}

func TestOneTurnAtATime(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		s, other := open(t, store.Options{}), open(t, store.Options{})
		c := begin(t, s).Conversation
		f, err := s.Start(t.Context(), "alice", c, store.Request{Key: "k1", Digest: "d1", Message: "m"})
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range map[string]*store.Store{"same": s, "other": other} {
			var busy *store.BusyError
			if _, err := s.Start(t.Context(), "alice", c, store.Request{Key: "k2", Message: "m"}); !errors.As(err, &busy) || busy.Key != "k1" || busy.Digest != "d1" {
				t.Errorf("%s: got %v from a second start, want busy with k1 and d1", name, err)
			}
			if err := s.Delete(t.Context(), "alice", c); !errors.As(err, &busy) {
				t.Errorf("%s: got %v from deleting, want busy", name, err)
			}
			r, err := s.Result(t.Context(), "alice", "k1")
			if err != nil || r.Progress != store.Running || r.Conversation != c || r.Turn.Message != "m" {
				t.Errorf("%s: got %+v and %v, want it running", name, r, err)
			}
		}
		if _, err := f.Finish(t.Context(), store.Turn{Status: "completed"}); err != nil {
			t.Fatal(err)
		}
		if err := f.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if r, err := other.Result(t.Context(), "alice", "k1"); err != nil || r.Progress != store.Done || r.Turn.Status != "completed" {
			t.Errorf("got %+v and %v, want it done", r, err)
		}
		if _, err := other.Start(t.Context(), "alice", c, store.Request{Key: "k1"}); !errors.Is(err, store.ErrDuplicate) {
			t.Errorf("got %v from the same key, want a duplicate", err)
		}
		f, err = other.Start(t.Context(), "alice", c, store.Request{Key: "k2"})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Result(t.Context(), "alice", "k2"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v of a turn that was released, want not found", err)
		}
		if turns, err := s.Turns(t.Context(), "alice", c, 0); err != nil || len(turns) != 1 {
			t.Errorf("got %d turns and %v, want 1", len(turns), err)
		}
	})
}

// Of many who start a turn at once, one does.
func TestStartRace(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		stores := []*store.Store{open(t, store.Options{}), open(t, store.Options{})}
		c := begin(t, stores[0]).Conversation
		var mu sync.Mutex
		var started []*store.Flight
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				f, err := stores[i%2].Start(t.Context(), "alice", c, store.Request{Key: fmt.Sprint(i)})
				var busy *store.BusyError
				if err != nil && !errors.As(err, &busy) {
					t.Errorf("got %v, want busy", err)
				}
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					started = append(started, f)
				}
			})
		}
		all.Wait()
		if len(started) != 1 {
			t.Fatalf("got %d turns started, want 1", len(started))
		}
		if _, err := started[0].Finish(t.Context(), store.Turn{}); err != nil {
			t.Error(err)
		}
	})
}

// What belongs to another principal answers as what is not there.
func TestForeign(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		s := open(t, store.Options{})
		session := begin(t, s)
		turn := say(t, s, session.Conversation, "secret")
		other, err := s.Begin(t.Context(), "mallory", "editor", "shop", "")
		if err != nil {
			t.Fatal(err)
		}
		if other.Conversation == session.Conversation {
			t.Error("got the same conversation for two principals")
		}
		ctx, text := t.Context(), "x"
		for _, id := range []struct{ name, session, conversation, key string }{
			{"foreign", session.ID, session.Conversation, turn.Key},
			{"unknown", store.NewID(), store.NewID(), store.NewID()},
		} {
			calls := map[string]func() error{
				"Session":      func() error { _, err := s.Session(ctx, "mallory", id.session); return err },
				"Begin":        func() error { _, err := s.Begin(ctx, "mallory", "editor", "shop", id.conversation); return err },
				"Activate":     func() error { return s.Activate(ctx, "mallory", other.ID, id.conversation) },
				"Activate in":  func() error { return s.Activate(ctx, "mallory", id.session, other.Conversation) },
				"Rotate":       func() error { _, err := s.Rotate(ctx, "mallory", id.session, "t", "s"); return err },
				"Conversation": func() error { _, err := s.Conversation(ctx, "mallory", id.conversation); return err },
				"Turns":        func() error { _, err := s.Turns(ctx, "mallory", id.conversation, 0); return err },
				"Start": func() error {
					_, err := s.Start(ctx, "mallory", id.conversation, store.Request{Key: store.NewID()})
					return err
				},
				"SaveState":    func() error { return s.SaveState(ctx, "mallory", id.conversation, nil) },
				"SaveFeedback": func() error { return s.SaveFeedback(ctx, "mallory", id.conversation, store.Feedback{Text: &text}) },
				"Result":       func() error { _, err := s.Result(ctx, "mallory", id.key); return err },
				"Delete":       func() error { return s.Delete(ctx, "mallory", id.conversation) },
			}
			for name, call := range calls {
				if err := call(); err != store.ErrNotFound {
					t.Errorf("%s of a %s id: got %v, want %v and no more", name, id.name, err, store.ErrNotFound)
				}
			}
		}
		if list, err := s.Conversations(ctx, "mallory", other.Workflow, 10); err != nil || len(list) != 1 || list[0].ID != other.Conversation {
			t.Errorf("got %+v and %v, want mallory's own", list, err)
		}
		if turns, err := s.Turns(ctx, "alice", session.Conversation, 0); err != nil || messages(turns) != "secret" {
			t.Errorf("got %v and %v, want the turn as it was", turns, err)
		}
		// The same key is another turn for another principal.
		if _, err := sayAs(ctx, s, "mallory", other.Conversation, turn.Key, "mine"); err != nil {
			t.Error(err)
		}
	})
}

func TestRestore(t *testing.T) {
	each(t, func(t *testing.T, open opener, where string) {
		s := open(t, store.Options{})
		ctx := t.Context()
		first := begin(t, s)
		if again := begin(t, s); again.Conversation != first.Conversation || again.ID == first.ID {
			t.Errorf("got %+v after %+v, want another session in the same conversation", again, first)
		}
		for name, start := range map[string]func() (store.Session, error){
			"another client":   func() (store.Session, error) { return s.Begin(ctx, "alice", "terminal", "shop", "") },
			"another workflow": func() (store.Session, error) { return s.Begin(ctx, "alice", "editor", "bank", "") },
			"another user":     func() (store.Session, error) { return s.Begin(ctx, "bob", "editor", "shop", "") },
		} {
			if other, err := start(); err != nil || other.Conversation == first.Conversation {
				t.Errorf("%s: got %+v and %v, want another conversation", name, other, err)
			}
		}
		say(t, s, first.Conversation, "one")
		rotated, err := s.Rotate(ctx, "alice", first.ID, "Topic", "Summary")
		if err != nil || rotated == first.Conversation {
			t.Fatalf("got %s and %v, want another conversation", rotated, err)
		}
		if at, err := s.Session(ctx, "alice", first.ID); err != nil || at.Conversation != rotated {
			t.Errorf("got session %+v and %v, want it in %s", at, err, rotated)
		}
		// A restart opens the new one, though nothing was said in it.
		s = open(t, store.Options{})
		last := begin(t, s)
		if last.Conversation != rotated {
			t.Errorf("got %s after a restart, want the rotated %s", last.Conversation, rotated)
		}
		if again, err := s.Rotate(ctx, "alice", last.ID, "Other", ""); err != nil || again != rotated {
			t.Errorf("got %s and %v from rotating without turns, want %s to go on", again, err, rotated)
		}
		given, err := s.Begin(ctx, "alice", "editor", "shop", first.Conversation)
		if err != nil || given.Conversation != first.Conversation {
			t.Errorf("got %+v and %v, want the given conversation", given, err)
		}
		if err := s.Activate(ctx, "alice", given.ID, rotated); err != nil {
			t.Error(err)
		}
		if next := begin(t, s); next.Conversation != rotated {
			t.Errorf("got %s, want the activated %s", next.Conversation, rotated)
		}
		if _, err := s.Begin(ctx, "alice", "editor", "bank", first.Conversation); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v for a conversation of another workflow, want not found", err)
		}
		old, err := s.Conversation(ctx, "alice", first.Conversation)
		if err != nil || old.Topic != "Topic" || old.Summary != "Summary" {
			t.Errorf("got %+v and %v", old, err)
		}
	})
}

// A turn under way keeps its conversation where it is.
func TestBusyConversationStays(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		s := open(t, store.Options{})
		session := begin(t, s)
		say(t, s, session.Conversation, "one")
		f, err := s.Start(t.Context(), "alice", session.Conversation, store.Request{Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		var busy *store.BusyError
		if _, err := s.Rotate(t.Context(), "alice", session.ID, "t", "s"); !errors.As(err, &busy) || busy.Key != "k" {
			t.Errorf("rotate: got %v, want busy with k", err)
		}
		if err := s.Activate(t.Context(), "alice", session.ID, session.Conversation); !errors.As(err, &busy) || busy.Key != "k" {
			t.Errorf("activate: got %v, want busy with k", err)
		}
		if err := f.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Rotate(t.Context(), "alice", session.ID, "t", "s"); err != nil {
			t.Error(err)
		}
	})
}

func TestTopics(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		s := open(t, store.Options{})
		session := begin(t, s)
		var id string
		rotate := func(topic string) string {
			t.Helper()
			at, err := s.Session(t.Context(), "alice", session.ID)
			if err != nil {
				t.Fatal(err)
			}
			id = at.Conversation
			say(t, s, id, "m")
			if _, err := s.Rotate(t.Context(), "alice", session.ID, topic, ""); err != nil {
				t.Fatal(err)
			}
			c, err := s.Conversation(t.Context(), "alice", id)
			if err != nil {
				t.Fatal(err)
			}
			return c.Topic
		}
		for _, tt := range []struct{ topic, want string }{
			{"Order a book", "Order a book"},
			{"order  a\tBOOK", "order a BOOK 2"},
			{"OrderAbook", "OrderAbook 3"},
			{"  Order a book 2 ", "Order a book 2 2"},
			{"Order a bookcase", "Order a bookcase"},
			{"STRASSE", "STRASSE"},
			{"stra\u00dfe", "stra\u00dfe 2"},
			{"\u00a0\u2003", ""},
			{"", ""},
			{"line\nbreak\x00\x1b[31m", "line break [31m"},
			{strings.Repeat("\u00e9", 200), strings.Repeat("\u00e9", 100)},
		} {
			if got := rotate(tt.topic); got != tt.want {
				t.Errorf("%q: got %q, want %q", tt.topic, got, tt.want)
			}
		}
		// Itself excluded: ended again with its own topic, a conversation keeps it.
		rotate("Unique")
		if err := s.Activate(t.Context(), "alice", session.ID, id); err != nil {
			t.Fatal(err)
		}
		if got := rotate("unique"); got != "unique" {
			t.Errorf("got %q for a conversation's own topic, want it without a number", got)
		}
		other, err := s.Begin(t.Context(), "bob", "editor", "shop", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sayAs(t.Context(), s, "bob", other.Conversation, "k", "m"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Rotate(t.Context(), "bob", other.ID, "Unique", ""); err != nil {
			t.Fatal(err)
		}
		if c, err := s.Conversation(t.Context(), "bob", other.Conversation); err != nil || c.Topic != "Unique" {
			t.Errorf("got %q and %v for another principal, want no number", c.Topic, err)
		}
	})
}

// Topics stay apart when many are chosen at once.
func TestTopicRace(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		stores := []*store.Store{open(t, store.Options{}), open(t, store.Options{})}
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				s := stores[i%2]
				session, err := s.Begin(t.Context(), "alice", fmt.Sprint("client", i), "shop", "")
				if err == nil {
					_, err = sayAs(t.Context(), s, "alice", session.Conversation, store.NewID(), "m")
				}
				if err == nil {
					_, err = s.Rotate(t.Context(), "alice", session.ID, "Same", "")
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		list, err := stores[0].Conversations(t.Context(), "alice", "shop", 100)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		for _, c := range list {
			seen[c.Topic] = true
		}
		for n := 2; n <= 8; n++ {
			if !seen[fmt.Sprint("Same ", n)] {
				t.Errorf("got topics %v, want Same 2 to Same 8", seen)
				break
			}
		}
	})
}

// A clock that stands still, or is set back, does not change what is listed first.
func TestNewIsListedFirst(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		now := time.UnixMilli(1_700_000_000_000)
		s := open(t, store.Options{}.Turned(store.Knobs{Now: func() time.Time { return now }}))
		session := begin(t, s)
		want := []string{session.Conversation}
		for i := range 8 {
			say(t, s, want[0], "m")
			if i == 4 {
				now = now.Add(-time.Hour)
			}
			fresh, err := s.Rotate(t.Context(), "alice", session.ID, fmt.Sprint("t", i), "")
			if err != nil {
				t.Fatal(err)
			}
			want = slices.Insert(want, 0, fresh)
		}
		all, err := s.Conversations(t.Context(), "alice", "shop", 10)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range all {
			got = append(got, c.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestList(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		now := time.UnixMilli(1_700_000_000_000)
		s := open(t, store.Options{}.Turned(store.Knobs{Now: func() time.Time { return now }}))
		session := begin(t, s)
		var ids []string
		for i := range 5 {
			now = now.Add(time.Second)
			at, err := s.Session(t.Context(), "alice", session.ID)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, at.Conversation)
			say(t, s, at.Conversation, "m")
			now = now.Add(time.Second)
			if _, err := s.Rotate(t.Context(), "alice", session.ID, fmt.Sprint("t", i), ""); err != nil {
				t.Fatal(err)
			}
		}
		now = now.Add(time.Second)
		say(t, s, ids[1], "again")
		if _, err := s.Begin(t.Context(), "alice", "editor", "another workflow", ""); err != nil {
			t.Fatal(err)
		}
		list, err := s.Conversations(t.Context(), "alice", "shop", 4)
		if err != nil {
			t.Fatal(err)
		}
		var topics []string
		for _, c := range list {
			topics = append(topics, c.Topic)
		}
		if got, want := fmt.Sprintf("%q", topics), `["t1" "" "t4" "t3"]`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestFeedback(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		s := open(t, store.Options{})
		c := begin(t, s).Conversation
		score, text := 1.0, "well done"
		if err := s.SaveFeedback(t.Context(), "alice", c, store.Feedback{Score: &score}); !errors.Is(err, store.ErrNoTurn) {
			t.Errorf("got %v before the first turn, want %v", err, store.ErrNoTurn)
		}
		say(t, s, c, "one")
		say(t, s, c, "two")
		var invalid *store.InvalidError
		if err := s.SaveFeedback(t.Context(), "alice", c, store.Feedback{}); !errors.As(err, &invalid) {
			t.Errorf("got %v for no feedback, want it invalid", err)
		}
		for _, f := range []store.Feedback{{Score: &score}, {Text: &text}} {
			if err := s.SaveFeedback(t.Context(), "alice", c, f); err != nil {
				t.Fatal(err)
			}
		}
		turns, err := s.Turns(t.Context(), "alice", c, 0)
		if err != nil || turns[0].Feedback != nil || turns[1].Feedback == nil || *turns[1].Feedback.Text != text || turns[1].Feedback.Score != nil || turns[1].Feedback.Given.IsZero() {
			t.Errorf("got %+v and %v, want the text alone on the second turn", turns, err)
		}
	})
}

func TestExpiry(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		now := time.Now()
		s := open(t, store.Options{SessionIdle: time.Hour, ResultTTL: 10 * time.Minute}.Turned(store.Knobs{Now: func() time.Time { return now }}))
		session := begin(t, s)
		turn := say(t, s, session.Conversation, "m")
		for range 3 { // Use keeps it.
			now = now.Add(50 * time.Minute)
			if _, err := s.Session(t.Context(), "alice", session.ID); err != nil {
				t.Fatalf("got %v of a session in use", err)
			}
		}
		if _, err := s.Result(t.Context(), "alice", turn.Key); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v of an old result, want not found", err)
		}
		if turns, err := s.Turns(t.Context(), "alice", session.Conversation, 0); err != nil || len(turns) != 1 {
			t.Errorf("got %v and %v, want the turn still in its conversation", turns, err)
		}
		now = now.Add(time.Hour)
		if _, err := s.Session(t.Context(), "alice", session.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v of an idle session, want not found", err)
		}
		if _, err := s.Rotate(t.Context(), "alice", session.ID, "", ""); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v from rotating in an idle session, want not found", err)
		}
		if again := begin(t, s); again.Conversation != session.Conversation {
			t.Errorf("got %s, want the conversation %s to outlive its session", again.Conversation, session.Conversation)
		}
	})
}

func TestDelete(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		s := open(t, store.Options{})
		session := begin(t, s)
		turn := say(t, s, session.Conversation, "m")
		if err := s.Delete(t.Context(), "alice", session.Conversation); err != nil {
			t.Fatal(err)
		}
		for name, call := range map[string]func() error{
			"conversation": func() error { _, err := s.Conversation(t.Context(), "alice", session.Conversation); return err },
			"turns":        func() error { _, err := s.Turns(t.Context(), "alice", session.Conversation, 0); return err },
			"session":      func() error { _, err := s.Session(t.Context(), "alice", session.ID); return err },
			"result":       func() error { _, err := s.Result(t.Context(), "alice", turn.Key); return err },
		} {
			if err := call(); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: got %v, want not found", name, err)
			}
		}
		if next := begin(t, s); next.Conversation == session.Conversation {
			t.Error("got the deleted conversation again")
		}
	})
}

func TestCorrections(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		now := time.UnixMilli(1_700_000_000_000).UTC()
		s := open(t, store.Options{}.Turned(store.Knobs{Now: func() time.Time { now = now.Add(time.Second); return now }}))
		save := func(principal, version string, c store.Correction) {
			t.Helper()
			if err := s.SaveCorrection(t.Context(), principal, "shop", version, c); err != nil {
				t.Fatal(err)
			}
		}
		save("alice", "v1", store.Correction{Utterance: "bin it", Command: "cancel_order"})
		save("alice", "v1", store.Correction{Utterance: "bin it", Command: "delete_account", Veto: true})
		save("alice", "v1", store.Correction{Utterance: "bin it", Command: "Order/cancel_order"})
		save("alice", "v2", store.Correction{Utterance: "other version", Command: "c"})
		save("bob", "v1", store.Correction{Utterance: "other user", Command: "c"})
		got, err := s.Corrections(t.Context(), "alice", "shop", "v1")
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i].Made.IsZero() {
				t.Error("got no time of a correction")
			}
			got[i].Made = time.Time{}
		}
		want := []store.Correction{{Utterance: "bin it", Command: "delete_account", Veto: true}, {Utterance: "bin it", Command: "Order/cancel_order"}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func TestInvalidNames(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		s := open(t, store.Options{})
		c := begin(t, s).Conversation
		for _, name := range []string{"", "a\x00b", "\xff", strings.Repeat("x", 513)} {
			var invalid *store.InvalidError
			if _, err := s.Begin(t.Context(), name, "editor", "shop", ""); !errors.As(err, &invalid) {
				t.Errorf("principal %q: got %v, want it invalid", name, err)
			}
			if _, err := s.Start(t.Context(), "alice", c, store.Request{Key: name}); !errors.As(err, &invalid) {
				t.Errorf("key %q: got %v, want it invalid", name, err)
			}
		}
		f, err := s.Start(t.Context(), "alice", c, store.Request{Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		var invalid *store.InvalidError
		if _, err := f.Finish(t.Context(), store.Turn{Output: json.RawMessage(`{"cut":`)}); !errors.As(err, &invalid) {
			t.Errorf("got %v for output that is not JSON, want it invalid", err)
		}
		if _, err := f.Finish(t.Context(), store.Turn{}); err != nil {
			t.Errorf("got %v from finishing after that, want it kept", err)
		}
	})
}

// Names are data: what means something in a statement or a pattern finds what has that name, and nothing else.
func TestNamesAreData(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		s := open(t, store.Options{})
		begin(t, s)
		for _, name := range []string{"' OR '1'='1", "alice'; DROP TABLE turns --", "%", "_lice", "$1", `"alice"`, "line\nbreak"} {
			for want := range 2 {
				if list, err := s.Conversations(t.Context(), name, name, 100); err != nil || len(list) != want {
					t.Errorf("%q: got %d conversations and %v, want %d", name, len(list), err, want)
				}
				if want > 0 {
					continue
				}
				if _, err := s.Begin(t.Context(), name, name, name, ""); err != nil {
					t.Errorf("%q: %v", name, err)
				}
			}
		}
		if list, err := s.Conversations(t.Context(), "alice", "shop", 100); err != nil || len(list) != 1 {
			t.Errorf("got %d conversations of alice and %v, want one", len(list), err)
		}
	})
}

func TestClosed(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		s := open(t, store.Options{})
		f, err := s.Start(t.Context(), "alice", begin(t, s).Conversation, store.Request{Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		within(t, "the end of the turn under way", f.Lost())
		if _, err := s.Begin(t.Context(), "alice", "editor", "shop", ""); err == nil {
			t.Error("got no error from a closed store")
		}
	})
}
