package toolbox

import (
	"cmp"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// bounds are what limits the work of a server. They are replaced and never changed.
type bounds struct {
	rpc.Limits
	large   config.LargeResults
	approve config.Approve
	tools   []config.Tool // of which some have another name for clients
}

// newBounds takes the bounds from a configuration; idle is for one that does not say when its server is idle, and
// concerns no server of this process.
func newBounds(cfg config.Server, idle time.Duration) *bounds {
	limits := rpc.Limits{Timeouts: cfg.Timeouts, MaxInFlight: int64(cmp.Or(cfg.MaxInFlight, config.DefaultMaxInFlight)), Idle: cfg.IdleTimeout}
	if limits.Idle == 0 && cfg.Transport != config.TransportBuiltin {
		limits.Idle = idle
	}
	return &bounds{limits, cfg.LargeResults, cfg.Approve, cfg.Tools}
}
