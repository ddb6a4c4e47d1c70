package proxy

import (
	"context"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/script"
	"github.com/mcp-workbench/workbench/internal/taskbook"
	"github.com/mcp-workbench/workbench/internal/trail"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Name is how workbench calls itself to clients.
const Name = "mcp-workbench"

// Options are what the front needs besides the configuration.
type Options struct {
	// Version is told to clients.
	Version string
	// Direct names the one toolbox to serve, whose tools are then listed as if its servers were connected directly; ""
	// serves all behind the meta tools.
	Direct string
	// Toolbox is what toolboxes are made with; Client and Peer are set for each session.
	Toolbox toolbox.Options
	// Approvals is where calls wait that a person is to agree to; nil means that the client alone can ask.
	Approvals *approval.Register
	// Trust has the configuration of a project used as it was shown to the user. nil means that no client's user is
	// asked about it.
	Trust func(*config.Untrusted) error
	// Calls records what clients ask for; nil means that nothing is recorded.
	Calls *calls.Log
	// Trail hears of what somebody may want to account for; nil means nobody does.
	Trail func(trail.Event)
	// Clients remembers from one session to the next how clients take changed lists; nil means that each session finds
	// out for itself.
	Clients *habits.Memory
	// Tasks is where it is kept which server made which task, for other connections and runs; nil keeps nothing.
	Tasks *taskbook.Book
	// Results keeps large results of the servers that are configured so. nil means that there is no folder for them,
	// and that they are passed on.
	Results *results.Store
	// Scripts runs scripts, if the configuration allows them. nil means that there are none.
	Scripts *script.Host
	// Meanings has a vote in what tools are found by. nil means that words alone count.
	Meanings Meanings
	// Logger takes what goes wrong in the front itself. The zero value is silent.
	Logger zerolog.Logger
	// Tracer gets a span for each request that goes to a server, which then is told to go on below it. nil means that
	// there are no traces, and that servers get what clients say of theirs.
	Tracer trace.Tracer
}

// Meanings gives texts votes by how near what they mean is to a query, and says why there are none.
type Meanings interface {
	Votes(ctx context.Context, texts []string, query string) ([]float32, error)
}
