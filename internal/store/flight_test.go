package store_test

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

// The conversation of a process that dies is free again, at the latest when its lease ends, and shows the turn as lost.
func TestFaultE9_HolderDies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener, where string) {
		s := open(t, store.Options{}.Turned(store.Knobs{Lease: time.Second}))
		c := begin(t, s).Conversation
		if got := killed(t, actor(t, "hold", where, c), 1, time.Minute); len(got) != 1 {
			t.Fatalf("got %q, want the turn started", got)
		}
		f := eventually(t, func() (*store.Flight, error) {
			return s.Start(t.Context(), "alice", c, store.Request{Key: "mine"})
		})
		if r, err := s.Result(t.Context(), "alice", "held"); err != nil || r.Progress != store.Lost {
			t.Errorf("got %+v and %v, want the other's turn lost", r, err)
		}
		if _, err := f.Finish(t.Context(), store.Turn{Status: "completed"}); err != nil {
			t.Fatal(err)
		}
		turns, err := s.Turns(t.Context(), "alice", c, 0)
		if err != nil || len(turns) != 2 || turns[0].Status != store.StatusLost || turns[0].Message != "from afar" || turns[0].Kind != "agent" {
			t.Errorf("got %+v and %v, want the lost turn and ours", turns, err)
		}
	})
}

// eventually tries until it is not refused any more, for as long as the store is busy.
func eventually(t *testing.T, start func() (*store.Flight, error)) *store.Flight {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) { // It is another process's lease that ends.
		f, err := start()
		var busy *store.BusyError
		if err == nil {
			return f
		}
		if !errors.As(err, &busy) || time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// A turn that was renewed keeps its conversation for longer than one lease; one that cannot be is told and loses it for
// good.
func TestLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const lease = time.Second
		path := filepath.Join(t.TempDir(), "store.db")
		short := store.Options{}.Turned(store.Knobs{Lease: lease})
		s, other := openFile(t, path, short), openFile(t, path, short)
		c := begin(t, s).Conversation
		f, err := s.Start(t.Context(), "alice", c, store.Request{Key: "k1"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * lease / 2)
		select {
		case <-f.Lost():
			t.Fatal("got a turn lost that is renewed")
		default:
		}
		var busy *store.BusyError
		if _, err := other.Start(t.Context(), "alice", c, store.Request{Key: "k2"}); !errors.As(err, &busy) {
			t.Errorf("got %v after one and a half leases, want busy", err)
		}
		// Nobody can write for longer than a lease.
		release := occupy(t, path)
		<-f.Lost()
		release()
		time.Sleep(lease) // so long that a renewal would have come
		f2, err := other.Start(t.Context(), "alice", c, store.Request{Key: "k2"})
		if err != nil {
			t.Fatalf("got %v a lease after the loss, want the conversation free", err)
		}
		if _, err := f.Finish(t.Context(), store.Turn{Status: "completed"}); !errors.Is(err, store.ErrLost) {
			t.Errorf("got %v from finishing a turn that another one has followed, want %v", err, store.ErrLost)
		}
		if err := f.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := f2.Finish(t.Context(), store.Turn{Status: "completed"}); err != nil {
			t.Error(err)
		}
		turns, err := s.Turns(t.Context(), "alice", c, 0)
		if err != nil || len(turns) != 2 || turns[0].Status != store.StatusLost || turns[1].Status != "completed" {
			t.Errorf("got %+v and %v, want the lost turn and the one after it", turns, err)
		}
	})
}

// A turn whose conversation another process has taken over learns it at the next renewal.
func TestLeaseTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const lease = time.Second
		path := filepath.Join(t.TempDir(), "store.db")
		// The other's clock is fast, so that it takes each lease for one that has ended.
		s := openFile(t, path, store.Options{}.Turned(store.Knobs{Lease: lease}))
		other := openFile(t, path, store.Options{}.Turned(store.Knobs{Lease: lease,
			Now: func() time.Time { return time.Now().Add(time.Hour) }}))
		c := begin(t, s).Conversation
		f, err := s.Start(t.Context(), "alice", c, store.Request{Key: "k1"})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		f2, err := other.Start(t.Context(), "alice", c, store.Request{Key: "k2"})
		if err != nil {
			t.Fatal(err)
		}
		<-f.Lost()
		if learnt := time.Since(began); learnt > lease/2 {
			t.Errorf("it was learnt after %v, want at the next renewal", learnt)
		}
		if _, err := f.Finish(t.Context(), store.Turn{Status: "completed"}); !errors.Is(err, store.ErrLost) {
			t.Errorf("got %v from finishing a turn whose conversation was taken, want %v", err, store.ErrLost)
		}
		if _, err := f2.Finish(t.Context(), store.Turn{Status: "completed"}); err != nil {
			t.Error(err)
		}
	})
}

func TestFaultE15_SubmittedTwice(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		stores := []*store.Store{open(t, store.Options{}), open(t, store.Options{})}
		c := begin(t, stores[0]).Conversation
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for range 1000 {
					_, err := sayAs(t.Context(), stores[i%2], "alice", c, "once", "m")
					var busy *store.BusyError
					if errors.As(err, &busy) {
						continue
					}
					if err != nil && !errors.Is(err, store.ErrDuplicate) {
						t.Errorf("got %v, want a duplicate", err)
					}
					return
				}
			})
		}
		all.Wait()
		if turns, err := stores[0].Turns(t.Context(), "alice", c, 0); err != nil || len(turns) != 1 {
			t.Errorf("got %d turns and %v, want 1", len(turns), err)
		}
	})
}

// A turn whose Finish got no answer can be finished again.
func TestFinishAgain(t *testing.T) {
	each(t, func(t *testing.T, open opener, _ string) {
		s := open(t, store.Options{})
		c := begin(t, s).Conversation
		f, err := s.Start(t.Context(), "alice", c, store.Request{Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := f.Finish(t.Context(), store.Turn{Status: "completed"}); err != nil {
				t.Error(err)
			}
		}
		if turns, err := s.Turns(t.Context(), "alice", c, 0); err != nil || len(turns) != 1 {
			t.Errorf("got %d turns and %v, want 1", len(turns), err)
		}
	})
}
