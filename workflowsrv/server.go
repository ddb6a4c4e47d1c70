package workflowsrv

import (
	"context"
	"sync"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
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
	// Runs opens where runs are kept; it is called when the first is wanted. nil: they are kept in memory.
	Runs func(ctx context.Context) (runs.Log, error)
	// Where says which repository and branch is worked on, "" where that is not known; nil: it never is.
	Where func() (repository, branch string)
	// Tools are what steps of runs call; nil: they call none. Dir is where relative paths of files that they wait for begin.
	Tools runs.Tools
	Dir   string
	// Expire is how long nothing may happen in a run that is not over, 0 for ever; nil: for ever. Gateway is where requests that runs
	// wait for are to be sent, "" where that is not known.
	Expire  func() time.Duration
	Gateway string
}

// A Server answers the calls of any number of sessions.
type Server struct {
	opts   Options
	store  *definition.Store
	parser *definition.Parser
	tools  map[string]*tool
	table  []tool
	runs   *runs.Engine
	engine *mcpserver.MCPServer
	own    wire.Endpoint
	lists  listCache

	stirred chan struct{} // has tell look

	mu       sync.Mutex // guards what follows
	entered  int
	sessions map[*mcpserve.Session]string // those over MCP, with whose they are
	begun    map[string]bool              // whose runs have begun of which nobody was told yet
	listed   *definition.Catalogue        // the first of which prompts or skills were listed since clients were told of a change
	watch    *watch                       // while there are sessions
	logged   *definition.Catalogue        // the last one that was looked through for the log
	told     map[string]bool              // what the log was told of it
}

// A watch are the goroutines that watch the directories and tell of changes.
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
		opts:    opts,
		store:   definition.NewStore(opts.Sources),
		parser:  new(definition.Parser),
		tools:   map[string]*tool{},
		stirred: make(chan struct{}, 1), sessions: map[*mcpserve.Session]string{}, begun: map[string]bool{},
	}
	s.table = toolTable()
	for i := range s.table {
		s.tools[s.table[i].name] = &s.table[i]
	}
	s.engine = newEngine(s.table)
	s.own = s.For(principal.Principal{Name: principal.Default})
	s.runs = runs.NewEngine(runs.Options{
		Find: s.find, Log: opts.Runs, Where: opts.Where, Tools: opts.Tools, Dir: opts.Dir, Moved: s.moved, Expire: opts.Expire, Gateway: opts.Gateway,
		Criteria: criteria.Options{Mode: opts.Mode, AssertFormat: opts.AssertFormat},
	})
	return s
}

// Runs returns what carries out the runs of the server.
func (s *Server) Runs() *runs.Engine { return s.runs }

// Connect begins an MCP session of who works with workbench alone. Its calls are worked on side by side.
func (s *Server) Connect(send func(msg []byte)) wire.Session { return s.own.Connect(send) }

// For returns the MCP door of a principal, who sees his own runs only.
func (s *Server) For(p principal.Principal) wire.Endpoint { return door{s, p} }

// A door makes the MCP sessions of a principal.
type door struct {
	server    *Server
	principal principal.Principal
}

// Connect begins a session.
func (d door) Connect(send func(msg []byte)) wire.Session {
	s, p := d.server, d.principal
	var session *mcpserve.Session
	mcp := &mcpserve.Server{
		Name: serverName, Version: serverVersion, Engine: s.engine, Methods: []string{"tools/list"},
		Knows: func(tool string) bool { return s.tools[tool] != nil },
		Call: func(ctx context.Context, c mcpserve.Call) mcpserve.Result {
			who := caller(p, c)
			return toolResult(s.call(ctx, s.tools[c.Tool], c.Arguments, &who))
		},
		Requests: map[string]mcpserve.Request{
			"prompts/list": s.listPrompts, "prompts/get": s.getPrompt, "resources/templates/list": listTemplates,
			"resources/list": func(ctx context.Context, _ []byte) ([]byte, error) { return s.listResources(ctx, p) },
			"resources/read": func(ctx context.Context, params []byte) ([]byte, error) { return s.readResource(ctx, p, params) },
			"skills/list":    s.listSkills, "skills/get": s.getSkill,
		},
		Watches: s.stir,
		Closed: func(ctx context.Context) {
			s.mu.Lock()
			delete(s.sessions, session)
			s.mu.Unlock()
			s.leave(ctx)
		},
	}
	session = mcp.Connect(send)
	s.mu.Lock()
	s.sessions[session] = p.Name
	s.mu.Unlock()
	s.enter()
	return session
}

// Bare returns the door of the bare JSON-RPC form. Its sessions answer a
// message before they take the next one. When a session has answered
// shutdown it calls ended, unless that is nil: the process is then to exit.
func (s *Server) Bare(ended func()) wire.Endpoint { return newBareDoor(s, ended) }

// enter counts a session in. The first one starts to watch the directories.
func (s *Server) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entered++; s.entered > 1 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{stop: cancel, ended: make(chan struct{})}
	s.watch = w
	go func() {
		defer close(w.ended)
		var told sync.WaitGroup
		defer told.Wait()
		// It reads the files now, so that the first call finds them read.
		told.Go(func() { s.tell(ctx) })
		if err := s.store.Watch(ctx, s.stir); err != nil {
			s.opts.Logger.Warn().AnErr(logkey.Err, err).Msg("workflow files are looked at twice a second instead")
		}
	}()
}

// leave counts a session out. The last one stops the watching and waits for
// its end, or for that of ctx: reading a directory can hang.
func (s *Server) leave(ctx context.Context) {
	s.mu.Lock()
	var last *watch
	if s.entered--; s.entered == 0 {
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
