package commandhost

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

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
