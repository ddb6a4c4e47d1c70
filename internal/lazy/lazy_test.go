package lazy_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/lazy"
)

var errEnded = errors.New("it has ended")

// Close waits for what is being made, and gives it to one caller alone, who closes it. What is not there yet is not made
// after that.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		one := lazy.New(func(ctx context.Context) (*int, error) {
			made++
			<-ctx.Done()
			time.Sleep(time.Second) // it does not see at once that nobody wants it
			return &made, nil
		}, errEnded)
		got := make(chan *int, 1)
		go func() {
			thing, _ := one.Get(t.Context())
			got <- thing
		}()
		synctest.Wait()
		began := time.Now()
		if thing := one.Close(); thing != &made || time.Since(began) != time.Second {
			t.Errorf("got %v after %s, want the thing once it is made", thing, time.Since(began))
		}
		if thing := <-got; thing != &made {
			t.Errorf("got %v, want what was made while it was waited for", thing)
		}
		if again, left := one.Close(), one.Made(); again != nil || left != nil {
			t.Errorf("got %v and %v, want nothing that would be closed twice", again, left)
		}
		if thing, err := one.Get(t.Context()); thing != nil || !errors.Is(err, errEnded) || made != 1 {
			t.Errorf("got %v and %v after %d times, want that it has ended", thing, err, made)
		}
	})
}

// What could not be made is tried again, by who wants it next.
func TestTriedAgain(t *testing.T) {
	tries, failed := 0, errors.New("not this time")
	one := lazy.New(func(context.Context) (*int, error) {
		if tries++; tries == 1 {
			return nil, failed
		}
		return &tries, nil
	}, errEnded)
	if thing, err := one.Get(t.Context()); thing != nil || err != failed || one.Made() != nil {
		t.Errorf("got %v and %v, want that it failed", thing, err)
	}
	for range 2 {
		if thing, err := one.Get(t.Context()); thing != &tries || err != nil || tries != 2 {
			t.Errorf("got %v and %v after %d tries, want the thing after two", thing, err, tries)
		}
	}
}
