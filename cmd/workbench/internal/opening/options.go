package opening

import (
	"context"
	"path/filepath"
	"runtime"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/slots"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// ToolboxOptions are what toolboxes get from this program, whoever opens them.
func (e *Environment) ToolboxOptions(cfg *config.Config, log zerolog.Logger) toolbox.Options {
	return toolbox.Options{
		MaxMessage: cfg.MaxMessage,
		Environ:    e.Environ,
		Secret:     e.Secret,
		Sandboxes:  cli.Sandboxes(e.Environment),
		HTTP:       remote.Client(e.Environ),
		Logins:     cli.Logins(e.Environment),
		Spawn:      e.Guard.Start,
		Turn:       e.turn(),
		Masks:      e.Masks,
		Event:      logEvent,
		Catalogue:  e.seenServers(log),
		Logger:     log,
		Builtins: map[string]toolbox.Builtin{
			config.BuiltinWorkflow: func(who principal.Principal, s config.Server) (wire.Endpoint, error) {
				return e.Hosts.Workflows.Builtin(who, s)
			},
			config.BuiltinCommands: func(who principal.Principal, s config.Server) (wire.Endpoint, error) {
				return e.Hosts.Commands.Builtin(who, s)
			},
		},
	}
}

// turn limits how many workbenches of this user start one server at a time: clients start theirs together, and each of
// these starts what it has open.
func (e *Environment) turn() func(context.Context, string) (func(), error) {
	dirs := e.RuntimeDirs()
	if len(dirs) == 0 {
		return nil
	}
	atATime := min(max(2, runtime.NumCPU()), 8)
	return slots.New(filepath.Join(dirs[0], "starts"), atATime).Take
}

// logEvent writes a change of a server's state.
func logEvent(e toolbox.Event) {
	ev := e.Log.Info()
	switch e.Status.State {
	case toolbox.Starting, toolbox.Installing:
		ev = e.Log.Debug()
	case toolbox.Backoff, toolbox.Open, toolbox.Failed, toolbox.NeedsLogin:
		ev = e.Log.Warn()
	}
	if e.Status.PID != 0 {
		ev = ev.Int(logkey.PID, e.Status.PID)
	}
	if e.Status.State == toolbox.Ready {
		ev = ev.Dur(logkey.Dur, e.Took)
	}
	if e.Status.Starts > 1 {
		ev = ev.Int(logkey.Attempt, e.Status.Starts)
	}
	if e.Status.Cause != nil {
		ev = ev.AnErr(logkey.Err, e.Status.Cause)
	}
	ev.Msg("server " + string(e.Status.State))
}

// seenServers is where it is kept what was seen of servers; nil if there is no place for it.
func (e *Environment) seenServers(log zerolog.Logger) *catalogue.Catalogue {
	dir, err := e.CacheDir()
	if err != nil {
		log.Debug().AnErr(logkey.Err, err).Msg("there is no place for the catalogue")
		return nil
	}
	return catalogue.New(filepath.Join(dir, "catalogue"), log)
}
