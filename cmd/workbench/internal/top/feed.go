package top

import (
	"context"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/running"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/status"
)

// What a model is told.
type (
	// stands says where a workbench stands.
	stands struct {
		pid    string
		says   status.Workbench
		config string // that commands about it have to name
	}
	// gone says that a workbench has ended.
	gone struct{ pid string }
	// ended are calls of all workbenches, and how many came too fast.
	ended struct {
		calls  []calls.Call
		missed uint64
	}
	// waits are the calls of a workbench that wait for a person.
	waits struct {
		pid   string
		calls []approval.Call
	}
	// second says that a second is over: what is shown says how long things take.
	second struct{}
)

// callsPeriod is how often calls are told, all at once that have ended meanwhile.
const callsPeriod = 150 * time.Millisecond

// feed tells what workbenches do, until stop is called.
func feed(ctx context.Context, env *cli.Environment, tell func(tea.Msg)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var news status.News
	stopFollowing := running.Follow(ctx, env, func(ctx context.Context, p status.Peer) error {
		ctx, cancel := context.WithCancel(ctx)
		var more sync.WaitGroup
		more.Go(func() { _ = news.Gather(ctx, p) })
		more.Go(func() { feedWaiting(ctx, p, tell) })
		err := p.Watch(ctx, func(w status.Workbench) { tell(stands{running.PID(p), w, running.Named(env, &w)}) })
		cancel()
		more.Wait()
		tell(gone{running.PID(p)})
		return err
	})
	var telling sync.WaitGroup
	telling.Go(func() {
		gathered, seconds := time.NewTicker(callsPeriod), time.NewTicker(time.Second)
		defer gathered.Stop()
		defer seconds.Stop()
		for {
			select {
			case <-gathered.C:
				if list, missed := news.Take(); len(list) > 0 || missed > 0 {
					tell(ended{list, missed})
				}
			case <-seconds.C:
				tell(second{})
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		stopFollowing()
		telling.Wait()
	}
}

// feedWaiting tells which calls of a workbench wait for a person, until the workbench or ctx ends.
func feedWaiting(ctx context.Context, p status.Peer, tell func(tea.Msg)) {
	look := time.NewTicker(status.FindPeriod)
	defer look.Stop()
	for last := []approval.Call(nil); ; {
		list, err := p.Approvals(ctx)
		if err != nil {
			return
		}
		if !slices.EqualFunc(list, last, func(a, b approval.Call) bool { return a.ID == b.ID }) {
			last = list
			tell(waits{running.PID(p), list})
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}
