package workflowsrv

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/mcpserve"
)

// A seat is where the session of a client is: at the server of the folders that the client works in.
type seat struct {
	session   *mcpserve.Session
	principal string

	mu     sync.Mutex // guards what follows
	server *Server
	left   bool
}

func (at *seat) now() *Server {
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.server
}

// offers answers a request by the offers of the server where the session is.
func (at *seat) offers(list func(*offers, context.Context, []byte) ([]byte, error)) mcpserve.Request {
	return func(ctx context.Context, params []byte) ([]byte, error) { return list(&at.now().offers, ctx, params) }
}

// move takes the session to another server, and tells the client that what there is may be other than before.
func (at *seat) move(to *Server) {
	at.mu.Lock()
	from := at.server
	if at.left || to == from {
		at.mu.Unlock()
		return
	}
	at.server = to
	to.audience.joined(at.session, at.principal)
	at.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	from.audience.left(ctx, at.session)
	at.session.ListChanged(mcpserve.Prompts)
	at.session.ListChanged(mcpserve.Resources)
}

// leave ends the session.
func (at *seat) leave(ctx context.Context) {
	at.mu.Lock()
	at.left = true
	at.mu.Unlock()
	at.server.audience.left(ctx, at.session)
}
