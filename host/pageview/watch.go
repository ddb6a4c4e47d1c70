package pageview

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/status"
)

// watchPeriod is how often the page is told of what has changed.
const watchPeriod = 300 * time.Millisecond

// note is what the page is told of at once and then at each change.
type note struct {
	Kind string `json:"kind"` // "status", "approvals" or "runs"
	Data any    `json:"data"`
}

// watch shows where workbenches stand, and which calls wait for an answer.
type watch struct {
	served    *served
	others    peers
	approvals *approval.Register
	run       commands
	runs      *runs
}

// follow tells where the workbenches of the viewer stand and which calls wait for an answer, until the viewer goes
// away.
func (w watch) follow(ctx context.Context, q *page.Query) (any, error) {
	ctx, cancel := context.WithCancel(ctx)
	var looking sync.WaitGroup
	defer looking.Wait()
	defer cancel()
	kept := make(chan []json.RawMessage)
	looking.Go(func() { w.runs.follow(ctx, q, kept) })
	last := make(map[string][]byte)
	tell := func(kind string, now any, data any) error {
		text, err := json.Marshal(now)
		if err != nil || bytes.Equal(text, last[kind]) {
			return err
		}
		last[kind] = text
		return q.Note(note{kind, data})
	}
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	for {
		all, calls := w.look(ctx, q.Principal)
		still := slices.Clone(all)
		for i := range still {
			still[i].RSS = 0 // it is never the same twice
		}
		if err := tell("status", still, all); err != nil {
			return nil, err
		}
		if err := tell("approvals", calls, calls); err != nil {
			return nil, err
		}
		select {
		case list := <-kept:
			if err := tell("runs", list, list); err != nil {
				return nil, err
			}
		case <-tick.C:
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// look asks the workbenches that the viewer may see: of the user of this machine all, on a gateway the gateway.
func (w watch) look(ctx context.Context, who principal.Principal) ([]status.Workbench, []approval.Call) {
	own := w.served.now()
	all, calls := []status.Workbench{own}, w.approvals.List()
	if !w.others.local {
		if !who.Admin {
			return []status.Workbench{seenBy(own, who)}, []approval.Call{}
		}
		return all, calls
	}
	var mu sync.Mutex // of all and calls
	var asked sync.WaitGroup
	for _, p := range w.others.others() {
		asked.Go(func() {
			one, err := p.Get(ctx)
			if err != nil || one.PID == own.PID {
				return
			}
			waiting, _ := p.Approvals(ctx) // one that has just ended has none
			mu.Lock()
			defer mu.Unlock()
			all, calls = append(all, one), append(calls, waiting...)
		})
	}
	asked.Wait()
	status.Sort(all)
	slices.SortFunc(calls, func(a, b approval.Call) int { return strings.Compare(a.ID, b.ID) })
	return all, calls
}

// seenBy leaves of a gateway what somebody may see who does not act for others.
func seenBy(w status.Workbench, who principal.Principal) status.Workbench {
	may := func(boxes []status.Toolbox) []status.Toolbox {
		return slices.DeleteFunc(slices.Clone(boxes), func(b status.Toolbox) bool { return !who.May(b.Name) })
	}
	seen := status.Workbench{Version: w.Version, Since: w.Since, Address: w.Address}
	seen.Shared = may(w.Shared)
	seen.Sessions = []status.Session{}
	for _, s := range w.Sessions {
		if s.User == who.Name {
			s.Toolboxes = may(s.Toolboxes)
			seen.Sessions = append(seen.Sessions, s)
		}
	}
	seen.Calls = []status.Calls{} // those counts are everybody's
	return seen
}

// answer answers a call that waits.
func (w watch) answer(ctx context.Context, _ *page.Query, a *asked) (any, error) {
	if w.approvals.Answer(a.ID, a.Agree) {
		return nil, nil
	}
	args := []string{"approve"}
	if !a.Agree {
		args = append(args, "--refuse")
	}
	return nil, w.run(ctx, io.Discard, about(args, a.ID)...)
}
