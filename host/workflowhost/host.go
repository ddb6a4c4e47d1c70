// Package workflowhost has the servers of workflows of a process: one for each set of folders and way to judge
// conditions that a configuration names. All sessions of a server share what it has read; each principal has a door of
// its own.
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
	"github.com/mcp-workbench/workbench/internal/logkey"
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
	// Remote says that clients may be on other machines: the folders that they work in are not of this one. It is set
	// as Gateway is.
	Remote bool

	opts   Options
	memory runs.Log // of all servers

	mu   sync.Mutex // held while a server is made
	made map[string]*workflowsrv.Server
	away []string // the keys of those for folders of clients, the last one that was asked for last
}

// maxAway is how many servers for folders of clients are kept.
const maxAway = 32

// New returns a Host.
func New(opts Options) *Host {
	return &Host{opts: opts, memory: runs.NewMemory(), made: map[string]*workflowsrv.Server{}}
}

// Builtin makes the MCP side of a server, for somebody, or for nobody in particular, who has no runs. A server that its
// configuration has all clients share works for the user of this machine. It is a [toolbox.Builtin].
func (h *Host) Builtin(who principal.Principal, s config.Server) (wire.Endpoint, error) {
	if s.Shared {
		who.Name = cmp.Or(who.Name, principal.Default)
	}
	server, err := h.in(s, nil)
	if err != nil {
		return nil, err
	}
	if s.Shared || h.Remote {
		return server.For(who, nil), nil
	}
	return server.For(who, func(folders []string) *workflowsrv.Server {
		other, err := h.in(s, folders)
		if err != nil {
			h.opts.Logger.Warn().AnErr(logkey.Err, err).Msg("the workflows of a client's folders are not looked for")
			return server
		}
		return other
	}), nil
}

// in gives the server for clients that work in these folders.
func (h *Host) in(s config.Server, folders []string) (*workflowsrv.Server, error) {
	key := fmt.Sprintf("%q %q %q", s.Conditions, s.Workflows, folders)
	server, err := h.get(key, func() (workflowsrv.Options, error) {
		opts, err := h.Server(s.Workflows, s.Conditions, folders)
		opts.Tools = h.opts.Tools
		return opts, err
	})
	if len(folders) > 0 {
		h.keep(key)
	}
	return server, err
}

// keep notes that a server was asked for. What is asked for no more is made anew when it is; who has it, has it.
func (h *Host) keep(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.away = append(slices.DeleteFunc(h.away, func(k string) bool { return k == key }), key)
	if len(h.away) > maxAway {
		delete(h.made, h.away[0])
		h.away = h.away[1:]
	}
}

// Server gives what a server is made with, which calls no tools: the folders of a configuration, and those of clients.
func (h *Host) Server(dirs []string, conditions string, folders []string) (workflowsrv.Options, error) {
	sources, project, err := h.opts.Places.Sources(dirs, folders)
	if err != nil {
		return workflowsrv.Options{}, err
	}
	opts := workflowsrv.Options{
		Logger: h.opts.Logger, Sources: sources, Runs: h.opts.Runs, Memory: h.memory, Dir: project,
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
