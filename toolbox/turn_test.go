package toolbox_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/toolbox"
)

// A start waits for its turn, but not for long, and that is no part of its own time; it keeps others waiting until it
// is over, but not for long either.
func TestTurn(t *testing.T) {
	const never = time.Hour
	for _, tt := range []struct {
		name    string
		turn    time.Duration // until it comes
		err     error
		start   time.Duration // how long starting takes
		started time.Duration // when starting begins
		done    time.Duration // when the next may begin; never if there was no turn
	}{
		{name: "at once", start: time.Second, done: time.Second},
		{name: "later", turn: 3 * time.Second, start: time.Second, started: 3 * time.Second, done: 4 * time.Second},
		{name: "a start that takes long", start: 20 * time.Second, done: 5 * time.Second},
		{name: "too late", turn: never, start: time.Second, started: 10 * time.Second, done: never},
		{name: "no turns", err: errors.New("no directory"), start: time.Second, done: never},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				started, done := make(chan time.Duration, 1), make(chan time.Duration, 10)
				var names []string
				b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{{
					Name: "s", Transport: config.TransportStdio, Command: "cmd", Args: []string{"a b"}, Cwd: "/d",
					Timeouts: config.Timeouts{Start: time.Minute, CallIdle: time.Minute, CallTotal: time.Minute},
				}}}, toolbox.Options{
					Peer: newPeer(),
					Turn: func(ctx context.Context, name string) (func(), error) {
						names = append(names, name)
						select {
						case <-time.After(tt.turn):
						case <-ctx.Done():
							return nil, context.Cause(ctx)
						}
						return func() { done <- time.Since(began) }, tt.err
					},
					Spawn: func(child.Spec) (*child.Process, error) {
						started <- time.Since(began)
						time.Sleep(tt.start)
						return nil, errors.New("it does not start")
					},
				})
				if err := b.Open(t.Context(), 40*time.Second); err != nil {
					t.Fatal(err)
				}
				if got := <-started; got != tt.started {
					t.Errorf("got the start after %s, want after %s", got, tt.started)
				}
				if err := b.Close(); err != nil {
					t.Error(err)
				}
				got := never
				if len(done) > 0 {
					got = <-done
				}
				if got != tt.done {
					t.Errorf("got room for the next after %s, want after %s", got, tt.done)
				}
				if want := "/d\x00cmd\x00a b"; names[0] != want {
					t.Errorf("got the name %q, want %q", names[0], want)
				}
			})
		})
	}
}

// Whoever closes the toolbox does not wait for the turn.
func TestTurnIsCalledOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{{Name: "s", Transport: config.TransportStdio, Command: "cmd"}}}, toolbox.Options{
			Peer: newPeer(),
			Turn: func(ctx context.Context, _ string) (func(), error) { <-ctx.Done(); return nil, context.Cause(ctx) },
			Spawn: func(child.Spec) (*child.Process, error) {
				t.Error("it was started")
				return nil, errors.New("no")
			},
		})
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		since(t, "the end", began, 0)
	})
}
