package toolbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/runner"
	"github.com/mcp-workbench/workbench/toolbox/launch"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// mayBeSSE reports whether a server of which nobody said which remote transport it speaks refused a message as one does that
// speaks the transport of revision 2024-11-05 (specification 2025-11-25, transports, "Backwards Compatibility").
func (s *Server) mayBeSSE(err error) bool {
	var refused *remote.StatusError
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
func (s *Server) dial(ctx context.Context) (link.Link, error) {
	opts := s.box.opts
	cfg, hiding, err := launch.Reveal(ctx, s.cfg, opts.Environ, opts.Secret, opts.Masks)
	if err != nil {
		return nil, err
	}
	s.hidden.Store(hiding)
	s.remote.Start(cfg)
	make, ok := links()[s.cfg.Transport]
	if !ok {
		return nil, fmt.Errorf("there is no transport %q", s.cfg.Transport)
	}
	return make(s, ctx, cfg)
}

// links are how the link of each transport is made, for a configuration with its secrets.
func links() map[config.Transport]func(s *Server, ctx context.Context, cfg config.Server) (link.Link, error) {
	return map[config.Transport]func(*Server, context.Context, config.Server) (link.Link, error){
		config.TransportStdio:   (*Server).dialStdio,
		config.TransportHTTP:    (*Server).dialHTTP,
		config.TransportSSE:     (*Server).dialSSE,
		config.TransportBuiltin: (*Server).dialBuiltin,
	}
}

func (s *Server) dialStdio(_ context.Context, cfg config.Server) (link.Link, error) {
	opts := s.box.opts
	spec, err := launch.Child(s.Toolbox, cfg, opts.Environ, opts.Sandboxes)
	if err != nil {
		return nil, err
	}
	spec.Hide = s.hidden.Load().Text
	spec.StderrLine = func(line foreign.Text) {
		s.wrote(line)
		s.log.Debug().Stringer(logkey.Stderr, line).Msg("the server wrote to standard error")
	}
	program := link.Program{Spec: spec, Spawn: opts.Spawn, Max: opts.MaxMessage, Log: s.log}
	if r := runner.Of(cfg.Command, cfg.Args); r != nil {
		program.Runner = r.Watch(launch.Environment(cfg, opts.Environ))
	}
	l, err := link.Stdio(program)
	if err != nil {
		return nil, err
	}
	s.child.Store(l.Process())
	return l, nil
}

func (s *Server) dialHTTP(ctx context.Context, cfg config.Server) (link.Link, error) {
	if s.sse {
		return s.dialSSE(ctx, cfg)
	}
	return link.HTTP(s.remote, s.box.opts.MaxMessage), nil
}

func (s *Server) dialSSE(ctx context.Context, _ config.Server) (link.Link, error) {
	return link.SSE(ctx, s.remote, s.box.opts.MaxMessage)
}

func (s *Server) dialBuiltin(context.Context, config.Server) (link.Link, error) {
	build, ok := s.box.opts.Builtins[s.cfg.Builtin]
	if !ok {
		return nil, fmt.Errorf("there is no built-in server %q", s.cfg.Builtin)
	}
	endpoint, err := build(s.box.opts.Principal, s.cfg)
	if err != nil {
		return nil, err
	}
	return link.Builtin(endpoint), nil
}

// newRequester makes what makes the requests to the server; nil unless it is remote.
func newRequester(s *Server) *remote.Requester {
	if s.cfg.URL == "" {
		return nil
	}
	opts := s.box.opts
	with := remote.Options{Toolbox: s.Toolbox, Server: s.Name, HTTP: opts.HTTP, Logins: opts.Logins, Environ: opts.Environ, Secret: opts.Secret,
		Masks: opts.Masks, Hiding: &s.hidden}
	if opts.Login != nil {
		with.Renewed = func(err error) { opts.Login(s.Toolbox, s.Name, err) }
	}
	return remote.New(s.cfg, with)
}
