package commandsrv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// Options are what a [Server] may be told. The zero value is right for a
// server without a model.
type Options struct {
	// Version is told to MCP clients.
	Version string
	// Agent carries out invoke_agent; nil means that no model is configured.
	Agent Agent
	// Sampled makes an agent for a client that lends its model, where there is
	// no Agent; create sends sampling/createMessage. nil makes none.
	Sampled func(create func(ctx context.Context, params []byte) (result []byte, err error)) Agent
	// Summarizer names conversations that end; nil has them named by what was
	// said first.
	Summarizer Summarizer
	// Startup is the command string that a session begins with in a
	// conversation without turns; "" is that of the workflow, if it has one.
	Startup string
	// MaxTurn is how long a turn may take, whoever waits for it; 0 is half an
	// hour.
	MaxTurn time.Duration
	// Refresh is asked before each operation and returns what is to be served
	// from then on, nil for what was. The name of its workflow is the same.
	// nil means that nothing changes.
	Refresh func(ctx context.Context) *command.Engine
	// Logger receives what concerns the operator; the zero value is silent.
	Logger zerolog.Logger
}

// A Server serves one workflow to any number of clients. What it is asked for
// is done for a principal, who sees nothing of others.
type Server struct {
	served       atomic.Pointer[served]
	store        *store.Store
	workflow     string // what its conversations are kept under
	opts         Options
	operations   map[string]*operation
	table        []*operation
	engineForMCP func() *mcpserver.MCPServer // made once, when it is wanted

	// life is that of the turns, which outlive the calls that began them.
	life   context.Context
	end    context.CancelCauseFunc
	owed   sync.WaitGroup // turns under way
	mu     sync.Mutex     // guards what follows
	closed bool
	turns  map[place]*turn // the last one of each session
	swept  time.Time
}

// served is what a server serves at a time.
type served struct {
	engine  *command.Engine
	version string // whether its commands are the same as before
}

// engine is what runs the commands now.
func (s *Server) engine() *command.Engine { return s.served.Load().engine }

// refresh takes over a workflow that was edited.
func (s *Server) refresh(ctx context.Context) {
	if s.opts.Refresh == nil {
		return
	}
	if engine := s.opts.Refresh(ctx); engine != nil {
		s.served.Store(&served{engine, version(engine.Workflow())})
	}
}

var errClosed = errors.New("the server is shutting down")

// New returns a server of the workflow that the engine runs. Its conversations
// are kept in st under the name of the workflow. It starts nothing.
func New(engine *command.Engine, st *store.Store, opts Options) *Server {
	if opts.MaxTurn == 0 {
		opts.MaxTurn = 30 * time.Minute
	}
	s := &Server{store: st, workflow: engine.Workflow().Name, opts: opts, operations: map[string]*operation{}, turns: map[place]*turn{}}
	s.served.Store(&served{engine, version(engine.Workflow())})
	s.life, s.end = context.WithCancelCause(context.Background())
	s.engineForMCP = sync.OnceValue(s.newMCPEngine)
	s.table = operationTable()
	for _, o := range s.table {
		s.operations[o.name] = o
	}
	return s
}

// Close ends the turns under way and waits for them. It may be called twice.
// The store and whatever the engine calls must be closed after.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end(errClosed)
	s.owed.Wait()
	return nil
}

// version tells one state of a workflow from another by what its commands do.
func version(w *command.Workflow) string {
	h := sha256.New()
	for _, c := range w.Commands {
		fmt.Fprintf(h, "%s\x00%s\x00%s\x00%s\x00", c.Name, c.Description, c.Effect, c.Schema)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
