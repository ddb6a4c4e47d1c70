package toolbox

import (
	"context"

	"github.com/mcp-workbench/workbench/toolbox/link"
)

// Dial connects to the server as its configuration says, for the caller alone: who speaks to it by the protocol, and
// closes the link. Nothing supervises that, and nothing of it is seen in the status of the server.
func (s *Server) Dial(ctx context.Context) (link.Link, error) { return (&owner{server: s}).dial(ctx) }
