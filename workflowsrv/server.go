package workflowsrv

import (
	"context"
	"sync"

	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/rs/zerolog"
)

// The identity of the server, which the published handshake fixes.
const (
	serverName    = "workflowlookup"
	serverVersion = "1.0.0"
	serverText    = "Workflow Orchestration System MCP Server"
)

// DefaultMaxOutput is how long an output to validate may be, in bytes.
const DefaultMaxOutput = 1 << 20

// Options are what a Server may be told. The zero value is a server without
// workflows.
type Options struct {
	// Logger receives what concerns the operator; the zero value is silent.
	Logger zerolog.Logger
	// Sources are where workflows lie, from the weakest to the strongest; see
	// [definition.Layers].
	Sources []definition.Source
	// Mode says how conditions compare. The zero value is strict.
	Mode criteria.Mode
	// AssertFormat makes "format" in the JSON Schemas of rules a demand.
	AssertFormat bool
	// MaxOutput bounds the output that workflow_validate takes, in bytes; 0 is
	// DefaultMaxOutput.
	MaxOutput int
}

// A Server answers the calls of any number of sessions.
type Server struct {
	opts   Options
	store  *definition.Store
	parser *definition.Parser
	tools  map[string]*tool
	engine *mcpserver.MCPServer
	lists  listCache

	mu      sync.Mutex // guards what follows
	watches bool
	closed  bool
	stop    context.CancelFunc
	running sync.WaitGroup
}

var _ wire.Endpoint = (*Server)(nil)

// New returns a server. It opens nothing and starts nothing.
func New(opts Options) *Server {
	if opts.MaxOutput == 0 {
		opts.MaxOutput = DefaultMaxOutput
	}
	s := &Server{
		opts:   opts,
		store:  definition.NewStore(opts.Sources),
		parser: new(definition.Parser),
		tools:  map[string]*tool{},
		stop:   func() {},
	}
	table := toolTable()
	for i := range table {
		s.tools[table[i].name] = &table[i]
	}
	s.engine = newEngine(table)
	return s
}

// Connect begins an MCP session. The session answers every request that it
// receives, from any goroutine, and cancels what it still works on when it is
// closed before.
func (s *Server) Connect(send func(msg []byte)) wire.Session {
	s.watch()
	return newSession(s, send)
}

// Bare returns the door of the bare JSON-RPC form. Its sessions answer a
// message before they take the next one. When a session has answered
// shutdown it calls ended, unless that is nil: the process is then to exit.
func (s *Server) Bare(ended func()) wire.Endpoint { return newBareDoor(s, ended) }

// watch starts to watch the directories, once.
func (s *Server) watch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watches || s.closed {
		return
	}
	s.watches = true
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.running.Go(func() {
		// Read the files now, so that the first call finds them read.
		s.store.Catalogue()
		if err := s.store.Watch(ctx); err != nil {
			s.opts.Logger.Warn().Err(err).Msg("workflow files are looked at twice a second instead")
		}
	})
}

// Close stops watching the directories and waits for that. Sessions are
// closed by those who opened them; one that is still open goes on to answer.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	stop := s.stop
	s.mu.Unlock()
	stop()
	s.running.Wait()
	return nil
}
