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
func (s *Server) moved(principal, _ string, begun bool) {
	if begun {
		s.mu.Lock()
		s.begun[principal] = true
		s.mu.Unlock()
	}
	s.stir()
}

// stir has tell look now.
func (s *Server) stir() {
	select {
	case s.stirred <- struct{}{}:
	default:
	}
}

// tell tells sessions what has changed, until ctx ends.
func (s *Server) tell(ctx context.Context) {
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
			if c := s.catalogue(); s.outdated(c) {
				s.each("", func(d *mcpserve.Session) { d.ListChanged(mcpserve.Prompts); d.ListChanged(mcpserve.Resources) })
			}
		}
		s.mu.Lock()
		begun := s.begun
		s.begun = map[string]bool{}
		s.mu.Unlock()
		for principal := range begun {
			s.each(principal, func(d *mcpserve.Session) { d.ListChanged(mcpserve.Resources) })
		}
		if s.tellRuns(ctx, seen) && again == nil {
			again = time.After(pollEvery)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.stirred:
			stirred = true
		case <-again:
		}
	}
}

// outdated reports whether prompts or skills were listed of another catalogue since this was asked last.
func (s *Server) outdated(c *definition.Catalogue) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listed == nil || s.listed == c {
		return false
	}
	s.listed = nil
	return true
}

// tellRuns tells of the runs that somebody subscribed to and that have gone on, or have not been looked at before: their
// subscribers may have read them earlier. It reports whether there are any.
func (s *Server) tellRuns(ctx context.Context, seen map[store.Key]int) (watching bool) {
	watched := map[store.Key]bool{}
	for d, principal := range s.those() {
		for _, uri := range d.Watched() {
			if id, ok := strings.CutPrefix(uri, runPrefix); ok {
				watched[store.Key{Principal: principal, ID: id}] = true
			}
		}
	}
	maps.DeleteFunc(seen, func(run store.Key, _ int) bool { return !watched[run] })
	for run := range watched {
		n, err := s.runs.Events(ctx, run.Principal, run.ID, seen[run])
		if err != nil {
			n = 0 // It is gone, or was imported anew.
		}
		if n != seen[run] {
			seen[run] = n
			s.each(run.Principal, func(d *mcpserve.Session) { d.Updated(runPrefix + run.ID) })
		}
	}
	return len(watched) > 0
}

// those are the sessions with whose they are.
func (s *Server) those() map[*mcpserve.Session]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.sessions)
}

// each calls a function for the sessions of a principal, or with "" for all.
func (s *Server) each(principal string, do func(*mcpserve.Session)) {
	for d, of := range s.those() {
		if principal == "" || of == principal {
			do(d)
		}
	}
}
