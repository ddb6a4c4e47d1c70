// Package workflowhost has the servers of workflows of a process: one for each set of folders and way to judge conditions that
// a configuration names. All sessions of a server share what it has read; each principal has a door of its own.
//
//	Host ──► workflowsrv.Server ──► definition, runs
//	  │
//	  └────► Places, where workflows are looked for, also in git repositories
package workflowhost

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/checkout"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// Options are what a Host gets from the program around it.
type Options struct {
	Places *Places
	// Tools are what the runs of workflows call.
	Tools runs.Tools
	// Runs is what runs are kept in.
	Runs func(context.Context) (runs.Log, error)
	// Expire is how long nothing may happen in a run that is not over, 0 for ever.
	Expire time.Duration
	// Logger receives what concerns the operator; the zero value is silent.
	Logger zerolog.Logger
}

// A Host makes servers of workflows and keeps them.
type Host struct {
	// Gateway is where requests for runs go, "" where none can be sent. It is set before the first server is made.
	Gateway string

	opts Options

	mu   sync.Mutex // held while a server is made
	made map[string]*workflowsrv.Server
}

// New returns a Host.
func New(opts Options) *Host { return &Host{opts: opts, made: map[string]*workflowsrv.Server{}} }

// Builtin makes the MCP side of a server, for somebody. It is a [toolbox.Builtin].
func (h *Host) Builtin(who principal.Principal, s config.Server) (wire.Endpoint, error) {
	who.Name = cmp.Or(who.Name, principal.Default)
	server, err := h.get(fmt.Sprintf("%q %q", s.Conditions, s.Workflows), func() (workflowsrv.Options, error) {
		opts, err := h.Server(s.Workflows, s.Conditions)
		opts.Tools = h.opts.Tools
		return opts, err
	})
	if err != nil {
		return nil, err
	}
	return server.For(who), nil
}

// Server gives what a server of these folders is made with, which calls no tools.
func (h *Host) Server(dirs []string, conditions string) (workflowsrv.Options, error) {
	sources, project, err := h.opts.Places.Sources(dirs)
	if err != nil {
		return workflowsrv.Options{}, err
	}
	opts := workflowsrv.Options{
		Logger: h.opts.Logger, Sources: sources, Runs: h.opts.Runs, Dir: project,
		Where:   func() (repository, branch string) { return checkout.Of(project) },
		Expire:  func() time.Duration { return h.opts.Expire },
		Gateway: h.Gateway,
	}
	if conditions == "lenient" {
		opts.Mode = criteria.Lenient
	}
	return opts, nil
}

// get returns the server of a key, which is made if there is none.
func (h *Host) get(key string, with func() (workflowsrv.Options, error)) (*workflowsrv.Server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.made[key]; s != nil {
		return s, nil
	}
	opts, err := with()
	if err != nil {
		return nil, err
	}
	s := workflowsrv.New(opts)
	h.made[key] = s
	return s, nil
}

// all returns the servers that were made.
func (h *Host) all() []*workflowsrv.Server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.made))
}

// Wait waits until the repositories whose workflows are being fetched have been, or cannot be.
func (h *Host) Wait() { h.opts.Places.fetching.Wait() }
