package pageview

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/status"
)

// callsPeriod is how often the page is told of calls, all at once that have ended meanwhile.
const callsPeriod = 150 * time.Millisecond

// callNews are the calls that the page was not told of yet.
type callNews struct {
	mu     sync.Mutex
	calls  []calls.Call
	missed uint64
}

// mostGathered is how many calls are told at once; more are counted as missed.
const mostGathered = 10000

func (g *callNews) add(missed uint64, list ...calls.Call) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.missed += missed
	for _, c := range list {
		if len(g.calls) == mostGathered {
			g.missed++
			continue
		}
		c.Arguments, c.Result, c.Stderr = nil, nil, nil // for who opens the call
		g.calls = append(g.calls, c)
	}
}

func (g *callNews) take() (list []calls.Call, missed uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list, missed = g.calls, g.missed
	g.calls, g.missed = nil, 0
	return list, missed
}

// recorded shows the record of calls: of this process, and of the other workbenches that the page shows.
type recorded struct {
	front  *served
	others peers
}

// follow tells the calls that are recorded, and then each that ends, until the viewer goes away.
func (r recorded) follow(ctx context.Context, q *page.Query) (any, error) {
	ctx, cancel := context.WithCancel(ctx)
	var followers sync.WaitGroup
	defer followers.Wait()
	defer cancel()
	var news callNews
	own := r.front.Calls()
	f := recordedFor(q)
	last := own.Last()
	news.add(0, own.Calls(f)...)
	followers.Go(func() {
		_ = own.Follow(ctx, last, f, func(c *calls.Call, missed uint64) error { // it ends with ctx
			if c != nil {
				news.add(missed, *c)
			} else {
				news.add(missed)
			}
			return nil
		})
	})
	known := make(map[string]bool)
	find := func() {
		for _, p := range r.others.others() {
			if !known[p.Path()] {
				known[p.Path()] = true
				followers.Go(func() { gatherCalls(ctx, p, &news) })
			}
		}
	}
	find()
	tick, look := time.NewTicker(callsPeriod), time.NewTicker(status.FindPeriod)
	defer tick.Stop()
	defer look.Stop()
	for first := true; ; {
		if list, missed := news.take(); first || len(list) > 0 || missed > 0 {
			first = false
			if err := q.Note(map[string]any{"calls": list, "missed": missed}); err != nil {
				return nil, err
			}
		}
		select {
		case <-tick.C:
		case <-look.C:
			find()
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// recordedFor keeps who may not act for others to their own calls.
func recordedFor(q *page.Query) calls.Filter {
	if q.Admin {
		return calls.Filter{}
	}
	return calls.Filter{User: q.Name}
}

// gatherCalls gathers what one workbench records, until it or ctx ends.
func gatherCalls(ctx context.Context, p status.Peer, news *callNews) {
	_ = p.FollowCalls(ctx, calls.Filter{}, func() {
		if list, err := p.Calls(ctx, calls.Filter{}); err == nil {
			news.add(0, list...)
		}
	}, func(s calls.Said) error {
		if s.Call != nil {
			news.add(s.Missed, *s.Call)
		} else {
			news.add(s.Missed)
		}
		return nil
	})
}

// one gives all that is known of one call.
func (r recorded) one(ctx context.Context, q *page.Query, a *asked) (any, error) {
	f := recordedFor(q)
	if c, ok := r.front.Calls().Call(a.ID); ok && f.Wants(&c) {
		return c, nil
	}
	for _, p := range r.others.others() {
		if c, err := p.Call(ctx, a.ID); err == nil {
			return c, nil
		}
	}
	return nil, &page.Refusal{Reason: errors.New("this call is not kept any more"), Hint: "each workbench keeps its last thousand calls, while it runs"}
}
