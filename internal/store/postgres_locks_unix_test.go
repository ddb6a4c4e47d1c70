//go:build unix

package store_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-workbench/workbench/internal/store"
)

// Whoever looks whether the locks are held still, while others wait for an answer on their connection, does not take the
// waiting for the end of it. A caller who went away meanwhile leaves no lock behind.
func TestWaitingIsNoSilence(t *testing.T) {
	dsn := server.Database(t)
	s := openDatabase(t, dsn, store.Options{}.Turned(store.Knobs{Lease: time.Hour, Answer: time.Hour})) // the server may take its time
	mine := begin(t, s).Conversation
	other, err := s.Begin(t.Context(), "alice", "terminal", "shop", "")
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Start(t.Context(), "alice", mine, store.Request{Key: "k1"})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var pid int // of the process that serves the connection
	if err := conn.QueryRow(t.Context(), `SELECT pid FROM pg_locks WHERE locktype = 'advisory'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Skip(err) // the server is another user's
	}
	leaving, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := s.Delete(leaving, "alice", other.Conversation); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v for a caller who went, want that", err)
	}
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		s.LookAlive()
	}()
	within(t, "the look", looked)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	var busy *store.BusyError
	if _, err := s.Start(t.Context(), "alice", mine, store.Request{Key: "k2"}); !errors.As(err, &busy) {
		t.Errorf("got %v of a second turn, want busy", err)
	}
	if _, err := f.Finish(t.Context(), store.Turn{Status: "completed"}); err != nil {
		t.Error(err)
	}
	free, err := s.Start(t.Context(), "alice", other.Conversation, store.Request{Key: "k3"})
	if err != nil {
		t.Fatalf("got %v from the conversation that was not deleted, want it free", err)
	}
	if err := free.Release(t.Context()); err != nil {
		t.Error(err)
	}
}
