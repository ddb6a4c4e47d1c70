//go:build unix

package store_test

import (
	"bufio"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

// A process that hangs loses its conversation when it has not renewed its lease, although its connection lives.
func TestFaultE9_HolderHangs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener, where string) {
		s := open(t, store.Options{}.Turned(store.Knobs{Lease: time.Second}))
		c := begin(t, s).Conversation
		cmd := actor(t, "hold", where, c)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		f := eventually(t, func() (*store.Flight, error) {
			return s.Start(t.Context(), "alice", c, store.Request{Key: "mine"})
		})
		if _, err := f.Finish(t.Context(), store.Turn{Status: "completed"}); err != nil {
			t.Fatal(err)
		}
		turns, err := s.Turns(t.Context(), "alice", c, 0)
		if err != nil || len(turns) != 2 || turns[0].Status != store.StatusLost {
			t.Errorf("got %+v and %v, want the lost turn and ours", turns, err)
		}
	})
}

// A lease of before the clock was set back ends all the same, if its process is gone; a live one goes on.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	short := store.Options{}.Turned(store.Knobs{Lease: time.Second})
	s := openFile(t, path, short)
	c, mine := begin(t, s).Conversation, store.NewID()
	if got := killed(t, actor(t, "hold", path, c), 1, time.Minute); len(got) != 1 {
		t.Fatalf("got %q, want the turn started", got)
	}
	rawExec(t, raw(t, path), `UPDATE leases SET expires = expires + 86400000`)
	f := eventually(t, func() (*store.Flight, error) {
		return s.Start(t.Context(), "alice", c, store.Request{Key: mine})
	})
	rawExec(t, raw(t, path), `UPDATE leases SET expires = expires + 86400000`)
	var busy *store.BusyError
	if _, err := openFile(t, path, short).Start(t.Context(), "alice", c, store.Request{Key: "other"}); !errors.As(err, &busy) {
		t.Errorf("got %v, want the turn under way", err)
	}
	if _, err := f.Finish(t.Context(), store.Turn{Status: "completed"}); err != nil {
		t.Error(err)
	}
}

// While the server is away that is said, and what is asked when it is back is answered at once.
func TestFaultE16_ServerAway(t *testing.T) {
	t.Parallel()
	server := ownServer(t)
	dsn := server.Database(t)
	s := openDatabase(t, dsn, store.Options{})
	at := begin(t, s)
	say(t, s, at.Conversation, "before")
	server.Crash()
	var away *store.UnreachableError
	_, err := s.Turns(t.Context(), "alice", at.Conversation, 0)
	for _, part := range []string{"127.0.0.1", "user=", "database="} {
		if err != nil && strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want nothing of the connection string", err)
		}
	}
	if _, err := s.Turns(t.Context(), "alice", at.Conversation, 0); !errors.As(err, &away) || !strings.Contains(err.Error(), "try again") {
		t.Errorf("got %v from a read, want that the store cannot be reached", err)
	}
	if _, err := s.Begin(t.Context(), "alice", "editor", "shop", ""); !errors.As(err, &away) {
		t.Errorf("got %v from a write, want that the store cannot be reached", err)
	}
	if _, err := sayAs(t.Context(), s, "alice", at.Conversation, "k", "during"); !errors.As(err, &away) {
		t.Errorf("got %v from a turn, want that the store cannot be reached", err)
	}
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	if turns, err := s.Turns(t.Context(), "alice", at.Conversation, 0); err != nil || messages(turns) != "before" {
		t.Errorf("got %q and %v, want what was there", messages(turns), err)
	}
	// A connection that the server has ended while it rested is no reason to refuse anything.
	for range 3 {
		say(t, s, at.Conversation, "after")
		endConnections(t, dsn)
	}
	if _, err := s.Turns(t.Context(), "alice", at.Conversation, 0); err != nil {
		t.Error(err)
	}
}

// A server that hangs cannot be reached either.
func TestServerHangs(t *testing.T) {
	t.Parallel()
	dsn := server.Database(t)
	s := openDatabase(t, dsn, store.Options{}.Turned(store.Knobs{Answer: 2 * time.Second}))
	at := begin(t, s)
	defer lockTable(t, dsn)()
	var away *store.UnreachableError
	if _, err := s.Start(t.Context(), "alice", at.Conversation, store.Request{Key: "k"}); !errors.As(err, &away) {
		t.Errorf("got %v, want that the store cannot be reached", err)
	}
}
