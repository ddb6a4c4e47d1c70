package commandhost

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// Probe answers the requests below /commands/ that are a supervisor's, and
// reports whether one is. It says the same of every toolbox, there or not: how
// all those are that run.
func (h *Host) Probe(w http.ResponseWriter, r *http.Request) bool {
	_, path := splitPath(r.URL.Path)
	return commandsrv.ServeProbe(w, r, path, h.pulse.of(h.checks))
}

// checks say how the servers are that somebody has wanted: one that can work is
// enough.
func (h *Host) checks(ctx context.Context) commandsrv.Checks {
	h.mu.Lock()
	open, failed := !h.closed, len(h.made) > 0
	for _, one := range h.made {
		failed = failed && one.failed.Load()
	}
	h.mu.Unlock()
	return commandsrv.Checks{"workflow": !failed, "store": h.opts.Store.Works(ctx), "open": open}
}

// A pulse is felt at most once a second, however many ask: anybody may.
type pulse struct {
	mu   sync.Mutex
	at   time.Time
	last commandsrv.Checks
}

func (p *pulse) of(checks func(context.Context) commandsrv.Checks) func(context.Context) commandsrv.Checks {
	return func(ctx context.Context) commandsrv.Checks {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.last == nil || time.Since(p.at) > time.Second {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // who asks may go away
			p.last, p.at = checks(ctx), time.Now()
			cancel()
		}
		return p.last
	}
}
