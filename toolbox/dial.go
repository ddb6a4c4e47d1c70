package toolbox

import (
	"context"
	"errors"
	"net/http"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/toolbox/launch"
)

// mayBeSSE reports whether a server of which nobody said which remote transport it speaks refused a message as one does that
// speaks the transport of revision 2024-11-05 (specification 2025-11-25, transports, "Backwards Compatibility").
func (s *Server) mayBeSSE(err error) bool {
	var refused *StatusError
	if !s.cfg.AnyHTTP || s.sse || !errors.As(err, &refused) {
		return false
	}
	switch refused.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnsupportedMediaType:
		return true
	}
	return false
}

// dial makes the link that the configuration asks for. ctx bounds the making
// of a connection, never its life.
func (s *Server) dial(ctx context.Context) (link, error) {
	opts := s.box.opts
	cfg, hiding, err := launch.Reveal(ctx, s.cfg, opts.Environ, opts.Secret, opts.Masks)
	if err != nil {
		return nil, err
	}
	s.hidden.Store(hiding)
	if s.remote != nil {
		s.remote.use(cfg)
	}
	if s.remote != nil && s.remote.login() != nil {
		s.remote.login().Reload()
	}
	switch s.cfg.Transport {
	case config.TransportHTTP:
		if s.sse {
			return s.dialSSE(ctx)
		}
		return s.dialHTTP(), nil
	case config.TransportSSE:
		return s.dialSSE(ctx)
	case config.TransportBuiltin:
		return s.dialBuiltin()
	default:
		return s.dialStdio(cfg)
	}
}
