package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

// fill puts something of every kind into a store.
func fill(t *testing.T, s *store.Store) {
	t.Helper()
	for _, principal := range []string{"alice", "bob", `o"brien \ `} {
		session, err := s.Begin(t.Context(), principal, "editor", "shop", "")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			at, err := s.Session(t.Context(), principal, session.ID)
			if err != nil {
				t.Fatal(err)
			}
			for range i + 1 {
				if _, err := sayAs(t.Context(), s, principal, at.Conversation, store.NewID(), "zero \x00, <tags> & \u2028 "+strings.Repeat("é", 3000)); err != nil {
					t.Fatal(err)
				}
			}
			score := 0.5
			if err := s.SaveFeedback(t.Context(), principal, at.Conversation, store.Feedback{Score: &score}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Rotate(t.Context(), principal, session.ID, "Topic", "a summary"); err != nil {
				t.Fatal(err)
			}
			if err := s.SaveCorrection(t.Context(), principal, "shop", "v1", store.Correction{Utterance: fmt.Sprint("u", i), Command: "c", Veto: i == 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func exported(t *testing.T, s *store.Store, sel store.Selection) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := s.Export(t.Context(), &out, sel); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// What is exported from one database and imported into another is exported from there as it was.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener, _ string) {
		s := open(t, store.Options{})
		fill(t, s)
		want := exported(t, s, store.Selection{})
		for name, into := range map[string]func() *store.Store{
			"sqlite":   func() *store.Store { return openFile(t, t.TempDir()+"/store.db", store.Options{}) },
			"postgres": func() *store.Store { return openDatabase(t, server.Database(t), store.Options{}) },
		} {
			other := into()
			counts, err := other.Import(t.Context(), strings.NewReader(want), "")
			if err != nil || counts.Conversations != 12 || counts.Turns != 18 || counts.Corrections != 9 {
				t.Errorf("%s: got %+v and %v", name, counts, err)
			}
			if got := exported(t, other, store.Selection{}); got != want {
				t.Errorf("%s: got %s\nwant %s", name, got, want)
			}
			if counts, err := other.Import(t.Context(), strings.NewReader(want), ""); err != nil || counts.Conversations != 0 || counts.Skipped != 12 {
				t.Errorf("%s again: got %+v and %v, want all left as they were", name, counts, err)
			}
			if got := exported(t, other, store.Selection{}); got != want {
				t.Errorf("%s: got something else after the second import", name)
			}
			if next, err := other.Begin(t.Context(), "alice", "editor", "shop", ""); err != nil {
				t.Error(err)
			} else if c, err := other.Conversation(t.Context(), "alice", next.Conversation); err != nil || c.Turns != 0 {
				t.Errorf("%s: got %+v and %v, want to go on where alice was", name, c, err)
			}
		}
	})
}

// A read that is done anew, since its connection was lost in the middle, finds nothing twice.
func TestReadAnew(t *testing.T) {
	s := openFile(t, t.TempDir()+"/store.db", store.Options{})
	fill(t, s)
	if err := s.StartRun(t.Context(), "bob", store.Run{ID: "r", Workflow: "w", Head: js(`{}`)}, []byte(`{}`), js(`{"n":1}`), js(`{"n":2}`)); err != nil {
		t.Fatal(err)
	}
	all := map[string]func() (any, error){
		"Conversations": func() (any, error) { return s.Conversations(t.Context(), "bob", "shop", 9) },
		"Corrections":   func() (any, error) { return s.Corrections(t.Context(), "bob", "shop", "v1") },
		"Latest":        func() (any, error) { return s.Latest(t.Context(), "", 99) },
		"Runs":          func() (any, error) { return s.Runs(t.Context(), "bob", 9) },
		"Export":        func() (any, error) { return exported(t, s, store.Selection{}), nil },
	}
	once := make(map[string]any)
	for name, read := range all {
		found, err := read()
		if err != nil {
			t.Fatal(err)
		}
		once[name] = found
	}
	s.ReadAnew()
	for name, read := range all {
		if got, err := read(); err != nil || !reflect.DeepEqual(got, once[name]) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, once[name])
		}
	}
}

func TestExportSelection(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		s := open(t, store.Options{})
		fill(t, s)
		bob := exported(t, s, store.Selection{Principal: "bob"})
		if strings.Contains(bob, "alice") || !strings.Contains(bob, `"end":{"conversations":4,"turns":6,"corrections":3}`) {
			t.Errorf("got %s, want bob's alone", bob)
		}
		list, err := s.Conversations(t.Context(), "bob", "shop", 2)
		if err != nil {
			t.Fatal(err)
		}
		one := exported(t, s, store.Selection{IDs: []string{list[1].ID}})
		if n := strings.Count(one, `{"conversation":`); n != 1 || !strings.Contains(one, list[1].ID) || strings.Contains(one, `"correction"`) {
			t.Errorf("got %s, want conversation %s alone", one, list[1].ID)
		}
		var out bytes.Buffer
		if _, err := s.Export(t.Context(), &out, store.Selection{Principal: "alice", IDs: []string{list[1].ID}}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v for bob's conversation among alice's, want not found", err)
		}
	})
}

// More conversations than are read at a time.
func TestExportManyPages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener, _ string) {
		var file strings.Builder
		file.WriteString("{\"workbench\":{\"version\":1}}\n")
		const n = 450
		for i := range n {
			fmt.Fprintf(&file, `{"conversation":{"principal":"p%d","conversation_id":"%05d","client":"c","workflow":"w","topic":"","summary":"","turns":0,"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"}}`+"\n", i/200, i)
		}
		fmt.Fprintf(&file, "{\"end\":{\"conversations\":%d,\"turns\":0,\"corrections\":0}}\n", n)
		s := open(t, store.Options{})
		if _, err := s.Import(t.Context(), strings.NewReader(file.String()), ""); err != nil {
			t.Fatal(err)
		}
		if got := exported(t, s, store.Selection{}); got != file.String() {
			t.Errorf("got %d bytes, want the %d that were imported", len(got), file.Len())
		}
	})
}

func TestImportRefuses(t *testing.T) {
	const head = `{"workbench":{"version":1}}` + "\n"
	const conversation = `{"conversation":{"principal":"p","conversation_id":"1","client":"c","workflow":"w","topic":"","summary":"","turns":1,"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"}}` + "\n"
	const turn = `{"turn":{"turn_key":"k","message":"m","status":"completed","started":"2026-01-02T03:04:05Z","ended":"2026-01-02T03:04:05Z"}}` + "\n"
	for _, tt := range []struct{ name, file, want string }{
		{"nothing", "", "line 1: the file ends"},
		{"another file", "{}\n", "line 1: want the first line of an export"},
		{"no JSON", head + "{\n", "line 2: want a line of JSON"},
		{"a newer one", `{"workbench":{"version":2}}`, "line 1: this export has version 2"},
		{"cut off", head + conversation + turn, "line 4: the file ends without"},
		{"a turn too few", head + conversation + `{"end":{}}`, "line 3: want 1 turns in conversation 1, got 0"},
		{"a turn too many", head + conversation + turn + turn, "line 4: want no turn here"},
		{"a turn of nothing", head + turn, "line 2: want no turn here"},
		{"nothing known", head + `{"other":1}`, "line 2: want a conversation"},
		{"lines missing", head + `{"end":{"conversations":3}}`, "lines are missing"},
		{"no principal", head + strings.Replace(conversation, `"p"`, `""`, 1), "line 2: want a principal, got none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := openFile(t, t.TempDir()+"/store.db", store.Options{})
			if _, err := s.Import(t.Context(), strings.NewReader(tt.file), ""); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if list, err := s.Latest(t.Context(), "", 10); err != nil || len(list) > 1 {
				t.Errorf("got %d conversations and %v", len(list), err)
			}
		})
	}
}

// A topic that is taken where it is imported gets a number.
func TestImportTopic(t *testing.T) {
	s := openFile(t, t.TempDir()+"/store.db", store.Options{})
	fill(t, s)
	const file = `{"workbench":{"version":1}}
{"conversation":{"principal":"alice","conversation_id":"1","client":"c","workflow":"w","topic":"TOPIC","summary":"","turns":0,"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"}}
{"end":{"conversations":1,"turns":0,"corrections":0}}
`
	if _, err := s.Import(t.Context(), strings.NewReader(file), ""); err != nil {
		t.Fatal(err)
	}
	c, err := s.Conversation(t.Context(), "alice", "1")
	if want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC); err != nil || c.Topic != "TOPIC 4" || !c.Created.Equal(want) {
		t.Errorf("got %+v and %v, want TOPIC 4 of %v", c, err, want)
	}
}

// What is imported for a user is that user's, beside what stays whose it was.
func TestImportForAnother(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener, _ string) {
		s := open(t, store.Options{})
		fill(t, s)
		before := exported(t, s, store.Selection{})
		mine := exported(t, s, store.Selection{Principal: "alice"})
		counts, err := s.Import(t.Context(), strings.NewReader(mine), "alice@issuer")
		if err != nil || counts.Conversations == 0 || counts.Turns == 0 || counts.Skipped > 0 {
			t.Fatalf("got %+v and %v, want them kept", counts, err)
		}
		if got := exported(t, s, store.Selection{Principal: "alice@issuer"}); strings.ReplaceAll(got, `"alice@issuer"`, `"alice"`) != mine {
			t.Errorf("got %s\nwant for alice@issuer what alice has: %s", got, mine)
		}
		if got := exported(t, s, store.Selection{Principal: "alice"}); got != mine {
			t.Errorf("got %s\nof alice, want %s", got, mine)
		}
		if _, err := s.Import(t.Context(), strings.NewReader(before), strings.Repeat("x", 2000)); err == nil {
			t.Error("got everything for somebody whose name is too long")
		}
	})
}
