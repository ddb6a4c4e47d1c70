package opening

import (
	"context"
	"path/filepath"

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
	"github.com/mcp-workbench/workbench/internal/userdir"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/remote"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// Hosts have the servers inside this process. Nothing of them is there before it is wanted.
type Hosts struct {
	Config    *config.Config // of the start
	Store     *storehost.Store
	tools     *toolcaller.Caller
	Commands  *commandhost.Host
	Workflows *workflowhost.Host
}

// Use makes the hosts by a configuration, and the one toolbox of it that is served over HTTP, "" for all. The first use
// counts.
func (e *Environment) Use(cfg *config.Config, direct string, log zerolog.Logger) {
	if e.Hosts != nil {
		return
	}
	h := &Hosts{Config: cfg}
	h.Store = storehost.New(func(ctx context.Context) (*store.Store, error) {
		return kept.OpenStore(ctx, e.Environment, cfg, func(err error) { log.Warn().AnErr(logkey.Err, err).Msg("the store of conversations") })
	}, log)
	h.tools = toolcaller.New(cfg, toolcaller.Options{
		Toolbox: func() toolbox.Options { return e.ToolboxOptions(cfg, log) }, Ask: e.Approvals.Ask, Logger: log,
	})
	h.Commands = commandhost.New(cfg, commandhost.Options{
		Version: cli.Version(), Startup: e.Startup, Direct: direct, Tools: h.tools, Store: h.Store, HTTP: remote.Client(e.Environ),
		Programs: e.Programs(), Credential: e.Credential, Reveal: e.Revealed, Logger: log,
	})
	h.Workflows = workflowhost.New(workflowhost.Options{
		Places: e.WorkflowPlaces(log), Tools: h.tools, Expire: cfg.Store.ExpireRuns, Logger: log,
		Runs: func(ctx context.Context) (runs.Log, error) { return h.Store.Get(ctx) },
	})
	e.Hosts = h
}

// Reload has the hosts work by another configuration.
func (h *Hosts) Reload(cfg *config.Config) {
	h.tools.Reload(cfg)
	h.Commands.Reload(cfg)
}

// Close ends the servers, then what they work with.
func (h *Hosts) Close() {
	if h == nil {
		return
	}
	h.Commands.Close()
	h.tools.Close()
	h.Store.Close()
}

// WorkflowPlaces are where workflows are looked for.
func (e *Environment) WorkflowPlaces(log zerolog.Logger) *workflowhost.Places {
	path, _ := e.Lookup("WORKFLOW_STORAGE_PATH")
	return &workflowhost.Places{Project: cli.WorkingDir, Home: userdir.Home(e.Lookup), Path: path, Keeper: e.GitKeeper, Logger: log}
}

// GitKeeper is where files of repositories are kept.
func (e *Environment) GitKeeper() (gitfiles.Keeper, error) {
	dir, err := e.StateDir()
	run := func(ctx context.Context, argv, environ []string) ([]byte, error) {
		if agent, ok := e.Lookup("SSH_AUTH_SOCK"); ok {
			environ = append(environ, "SSH_AUTH_SOCK="+agent)
		}
		return e.Programs().Run(ctx, child.Program{Argv: argv, Env: environ, Timeout: gitfiles.MaxTime})
	}
	return gitfiles.Keeper{Dir: filepath.Join(dir, "workflows"), Run: run}, err
}
