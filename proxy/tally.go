package proxy

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// outcome is what became of a request that was to be forwarded.
type outcome uint8

const (
	answered   outcome = iota // with what was asked for
	toolFailed                // with a result that says isError
	failed                    // with a JSON-RPC error of the server
	refused                   // it was not sent, or certainly not carried out
	lost                      // it was sent, and no reply came
	cancelled                 // the client gave it up, or would not answer what it needed
	outcomes                  // how many there are
)

// String names the outcome as metrics and traces do.
func (o outcome) String() string {
	return [outcomes]string{"ok", "tool_error", "error", "refused", "lost", "cancelled"}[o]
}

// outcomeOf is the outcome of a request that ends with an error of ours.
func outcomeOf(err error) outcome {
	if errors.As(err, new(*rpc.LostError)) {
		return lost
	}
	return refused
}

// outcomeOfReply is that of a request, of a tools/call or another one, that its server answered.
func outcomeOfReply(m *wire.Message, tool bool) outcome {
	switch {
	case m.Kind != wire.Result:
		return failed
	case tool && m.SaysError:
		return toolFailed
	}
	return answered
}

// place is a server of the configuration, whichever session it runs for.
type place struct{ toolbox, server string }

// tallies count the requests of all sessions of a front by the server they went to. There are as many as the
// configuration has servers, whatever clients do.
type tallies struct {
	epoch time.Time   // what clock counts from
	timed atomic.Bool // durations are wanted
	mu    sync.Mutex  // of those who add one
	all   atomic.Pointer[map[place]*tally]

	users   map[string]*people // guarded by mu
	refused map[int]uint64     // requests over HTTP that were turned away, by status; guarded by mu
}

// clock is the time, or 0 if nobody wants to know how long calls take.
func (ts *tallies) clock() time.Duration {
	if !ts.timed.Load() {
		return 0
	}
	return time.Since(ts.epoch)
}

// tally counts what became of the requests to one server.
type tally struct {
	ended     [outcomes]atomic.Uint64
	durations [len(bounds{}) + 1]atomic.Uint64 // by the first bound that they do not exceed
	total     atomic.Int64                     // of all durations, in nanoseconds

	mu      sync.Mutex
	changes map[string]uint64 // how often a server came into each state
}

// people count what became of the calls of a user.
type people struct {
	ended   [outcomes]atomic.Uint64
	limited atomic.Uint64 // calls beyond those that the user may make, which are in no outcome
}

// maxUsers is how many users are counted each for themselves; all others are one, whatever names tokens have.
const maxUsers = 100

// otherUsers is what those are called.
const otherUsers = "(others)"

// user gives the counts of a user.
func (ts *tallies) user(name string) *people {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.users == nil {
		ts.users = make(map[string]*people)
	}
	if ts.users[name] == nil && len(ts.users) >= maxUsers {
		name = otherUsers
	}
	if ts.users[name] == nil {
		ts.users[name] = new(people)
	}
	return ts.users[name]
}

// refuse counts a request that was not served.
func (ts *tallies) refuse(status int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.refused == nil {
		ts.refused = make(map[int]uint64)
	}
	ts.refused[status]++
}

// readPeople reads the counts of users, and those of refusals.
func (ts *tallies) readPeople(into *status.Front) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	into.Users, into.Limited = make(map[string]status.Outcomes), make(map[string]uint64)
	for name, n := range ts.users {
		into.Users[name] = outcomesOf(&n.ended)
		if times := n.limited.Load(); times > 0 {
			into.Limited[name] = times
		}
	}
	into.Refused = maps.Clone(ts.refused)
}

// outcomesOf reads counts.
func outcomesOf(n *[outcomes]atomic.Uint64) status.Outcomes {
	return status.Outcomes{
		OK:        n[answered].Load(),
		ToolError: n[toolFailed].Load(),
		Error:     n[failed].Load(),
		Refused:   n[refused].Load(),
		Lost:      n[lost].Load(),
		Cancelled: n[cancelled].Load(),
	}
}

// of gives the tally of a server. It takes no lock but the first time.
func (ts *tallies) of(at place) *tally {
	if all := ts.all.Load(); all != nil {
		if t := (*all)[at]; t != nil {
			return t
		}
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	more := make(map[place]*tally)
	if all := ts.all.Load(); all != nil {
		maps.Copy(more, *all)
	}
	t := more[at]
	if t == nil {
		t = new(tally)
		more[at] = t
		ts.all.Store(&more)
	}
	return t
}

// add counts a request to a server that has ended, and its duration if it was timed.
func (ts *tallies) add(srv *toolbox.Server, o outcome, began time.Duration) {
	t := ts.of(place{srv.Toolbox, srv.Name})
	t.ended[o].Add(1)
	if began == 0 {
		return
	}
	d := time.Since(ts.epoch) - began
	t.durations[bucketOf(d)].Add(1)
	t.total.Add(int64(d))
}

// bounds are the upper ends of the buckets of durations, in seconds.
type bounds [15]float64

func durationBounds() bounds {
	return bounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300}
}

func bucketOf(d time.Duration) int {
	bounds := durationBounds()
	i, _ := slices.BinarySearch(bounds[:], d.Seconds())
	return i
}

// note counts a change of a server's state.
func (ts *tallies) note(e toolbox.Event) {
	t := ts.of(place{e.Toolbox, e.Server})
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changes == nil {
		t.changes = make(map[string]uint64)
	}
	t.changes[string(e.Status.State)]++
}

// calls reads the tallies, in the order of their names.
func (ts *tallies) calls() []status.Calls {
	calls := []status.Calls{}
	if all := ts.all.Load(); all != nil {
		for at, t := range *all {
			calls = append(calls, t.read(at))
		}
	}
	slices.SortFunc(calls, func(a, b status.Calls) int {
		return cmp.Or(cmp.Compare(a.Toolbox, b.Toolbox), cmp.Compare(a.Server, b.Server))
	})
	return calls
}

func (t *tally) read(at place) status.Calls {
	c := status.Calls{Toolbox: at.toolbox, Server: at.server, Outcomes: outcomesOf(&t.ended)}
	c.Durations.Counts = make(map[float64]uint64)
	for i, b := range durationBounds() {
		c.Durations.Count += t.durations[i].Load()
		c.Durations.Counts[b] = c.Durations.Count
	}
	c.Durations.Count += t.durations[len(bounds{})].Load()
	c.Durations.Sum = time.Duration(t.total.Load())
	t.mu.Lock()
	defer t.mu.Unlock()
	c.Changes = maps.Clone(t.changes)
	return c
}
