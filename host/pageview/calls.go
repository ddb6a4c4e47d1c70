package pageview

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/status"
)

// callsPeriod is how often the page is told of calls, all at once that have ended meanwhile.
const callsPeriod = 150 * time.Millisecond

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
	var news status.News
	own := r.front.Calls()
	f := recordedFor(q)
	last := own.Last()
	news.Add(0, own.Calls(f)...)
	followers.Go(func() {
		_ = own.Follow(ctx, last, f, func(c *calls.Call, missed uint64) error { // it ends with ctx
			if c != nil {
				news.Add(missed, *c)
			} else {
				news.Add(missed)
			}
			return nil
		})
	})
	known := make(map[string]bool)
	find := func() {
		for _, p := range r.others.others() {
			if !known[p.Path()] {
				known[p.Path()] = true
				followers.Go(func() { _ = news.Gather(ctx, p) })
			}
		}
	}
	find()
	tick, look := time.NewTicker(callsPeriod), time.NewTicker(status.FindPeriod)
	defer tick.Stop()
	defer look.Stop()
	for first := true; ; {
		if list, missed := news.Take(); first || len(list) > 0 || missed > 0 {
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

// recordedFor is all that a viewer may see.
func recordedFor(q *page.Query) calls.Filter { return calls.Filter{Viewer: &q.Principal} }

// one gives all that is known of one call.
func (r recorded) one(ctx context.Context, q *page.Query, a *asked) (any, error) {
	f := recordedFor(q)
	if a.ID == "" {
		f.Toolbox, f.Server, f.Failed, f.Limit = a.Toolbox, a.Server, true, 1
		return r.lastFailed(ctx, f)
	}
	if c, ok := r.front.Calls().Call(a.ID); ok && f.Wants(&c) {
		return c, nil
	}
	for _, p := range r.others.others() {
		if c, err := p.Call(ctx, a.ID); err == nil {
			return c, nil
		}
	}
	return nil, notKept()
}

func notKept() error {
	return &page.Refusal{Reason: errors.New("this call is no longer kept"), Hint: "each workbench keeps its last thousand calls, while it runs"}
}

// lastFailed gives the last call that failed of those that a filter leaves, one of each workbench.
func (r recorded) lastFailed(ctx context.Context, f calls.Filter) (any, error) {
	found := r.front.Calls().Calls(f)
	for _, p := range r.others.others() {
		theirs, _ := p.Calls(ctx, f) // one that has just ended has none
		found = append(found, theirs...)
	}
	if len(found) == 0 {
		return nil, notKept()
	}
	return slices.MaxFunc(found, func(a, b calls.Call) int { return a.Time.Compare(b.Time.Time) }), nil
}
