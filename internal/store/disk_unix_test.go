//go:build unix

package store_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcp-workbench/workbench/internal/store"
)

// With a full disk a turn is not acknowledged, what is there can be read, and there is more when there is room again.
func TestFaultE1_DiskFull(t *testing.T) {
	tr := trace(t)
	s := openFile(t, filepath.Join(t.TempDir(), "store.db"), store.Options{}.Turned(store.Knobs{VFS: tr.name}))
	c := begin(t, s).Conversation
	say(t, s, c, "before")
	tr.failing(func(op op, _ string) int32 {
		if op == opWrite {
			return sqlite3.SQLITE_FULL
		}
		return sqlite3.SQLITE_OK
	})
	var full *store.WriteError
	if err := s.Try(t.Context()); !errors.As(err, &full) {
		t.Errorf("got %v from a try, want that nothing can be kept", err)
	}
	_, err := sayAs(t.Context(), s, "alice", c, "k", "during")
	if !errors.As(err, &full) || !strings.Contains(err.Error(), "free space on the disk") {
		t.Errorf("got %v, want an error that says what to do", err)
	}
	if turns, err := s.Turns(t.Context(), "alice", c, 0); err != nil || messages(turns) != "before" {
		t.Errorf("got %q and %v, want what was there", messages(turns), err)
	}
	tr.failing(nil)
	if err := s.Try(t.Context()); err != nil {
		t.Errorf("got %v from a try, want that there is room again", err)
	}
	if _, err := sayAs(t.Context(), s, "alice", c, "k", "after"); err != nil {
		t.Error(err)
	}
	if turns, err := s.Turns(t.Context(), "alice", c, 0); err != nil || messages(turns) != "before after" {
		t.Errorf("got %q and %v, want one more", messages(turns), err)
	}
}

// After a failed sync nobody knows what has reached the disk, and the system may have forgotten what has not. What is
// acknowledged later lasts all the same, even if what was to be synced then never arrives.
func TestFaultE3_SyncFails(t *testing.T) {
	for _, tt := range []struct {
		name  string
		knobs store.Knobs
		file  string // whose sync fails
	}{
		{"log", store.Knobs{}, "store.db-wal"},
		{"rollback journal", store.Knobs{Rollback: true}, "store.db-journal"},
		{"file", store.Knobs{Rollback: true}, "store.db"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := trace(t)
			knobs := tt.knobs
			knobs.VFS = tr.name
			s := openFile(t, filepath.Join(t.TempDir(), "store.db"), store.Options{}.Turned(knobs))
			c := begin(t, s).Conversation
			acked := map[string]int{c: 0}
			turn := func() error {
				_, err := sayAs(t.Context(), s, "alice", c, store.NewID(), c+" "+string(rune('0'+acked[c]))+" "+strings.Repeat("x", 10_000))
				if err == nil {
					acked[c]++
				}
				return err
			}
			for range 2 {
				if err := turn(); err != nil {
					t.Fatal(err)
				}
			}
			f, err := s.Start(t.Context(), "alice", c, store.Request{Key: "k", Message: c + " 2 x"})
			if err != nil {
				t.Fatal(err)
			}
			failures := 0
			tr.failing(func(op op, file string) int32 {
				if op == opSync && file == tt.file {
					failures++
					return sqlite3.SQLITE_IOERR_FSYNC
				}
				return sqlite3.SQLITE_OK
			})
			var unknown *store.WriteError
			if _, err := f.Finish(t.Context(), store.Turn{}); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "not known") || failures == 0 {
				t.Errorf("got %v after %d failed syncs, want an error that does not say whether it was kept", err, failures)
			}
			// While it fails nothing is acknowledged.
			if _, err := f.Finish(t.Context(), store.Turn{}); !errors.As(err, &unknown) {
				t.Errorf("got %v while syncs fail, want an error", err)
			}
			tr.failing(nil)
			if _, err := f.Finish(t.Context(), store.Turn{}); err != nil {
				t.Fatal(err)
			}
			acked[c]++
			if err := turn(); err != nil {
				t.Fatal(err)
			}
			d := make(disk)
			for _, e := range tr.taken() {
				d.step(e)
			}
			dir := t.TempDir()
			d.cut(t, dir, 0, rand.New(rand.NewPCG(5, 6)))
			knobs.VFS = ""
			if fault := missing(t, filepath.Join(dir, "store.db"), acked, knobs); fault != "" {
				t.Errorf("after a loss of power: %s", fault)
			}
		})
	}
}
