package main

import (
	"context"
	"path/filepath"
	"runtime"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/kept"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/host/commandhost"
	"github.com/mcp-workbench/workbench/host/storehost"
	"github.com/mcp-workbench/workbench/host/toolcaller"
	"github.com/mcp-workbench/workbench/host/workflowhost"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/gitfiles"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/remote"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// hosts have the servers inside this process. Nothing of them is there before it is wanted.
type hosts struct {
	cfg       *config.Config // of the start
	store     *storehost.Store
	tools     *toolcaller.Caller
	commands  *commandhost.Host
	workflows *workflowhost.Host
}

// use makes the hosts by a configuration, and the one toolbox of it that is served over HTTP, "" for all. The first use counts.
func (e *environment) use(cfg *config.Config, direct string, log zerolog.Logger) {
	if e.hosts != nil {
		return
	}
	h := &hosts{cfg: cfg}
	h.store = storehost.New(func(ctx context.Context) (*store.Store, error) {
		return kept.OpenStore(ctx, e.Environment, cfg, func(err error) { log.Warn().AnErr(logkey.Err, err).Msg("the store of conversations") })
	}, log)
	h.tools = toolcaller.New(cfg, toolcaller.Options{
		Toolbox: func() toolbox.Options { return e.toolboxOptions(cfg, log) }, Ask: e.approvals.Ask, Logger: log,
	})
	h.commands = commandhost.New(cfg, commandhost.Options{
		Version: cli.Version(), Startup: e.startup, Direct: direct, Tools: h.tools, Store: h.store, HTTP: remote.Client(e.Environ),
		Programs: e.Programs(), Credential: e.Credential, Reveal: e.Revealed, Logger: log,
	})
	h.workflows = workflowhost.New(workflowhost.Options{
		Places: e.workflowPlaces(log), Tools: h.tools, Expire: cfg.Store.ExpireRuns, Logger: log,
		Runs: func(ctx context.Context) (runs.Log, error) { return h.store.Get(ctx) },
	})
	e.hosts = h
}

// Reload has the hosts work by another configuration.
func (h *hosts) Reload(cfg *config.Config) {
	h.tools.Reload(cfg)
	h.commands.Reload(cfg)
}

// close ends the servers, then what they work with.
func (h *hosts) close() {
	if h == nil {
		return
	}
	h.commands.Close()
	h.tools.Close()
	h.store.Close()
}

// workflowPlaces are where workflows are looked for.
func (e *environment) workflowPlaces(log zerolog.Logger) *workflowhost.Places {
	home, _ := e.Lookup("HOME")
	if runtime.GOOS == "windows" {
		home, _ = e.Lookup("USERPROFILE")
	}
	path, _ := e.Lookup("WORKFLOW_STORAGE_PATH")
	return &workflowhost.Places{Project: cli.WorkingDir, Home: home, Path: path, Keeper: e.gitKeeper, Logger: log}
}

// gitKeeper is where files of repositories are kept.
func (e *environment) gitKeeper() (gitfiles.Keeper, error) {
	dir, err := e.StateDir()
	run := func(ctx context.Context, argv, environ []string) ([]byte, error) {
		if agent, ok := e.Lookup("SSH_AUTH_SOCK"); ok {
			environ = append(environ, "SSH_AUTH_SOCK="+agent)
		}
		return e.Programs().Run(ctx, child.Program{Argv: argv, Env: environ, Timeout: gitfiles.MaxTime})
	}
	return gitfiles.Keeper{Dir: filepath.Join(dir, "workflows"), Run: run}, err
}
