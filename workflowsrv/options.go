package workflowsrv

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// Options are what a Server may be told. The zero value is a server without workflows.
type Options struct {
	// Logger receives what concerns the operator; the zero value is silent.
	Logger zerolog.Logger
	// Sources are where workflows lie, from the weakest to the strongest; see [definition.Layers].
	Sources []definition.Source
	// Mode says how conditions compare. The zero value is strict.
	Mode criteria.Mode
	// Runs opens where runs are kept; it is called when the first is wanted. nil: they are kept in memory.
	Runs func(ctx context.Context) (runs.Log, error)
	// Memory is what they are kept in while Runs gives nothing; nil: a memory of the server's own.
	Memory runs.Log
	// Where says which repository and branch is worked on, "" where that is not known; nil: it never is.
	Where func() (repository, branch string)
	// Tools are what steps of runs call; nil: they call none. Dir is where relative paths of files that they wait for
	// begin.
	Tools runs.Tools
	Dir   string
	// Expire is how long nothing may happen in a run that is not over, 0 for ever; nil: for ever. Gateway is where
	// requests that runs wait for are to be sent, "" where that is not known.
	Expire  func() time.Duration
	Gateway string
}

// MaxOutput is how long an output to validate may be, in bytes.
const MaxOutput = 1 << 20
