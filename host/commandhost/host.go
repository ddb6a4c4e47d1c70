// Package commandhost has the servers of command workflows of a process, by what they serve: a folder, a toolbox, or
// the example. Each is made when somebody wants it who may, and serves its callers over MCP and over HTTP.
//
//	Host ──► commandsrv.Server, one for each source ──► command.Engine ──► Tools, requests, programs
//
// A Host knows no environment, no command line and no client: Options are all it has. Its lock is held for its own
// fields alone, and none while a server is made.
package commandhost

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/lazy"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/agent"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// A Host makes servers of command workflows and keeps them.
type Host struct {
	opts  Options
	pulse pulse
	owed  sync.WaitGroup // what is looked at beside

	mu     sync.Mutex // guards what follows
	cfg    *config.Config
	made   map[string]*place
	stale  []*place // made for an earlier configuration, and still in use by who had them
	closed bool
}

// A place is where one server is, once it was wanted.
type place struct {
	*lazy.Thing[commandsrv.Server]
	failed atomic.Bool // the server could not be made when it was wanted last
	told   string      // why it could not be made, as the log has it; only what makes the server looks at it
}

// New returns a Host of the servers that a configuration has. It is to be closed.
func New(cfg *config.Config, opts Options) *Host {
	return &Host{opts: opts, cfg: cfg, made: map[string]*place{}}
}

// Reload has the servers be made by another configuration when they are wanted the next time; who is connected to one
// keeps it. The models and the store are those of the start.
func (h *Host) Reload(cfg *config.Config) {
	h.mu.Lock()
	now := *cfg
	now.Models, now.Store = h.cfg.Models, h.cfg.Store
	h.cfg = &now
	for source, one := range h.made {
		h.stale = append(h.stale, one)
		delete(h.made, source)
	}
	h.mu.Unlock()
	h.Report()
}

// Close ends the servers.
func (h *Host) Close() {
	h.mu.Lock()
	h.closed = true
	made := h.stale
	for _, one := range h.made {
		made = append(made, one)
	}
	h.mu.Unlock()
	h.owed.Wait()
	var all sync.WaitGroup
	for _, one := range made {
		all.Go(func() {
			if server := one.Close(); server != nil {
				_ = server.Close()
			}
		})
	}
	all.Wait()
}

// config is the configuration that the servers are made by.
func (h *Host) config() *config.Config {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cfg
}

// Report logs which servers of the configuration cannot be made, before somebody wants them. Nobody waits for it but
// Close.
func (h *Host) Report() {
	cfg := h.config()
	h.owed.Go(func() {
		for _, t := range cfg.Toolboxes {
			for _, s := range t.Servers {
				if s.Builtin != config.BuiltinCommands || s.Disabled || s.Problem != nil {
					continue
				}
				for _, f := range Diagnose(s) {
					h.opts.Logger.Error().Str(logkey.Toolbox, t.Name).Str(logkey.Server, s.Name).Str(logkey.Err, f.Message).Str(logkey.Detail, f.Remedy).Msg("commands cannot be served")
				}
			}
		}
	})
}

// Builtin makes the MCP side of a server, for somebody. It is a [toolbox.Builtin].
func (h *Host) Builtin(who principal.Principal, s config.Server) (wire.Endpoint, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.Timeouts.Start)
	defer cancel()
	server, err := h.Get(ctx, s.Commands)
	if err != nil {
		return nil, told(who, err)
	}
	return server.For(who), nil
}

// told is what somebody is told of why commands cannot be served. The reason names folders of this machine: it is for
// who owns the machine, and in the log.
func told(who principal.Principal, err error) error {
	if who.Admin || who.Name == principal.Default {
		return err
	}
	return errors.New("its commands cannot be served at present; the log of workbench says why")
}

// ServeHTTP serves /commands/TOOLBOX/…, the operations of the toolbox's server of commands.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, path := splitPath(r.URL.Path)
	source := h.source(h.config(), name)
	if source == "" || !principal.From(r.Context()).May(name) {
		commandsrv.Refuse(w, http.StatusNotFound, fmt.Sprintf("there is no toolbox %q with a server of commands here", foreign.NewName(name)))
		return
	}
	server, err := h.Get(r.Context(), source)
	if err != nil {
		commandsrv.Refuse(w, http.StatusServiceUnavailable, told(principal.From(r.Context()), err).Error())
		return
	}
	inner := r.Clone(r.Context())
	inner.URL.Path, inner.URL.RawPath = path, ""
	server.ServeHTTP(w, inner)
}

// source is what the server of commands of a toolbox serves over HTTP, "" if there is none.
func (h *Host) source(cfg *config.Config, name string) string {
	box, ok := cfg.Toolbox(name)
	if !ok || h.opts.Direct != "" && h.opts.Direct != name {
		return ""
	}
	for _, s := range box.Servers {
		if s.Builtin == config.BuiltinCommands && !s.Disabled && s.Problem == nil {
			return s.Commands
		}
	}
	return ""
}

// Served names the toolboxes whose commands are served over HTTP.
func (h *Host) Served() []string {
	cfg := h.config()
	var names []string
	for _, t := range cfg.Toolboxes {
		if h.source(cfg, t.Name) != "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// splitPath takes the toolbox and the rest from a path below /commands/.
func splitPath(path string) (name, rest string) {
	name, rest, _ = strings.Cut(strings.TrimPrefix(path, "/commands/"), "/")
	return name, "/" + rest
}

// Probe answers the requests below /commands/ that are a supervisor's, and reports whether one is. It says the same of
// every toolbox, there or not: how all those are that run.
func (h *Host) Probe(w http.ResponseWriter, r *http.Request) bool {
	_, path := splitPath(r.URL.Path)
	return commandsrv.ServeProbe(w, r, path, h.pulse.of(h.checks))
}

// checks say how the servers are that somebody has wanted: one that can work is enough.
func (h *Host) checks(ctx context.Context) commandsrv.Checks {
	h.mu.Lock()
	open, failed := !h.closed, len(h.made) > 0
	for _, one := range h.made {
		failed = failed && one.failed.Load()
	}
	h.mu.Unlock()
	return commandsrv.Checks{"workflow": !failed, "store": h.opts.Store.Works(ctx), "open": open}
}

// Get returns the server of what a configuration names, making it if there is none: once for all who wait for it. One
// that could not be made is tried again.
func (h *Host) Get(ctx context.Context, source string) (*commandsrv.Server, error) {
	h.mu.Lock()
	one := h.made[source]
	switch {
	case h.closed:
		h.mu.Unlock()
		return nil, errEnding
	case one == nil:
		one = h.place(h.cfg, source)
		h.made[source] = one
	}
	h.mu.Unlock()
	return one.Get(ctx)
}

var errEnding = errors.New("the commands are served no longer: workbench ends")

// place returns the place of a server that is not made yet.
func (h *Host) place(cfg *config.Config, source string) *place {
	one := &place{}
	one.Thing = lazy.New(func(ctx context.Context) (*commandsrv.Server, error) {
		server, err := h.make(ctx, cfg, source)
		one.failed.Store(err != nil)
		if err != nil && one.told != err.Error() && ctx.Err() == nil {
			one.told = err.Error()
			h.opts.Logger.Error().AnErr(logkey.Err, err).Msg("commands cannot be served")
		}
		return server, err
	}, errEnding)
	return one
}

// make makes the server of what a configuration names.
func (h *Host) make(ctx context.Context, cfg *config.Config, source string) (*commandsrv.Server, error) {
	print := ""
	if isFolder(source) {
		print = footprint(source) // before it is read: an edit meanwhile is seen later
	}
	w, with, err := h.opts.workflow(ctx, cfg, source)
	if err != nil {
		return nil, fmt.Errorf("the commands %s cannot be served: %w", source, err)
	}
	opts := commandsrv.Options{Version: h.opts.Version, Startup: h.opts.Startup, Logger: h.opts.Logger, Sampled: sampled}
	if m := &cfg.Models; m.Answer() && m.Problem == nil {
		key, err := h.opts.Reveal(ctx, cfg, m.APIKey)
		if err != nil {
			return nil, fmt.Errorf("models.apiKey: %w", err)
		}
		a, err := newAgent(m, key, h.opts.HTTP, h.opts.Logger)
		if err != nil {
			return nil, err
		}
		opts.Agent, opts.Summarizer, with.Chooser = a, a, a
	}
	kept, err := h.opts.Store.Get(ctx)
	if err != nil {
		return nil, err
	}
	if isFolder(source) {
		load := func(ctx context.Context) (*command.Workflow, error) { return h.opts.folder(ctx, h.config(), source) }
		opts.Refresh = (&editedFolder{load: load, log: h.opts.Logger, dir: source, name: w.Name, with: with, at: time.Now(), print: print}).engine
	}
	return commandsrv.New(command.New(w, with), kept, opts), nil
}

// newAgent returns what asks the models of a configuration.
func newAgent(m *config.Models, key string, client *http.Client, log zerolog.Logger) (*agent.Agent, error) {
	asked, err := model.New(m.BaseURL, model.Options{
		Models: model.Models{Default: m.Default, Planner: m.Planner, Agent: m.Agent, Assistant: m.Assistant, Summary: m.Summary},
		Key:    key, ReplyTimeout: m.ReplyTimeout, MaxTokens: m.MaxTokens, HTTP: client, Logger: log,
	})
	return agent.New(asked, agent.Options{}), err
}

// sampled returns an agent that asks the model of a client.
func sampled(create func(ctx context.Context, params []byte) ([]byte, error)) commandsrv.Agent {
	return agent.New(model.NewSampled(create), agent.Options{})
}
