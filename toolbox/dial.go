package toolbox

import (
	"context"

	"github.com/mcp-workbench/workbench/config"
)

// dial makes the link that the configuration asks for. ctx bounds the making
// of a connection, never its life.
func (s *Server) dial(ctx context.Context) (link, error) {
	if s.remote != nil && s.remote.login != nil {
		s.remote.login.Reload()
	}
	switch s.cfg.Transport {
	case config.TransportHTTP:
		return s.dialHTTP(), nil
	case config.TransportSSE:
		return s.dialSSE(ctx)
	case config.TransportBuiltin:
		return s.dialBuiltin()
	default:
		return s.dialStdio()
	}
}
