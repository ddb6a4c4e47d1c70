// Package running is for commands about workbenches that run: it asks all of them, and sets calls and servers for
// people.
package running

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/status"
)

// PID is the number of a workbench's process.
func PID(p status.Peer) string { return strings.TrimSuffix(filepath.Base(p.Path()), ".sock") }

// Each asks all workbenches of the user at once. What one does not answer is a warning; that it has just ended is not. It
// returns how many did not answer, of which nobody knows what they would have said.
func Each(env *cli.Environment, ask func(status.Peer) error) (silent int) {
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, p := range status.Find(env.RuntimeDirs()) {
		asked.Go(func() {
			if err := ask(p); err != nil && !errors.Is(err, status.ErrGone) && !errors.Is(err, status.ErrNone) && !errors.Is(err, context.Canceled) {
				mu.Lock()
				defer mu.Unlock()
				silent++
				env.Warn(fmt.Sprintf("a workbench does not answer: %v", err))
			}
		})
	}
	asked.Wait()
	return silent
}

// Gather asks all workbenches as Each does, and returns all that they said.
func Gather[T any](env *cli.Environment, ask func(status.Peer) ([]T, error)) (all []T, silent int) {
	var mu sync.Mutex
	silent = Each(env, func(p status.Peer) error {
		some, err := ask(p)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, some...)
		return err
	})
	return all, silent
}

// None is how an answer begins that no workbench of the user has something, as far as they answer.
func None(silent int) string {
	if silent > 0 {
		return "no workbench that answers"
	}
	return "no running workbench of this user"
}

// FollowAll tells what workbenches say, one thing after the other, until ctx ends or telling fails.
func FollowAll[T any](ctx context.Context, env *cli.Environment, follow func(ctx context.Context, p status.Peer, say func(T) error) error, tell func(T) error) error {
	said := make(chan T)
	stop := Follow(ctx, env, func(ctx context.Context, p status.Peer) error {
		return follow(ctx, p, func(what T) error {
			select {
			case said <- what:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	defer stop()
	for {
		select {
		case what := <-said:
			if err := tell(what); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// Follow follows each workbench that there is, or comes, until stop is called or ctx ends.
func Follow(ctx context.Context, env *cli.Environment, follow func(context.Context, status.Peer) error) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		var followers sync.WaitGroup
		defer followers.Wait()
		var known sync.Map // paths of those that are followed
		look := time.NewTicker(status.FindPeriod)
		defer look.Stop()
		for {
			for _, p := range status.Find(env.RuntimeDirs()) {
				if _, is := known.LoadOrStore(p.Path(), true); !is {
					followers.Go(func() {
						defer known.Delete(p.Path()) // one that has just made its socket, and does not listen yet, is asked again
						_ = follow(ctx, p)           // one that has ended says nothing more
					})
				}
			}
			select {
			case <-look.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		work.Wait()
	}
}
