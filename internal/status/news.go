package status

import (
	"context"
	"sync"

	"github.com/mcp-workbench/workbench/internal/calls"
)

// News are the calls that one who looks now and then was not shown yet. Its methods may be called by several
// goroutines.
type News struct {
	mu     sync.Mutex
	calls  []calls.Call
	missed uint64
}

// mostNews is how many calls are gathered at most; more are counted as missed.
const mostNews = 10000

// Add adds calls without what is for those who open one, and how many more there were.
func (n *News) Add(missed uint64, list ...calls.Call) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.missed += missed
	for _, c := range list {
		if len(n.calls) == mostNews {
			n.missed++
			continue
		}
		c.Arguments, c.Result, c.Stderr = nil, nil, nil
		n.calls = append(n.calls, c)
	}
}

// Take gives what was gathered since it was called last.
func (n *News) Take() (list []calls.Call, missed uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list, missed = n.calls, n.missed
	n.calls, n.missed = nil, 0
	return list, missed
}

// Gather adds what a workbench has in its record, and then each call that ends, until the workbench or ctx ends.
func (n *News) Gather(ctx context.Context, p Peer) error {
	return p.FollowCalls(ctx, calls.Filter{}, func() {
		if list, err := p.Calls(ctx, calls.Filter{}); err == nil {
			n.Add(0, list...)
		}
	}, func(s calls.Said) error {
		if n.Add(s.Missed); s.Call != nil {
			n.Add(0, *s.Call)
		}
		return nil
	})
}
