package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/atonce"
	"github.com/mcp-workbench/workbench/internal/store"
)

// roleVariable makes this test program play a part in a test of several processes.
const roleVariable = "STORE_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(play(role))
	}
	atonce.Tests(12)
	code := m.Run()
	server.Stop()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// deaf fails the test at a warning that it does not expect.
func deaf(t testing.TB) func(error) {
	return func(err error) { t.Errorf("got warning %v, want none", err) }
}

// openFile opens a store in a file for a test.
func openFile(t testing.TB, path string, opts store.Options) *store.Store {
	t.Helper()
	s, err := store.OpenSQLite(t.Context(), path, deaf(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

func closeStore(t testing.TB, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// opener opens the same store each time it is called, with these options.
type opener func(t testing.TB, opts store.Options) *store.Store

// each runs a test on every database. Where tells the place.
func each(t *testing.T, test func(t *testing.T, open opener, where string)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "made", "store.db")
		test(t, func(t testing.TB, opts store.Options) *store.Store { return openFile(t, path, opts) }, path)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := server.Database(t)
		test(t, func(t testing.TB, opts store.Options) *store.Store { return openDatabase(t, dsn, opts) }, "postgres:"+dsn)
	})
}

func openDatabase(t testing.TB, dsn string, opts store.Options) *store.Store {
	t.Helper()
	s, err := store.OpenPostgres(t.Context(), dsn, deaf(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

// begin makes a session of alice.
func begin(t testing.TB, s *store.Store) store.Session {
	t.Helper()
	session, err := s.Begin(t.Context(), "alice", "editor", "shop", "")
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// say makes a turn of alice.
func say(t testing.TB, s *store.Store, conversation, message string) store.Turn {
	t.Helper()
	turn, err := sayAs(t.Context(), s, "alice", conversation, store.NewID(), message)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// sayAs makes a turn and gives it up if it cannot be kept.
func sayAs(ctx context.Context, s *store.Store, principal, conversation, key, message string) (store.Turn, error) {
	f, err := s.Start(ctx, principal, conversation, store.Request{Key: key, Kind: "assistant", Message: message})
	if err != nil {
		return store.Turn{}, err
	}
	turn, err := f.Finish(ctx, store.Turn{Status: "completed", Summary: "said " + message, Output: []byte(`{"success":true,"n":12345678901234567890}`)})
	if err != nil {
		_ = f.Release(ctx) // The store that could not keep the turn may not be able to do this either.
	}
	return turn, err
}

func messages(turns []store.Turn) string {
	var all []string
	for _, t := range turns {
		all = append(all, t.Message)
	}
	return strings.Join(all, " ")
}

// within fails the test if something has not happened after so long that it never does.
func within(t testing.TB, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s: got nothing in two minutes", what)
	}
}
