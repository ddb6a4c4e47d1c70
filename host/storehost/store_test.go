package storehost

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/store"
)

// A database that does not answer is asked once for all who wait, who may leave; it keeps nobody from ending, and nobody
// from being told how things are.
func TestOpenedForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		away := errors.New("nothing answers")
		s := New(func(ctx context.Context) (*store.Store, error) {
			asked.Add(1)
			select {
			case <-time.After(10 * time.Second):
				return nil, away
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}, zerolog.Nop())
		began := time.Now()
		got := make(chan error)
		leaving, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		for _, ctx := range []context.Context{leaving, t.Context(), t.Context(), t.Context()} {
			go func() {
				_, err := s.Get(ctx)
				got <- err
			}()
		}
		if err := <-got; !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("got %v after %s for the one who left", err, time.Since(began))
		}
		if !s.Works(t.Context()) || time.Since(began) != time.Second {
			t.Error("a store that is being opened does not work, or it took long to say")
		}
		for range 3 {
			if err := <-got; !errors.Is(err, away) {
				t.Errorf("got %v, want that nothing answers", err)
			}
		}
		if took := time.Since(began); took != 10*time.Second || asked.Load() != 1 {
			t.Errorf("asked %d times in %s, want once", asked.Load(), took)
		}
		go func() {
			_, err := s.Get(t.Context())
			got <- err
		}()
		synctest.Wait()
		began = time.Now()
		s.Close()
		if err := <-got; !errors.Is(err, context.Canceled) || time.Since(began) != 0 {
			t.Errorf("got %v after %s at the end", err, time.Since(began))
		}
		if _, err := s.Get(t.Context()); !errors.Is(err, errEnding) {
			t.Errorf("got %v after the end", err)
		}
	})
}
