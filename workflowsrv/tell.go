package workflowsrv

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

const (
	// pollEvery is how often the runs that clients subscribed to are looked at: other processes go on with them, too.
	pollEvery = time.Second
	// settleFor is the least time between two looks at the files: writing one is several changes.
	settleFor = 200 * time.Millisecond
)

// moved notes that a run has gone on. tell tells who wants to know, so that nobody's call waits for that.
func (a *audience) moved(principal, _ string, begun bool) {
	if begun {
		a.mu.Lock()
		a.begun[principal] = true
		a.mu.Unlock()
	}
	a.stir()
}

// stir has tell look now.
func (a *audience) stir() {
	select {
	case a.stirred <- struct{}{}:
	default:
	}
}

// tell tells sessions what has changed, until ctx ends.
func (a *audience) tell(ctx context.Context) {
	seen := map[store.Key]int{} // events of the runs that somebody subscribed to
	var looked time.Time
	stirred := true
	for {
		var again <-chan time.Time
		if rest := settleFor - time.Since(looked); rest > 0 {
			again = time.After(rest)
		} else {
			looked = time.Now()
			if stirred {
				again = time.After(settleFor) // A call that looks at the same time may have begun before the change.
			}
			stirred = false
			if c := a.shelf.catalogue(); a.outdated(c) {
				a.each("", func(d *mcpserve.Session) { d.ListChanged(mcpserve.Prompts); d.ListChanged(mcpserve.Resources) })
			}
		}
		a.mu.Lock()
		begun := a.begun
		a.begun = map[string]bool{}
		a.mu.Unlock()
		for principal := range begun {
			a.each(principal, func(d *mcpserve.Session) { d.ListChanged(mcpserve.Resources) })
		}
		if a.tellRuns(ctx, seen) && again == nil {
			again = time.After(pollEvery)
		}
		select {
		case <-ctx.Done():
			if stirred {
				a.stir() // for who comes after
			}
			return
		case <-a.stirred:
			stirred = true
		case <-again:
		}
	}
}

// outdated reports whether prompts or skills were listed of another catalogue since this was asked last.
func (a *audience) outdated(c *definition.Catalogue) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.listed == nil || a.listed == c {
		return false
	}
	a.listed = nil
	return true
}

// tellRuns tells of the runs that somebody subscribed to and that have gone on, or have not been looked at before:
// their subscribers may have read them earlier. It reports whether there are any.
func (a *audience) tellRuns(ctx context.Context, seen map[store.Key]int) (watching bool) {
	watched := map[store.Key]bool{}
	for d, principal := range a.those() {
		for _, uri := range d.Watched() {
			if id, ok := strings.CutPrefix(uri, runPrefix); ok {
				watched[store.Key{Principal: principal, ID: id}] = true
			}
		}
	}
	maps.DeleteFunc(seen, func(run store.Key, _ int) bool { return !watched[run] })
	for run := range watched {
		n, err := a.runs.Events(ctx, run.Principal, run.ID, seen[run])
		if err != nil {
			n = 0 // It is gone, or was imported anew.
		}
		if n != seen[run] {
			seen[run] = n
			a.each(run.Principal, func(d *mcpserve.Session) { d.Updated(runPrefix + run.ID) })
		}
	}
	return len(watched) > 0
}

// those are the sessions with whose they are.
func (a *audience) those() map[*mcpserve.Session]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.sessions)
}

// each calls a function for the sessions of a principal, or with "" for all.
func (a *audience) each(principal string, do func(*mcpserve.Session)) {
	for d, of := range a.those() {
		if principal == "" || of == principal {
			do(d)
		}
	}
}
