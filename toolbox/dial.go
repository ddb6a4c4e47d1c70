package toolbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/runner"
	"github.com/mcp-workbench/workbench/toolbox/launch"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// mayBeSSE reports whether a server of which nobody said which remote transport it speaks refused a message as one does
// that speaks the transport of revision 2024-11-05 (specification 2025-11-25, transports, "Backwards Compatibility").
func mayBeSSE(err error) bool {
	switch remote.StatusOf(err) {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnsupportedMediaType:
		return true
	}
	return false
}

// dial makes the link that the configuration asks for. ctx bounds the making of a connection, never its life.
func (o *owner) dial(ctx context.Context) (link.Link, error) {
	s, opts := o.server, o.server.box.opts
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
	return make(o, ctx, cfg)
}

// links are how the link of each transport is made, for a configuration with its secrets.
func links() map[config.Transport]func(o *owner, ctx context.Context, cfg config.Server) (link.Link, error) {
	return map[config.Transport]func(*owner, context.Context, config.Server) (link.Link, error){
		config.TransportStdio:   (*owner).dialStdio,
		config.TransportHTTP:    (*owner).dialHTTP,
		config.TransportSSE:     (*owner).dialSSE,
		config.TransportBuiltin: (*owner).dialBuiltin,
	}
}

func (o *owner) dialStdio(_ context.Context, cfg config.Server) (link.Link, error) {
	s, opts := o.server, o.server.box.opts
	spec, err := launch.Child(s.Toolbox, cfg, opts.Environ, opts.Sandboxes)
	if err != nil {
		return nil, err
	}
	spec.Hide = func(text string) string { return s.hidden.Load().Text(text) }
	spec.StderrLine = func(line foreign.Text) {
		s.log.Debug().Stringer(logkey.Stderr, s.wrote(line)).Msg("the server wrote to standard error")
	}
	program := link.Program{Spec: spec, Spawn: opts.Spawn, Max: opts.MaxMessage, Log: s.log}
	if r := runner.Of(cfg.Command, cfg.Args); r != nil {
		program.Runner = r.Watch(spec.Env) // in a sandbox its home is another one, and so is its cache
	}
	l, err := link.Stdio(program)
	if err != nil {
		return nil, err
	}
	s.child.Store(l.Process())
	return l, nil
}

func (o *owner) dialHTTP(ctx context.Context, cfg config.Server) (link.Link, error) {
	if o.sse {
		return o.dialSSE(ctx, cfg)
	}
	return link.HTTP(o.server.remote, o.server.box.opts.MaxMessage), nil
}

func (o *owner) dialSSE(ctx context.Context, _ config.Server) (link.Link, error) {
	return link.SSE(ctx, o.server.remote, o.server.box.opts.MaxMessage)
}

func (o *owner) dialBuiltin(context.Context, config.Server) (l link.Link, err error) {
	s := o.server
	// What it is made from is written by others: a panic over that costs this server alone.
	defer func() {
		if p := recover(); p != nil {
			s.log.Error().Interface(logkey.Panic, p).Bytes(logkey.Stack, debug.Stack()).Msg("a built-in server could not be made")
			err = errors.New("it could not be made, which is a fault of workbench; the log says more")
		}
	}()
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
