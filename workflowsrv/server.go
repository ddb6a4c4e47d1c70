package workflowsrv

import (
	"context"
	"sync"

	mcpserver "github.com/mark3labs/mcp-go/server"

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

// A Server answers the calls of any number of sessions.
type Server struct {
	service  service
	audience audience
	offers   offers
	tools    map[string]*tool
	engine   *mcpserver.MCPServer
	own      wire.Endpoint
}

var _ wire.Endpoint = (*Server)(nil)

// New returns a server. It opens nothing and starts nothing.
func New(opts Options) *Server {
	books := &shelf{store: definition.NewStore(opts.Sources), log: opts.Logger}
	s := &Server{tools: map[string]*tool{}}
	s.audience = audience{shelf: books, stirred: make(chan struct{}, 1), sessions: map[*mcpserve.Session]string{}, begun: map[string]bool{}}
	s.audience.runs = runs.NewEngine(runs.Options{
		Find: books.find, Log: opts.Runs, Memory: opts.Memory, Where: opts.Where, Tools: opts.Tools, Dir: opts.Dir, Moved: s.audience.moved, Expire: opts.Expire, Gateway: opts.Gateway,
		Criteria: criteria.Options{Mode: opts.Mode},
	})
	s.service = service{shelf: books, opts: opts, runs: s.audience.runs}
	s.offers = offers{books, &s.audience, s.audience.runs}
	table := toolTable()
	for i := range table {
		s.tools[table[i].name] = &table[i]
	}
	s.engine = newEngine(table)
	s.own = s.For(principal.Principal{Name: principal.Default}, nil)
	return s
}

// Runs returns what carries out the runs of the server.
func (s *Server) Runs() *runs.Engine { return s.service.runs }

// Connect begins an MCP session of who works with workbench alone. Its calls are worked on side by side.
func (s *Server) Connect(send func(msg []byte)) wire.Session { return s.own.Connect(send) }

// For returns the MCP door of a principal, who sees his own runs only; without a name it is nobody, who has none.
// elsewhere gives the server for clients that work in these folders; nil: where they work is no matter.
func (s *Server) For(p principal.Principal, elsewhere func(folders []string) *Server) wire.Endpoint {
	return door{s, p, elsewhere}
}

// A door makes the MCP sessions of a principal.
type door struct {
	server    *Server
	principal principal.Principal
	elsewhere func(folders []string) *Server
}

// in gives the server for clients that work in these folders.
func (d door) in(folders []string) *Server {
	if len(folders) == 0 {
		return d.server
	}
	return d.elsewhere(folders)
}

// Connect begins a session.
func (d door) Connect(send func(msg []byte)) wire.Session {
	s, p := d.server, d.principal
	at := &seat{principal: p.Name, server: s}
	mcp := &mcpserve.Server{
		Name: serverName, Version: serverVersion, Logger: s.service.opts.Logger, Engine: s.engine, Methods: []string{"tools/list"},
		Knows: func(tool string) bool { return s.tools[tool] != nil },
		Call: func(ctx context.Context, c mcpserve.Call) mcpserve.Result {
			who, s := caller(p, c), d.in(c.Folders)
			return asTask(c, toolResult(s.service.call(ctx, s.tools[c.Tool], c.Arguments, &who)))
		},
		Task: func(ctx context.Context, c mcpserve.TaskCall) (mcpserve.Task, error) {
			return goOnWith(ctx, s.service.runs, p, c)
		},
		Requests: map[string]mcpserve.Request{
			"prompts/list": at.offers((*offers).listPrompts), "prompts/get": at.offers((*offers).getPrompt), "resources/templates/list": listTemplates,
			"resources/list": func(ctx context.Context, _ []byte) ([]byte, error) { return at.now().offers.listResources(ctx, p) },
			"resources/read": func(ctx context.Context, params []byte) ([]byte, error) {
				return at.now().offers.readResource(ctx, p, params)
			},
			"skills/list": at.offers((*offers).listSkills), "skills/get": at.offers((*offers).getSkill),
		},
		Watches: func() { at.now().audience.stir() },
		Closed:  at.leave,
	}
	if d.elsewhere != nil {
		mcp.Moved = func(folders []string) { at.move(d.in(folders)) }
	}
	at.session = mcp.Connect(send)
	s.audience.joined(at.session, p.Name)
	return at.session
}

// Bare returns the door of the bare JSON-RPC form. Its sessions answer a message before they take the next one. When a
// session has answered shutdown it calls ended, unless that is nil: the process is then to exit.
func (s *Server) Bare(ended func()) wire.Endpoint {
	return bareDoor{service: &s.service, audience: &s.audience, tools: s.tools, ended: ended, list: sync.OnceValue(bareList)}
}
