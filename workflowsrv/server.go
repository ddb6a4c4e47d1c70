package workflowsrv

import (
	"context"
	"sync"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
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
	door   *mcpserve.Server
	lists  listCache

	mu       sync.Mutex // guards what follows
	sessions int
	watch    *watch                // while there are sessions
	logged   *definition.Catalogue // the last one that was looked through for the log
	told     map[string]bool       // what the log was told of it
}

// A watch is the goroutine that watches the directories.
type watch struct {
	stop  context.CancelFunc
	ended chan struct{}
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
	}
	table := toolTable()
	for i := range table {
		s.tools[table[i].name] = &table[i]
	}
	s.door = &mcpserve.Server{
		Name: serverName, Version: serverVersion, Engine: newEngine(table), Methods: []string{"tools/list"},
		Knows: func(tool string) bool { return s.tools[tool] != nil },
		Call:  s.carryOut, Closed: s.leave,
	}
	return s
}

// Connect begins an MCP session. Its calls are worked on side by side.
func (s *Server) Connect(send func(msg []byte)) wire.Session {
	s.enter()
	return s.door.Connect(send)
}

// carryOut is the tools of the MCP door.
func (s *Server) carryOut(ctx context.Context, c mcpserve.Call) mcpserve.Result {
	return toolResult(s.call(ctx, s.tools[c.Tool], c.Arguments))
}

// Bare returns the door of the bare JSON-RPC form. Its sessions answer a
// message before they take the next one. When a session has answered
// shutdown it calls ended, unless that is nil: the process is then to exit.
func (s *Server) Bare(ended func()) wire.Endpoint { return newBareDoor(s, ended) }

// enter counts a session in. The first one starts to watch the directories.
func (s *Server) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions++; s.sessions > 1 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{stop: cancel, ended: make(chan struct{})}
	s.watch = w
	go func() {
		defer close(w.ended)
		// Read the files now, so that the first call finds them read.
		s.store.Catalogue()
		if err := s.store.Watch(ctx); err != nil {
			s.opts.Logger.Warn().AnErr(logkey.Err, err).Msg("workflow files are looked at twice a second instead")
		}
	}()
}

// leave counts a session out. The last one stops the watching and waits for
// its end, or for that of ctx: reading a directory can hang.
func (s *Server) leave(ctx context.Context) {
	s.mu.Lock()
	var last *watch
	if s.sessions--; s.sessions == 0 {
		last, s.watch = s.watch, nil
	}
	s.mu.Unlock()
	if last != nil {
		last.stop()
		select {
		case <-last.ended:
		case <-ctx.Done():
		}
	}
}
