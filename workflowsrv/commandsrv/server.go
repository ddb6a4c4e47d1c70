package commandsrv

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// Options are what a [Server] may be told. The zero value is right for a server without a model.
type Options struct {
	// Version is told to MCP clients.
	Version string
	// Agent carries out invoke_agent; nil means that no model is configured.
	Agent Agent
	// Sampled makes an agent for a client that lends its model, where there is no Agent; create sends
	// sampling/createMessage. nil makes none.
	Sampled func(create func(ctx context.Context, params []byte) (result []byte, err error)) Agent
	// Summarizer names conversations that end; nil has them named by what was said first.
	Summarizer Summarizer
	// Startup is the command string that a session begins with in a conversation without turns; "" is that of the
	// workflow, if it has one.
	Startup string
	// MaxTurn is how long a turn may take, whoever waits for it; 0 is half an hour.
	MaxTurn time.Duration
	// Refresh is asked before each operation, by one at a time, and returns what is to be served from then on, nil for
	// what was. The name of its workflow is the same. nil means that nothing changes.
	Refresh func(ctx context.Context) *command.Engine
	// Logger receives what concerns the operator; the zero value is silent.
	Logger zerolog.Logger
}

// A Server serves one workflow to any number of clients. What it is asked for is done for a principal, who sees nothing
// of others.
type Server struct {
	service
	version      string
	operations   map[string]*operation
	table        []*operation
	engineForMCP func() *mcpserver.MCPServer // made once, when it is wanted
}

// New returns a server of the workflow that the engine runs. Its conversations are kept in st under the name of the
// workflow. It starts nothing.
func New(engine *command.Engine, st *store.Store, opts Options) *Server {
	if opts.MaxTurn == 0 {
		opts.MaxTurn = 30 * time.Minute
	}
	kept := &book{st, engine.Workflow().Name, opts.Logger}
	now := &live{renew: opts.Refresh}
	now.take(engine)
	s := &Server{version: opts.Version, operations: map[string]*operation{}, table: operationTable(), service: service{
		startup: opts.Startup, summarizer: opts.Summarizer,
		runner: runner{live: now, worker: worker{kept, opts.MaxTurn}, agents: agents{opts.Agent, opts.Sampled}, latest: latest{turns: map[place]*turn{}}},
	}}
	s.life, s.end = context.WithCancelCause(context.Background())
	s.engineForMCP = sync.OnceValue(func() *mcpserver.MCPServer { return newMCPEngine(s.commands().Info(), s.version, s.table) })
	for _, o := range s.table {
		s.operations[o.name] = o
	}
	return s
}

// call carries out an operation with arguments that are not read yet.
func (s *Server) call(ctx context.Context, o *operation, c *caller, raw []byte) (json.RawMessage, *Fault) {
	a, f := o.read(c, raw)
	if f != nil {
		return nil, f
	}
	return s.carryOn(ctx, o, c, a)
}

// carryOn carries out an operation. A panic costs this call alone.
func (s *Server) carryOn(ctx context.Context, o *operation, c *caller, a arguments) (result json.RawMessage, f *Fault) {
	defer mcpserve.Recover(s.log, o.name, func() {
		result, f = nil, faultf(http.StatusInternalServerError, "this is a fault of the server; its log says more")
	})
	s.refresh(ctx)
	var at session
	var value any
	if o.name != "initialize" {
		at, f = s.find(ctx, c, a)
	}
	if f == nil {
		value, f = o.run(ctx, &s.service, c, at, a)
	}
	if f != nil {
		s.failed(o.name, f)
		return nil, f
	}
	if done, ok := value.(json.RawMessage); ok {
		return done, nil
	}
	return wire.MustEncode(value), nil
}

// failed logs a fault that is not the caller's, and that no turn has logged once for all who wait for it.
func (s *Server) failed(tool string, f *Fault) {
	if f.Code < http.StatusInternalServerError || f.Code == http.StatusGatewayTimeout || f.logged {
		return
	}
	at := session{place: place{owner: f.Data.UserID}, handle: f.Data.SessionID}
	at.Conversation = f.Data.ConversationID
	concerning(s.log.Error(), tool, at, f.Data.TurnKey).AnErr(logkey.Err, f).AnErr(logkey.Detail, f.cause).Msg("an operation failed")
}
