package main

import (
	"fmt"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/lifetime"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/reload"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/host/recordhost"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/footprint"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/tracing"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/proxy/localfront"
)

func serveCommand(env *opening.Environment) *cobra.Command {
	var (
		direct string
		over   httpFlags
	)
	cmd := &cobra.Command{
		Use:        "serve",
		SuggestFor: []string{"start"},
		Short:      "Serve an MCP client on standard input and output, or many over HTTP",
		Long: `Serve speaks MCP on standard input and output, one JSON message a line, until the
input ends. Logs go to standard error. The configuration is read again when its file
changes, and on SIGHUP.

With --http it instead serves any number of clients over streamable HTTP, until it is
interrupted: all toolboxes at /mcp, a single one directly at /mcp/TOOLBOX. Clients
need the token that workbench token prints, or one of their own, which workbench token
create makes.`,
		Example: `  workbench serve
  workbench serve --http 127.0.0.1:7777
  workbench serve --toolbox files --log-level debug --log-file workbench.log`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := over.Check(cmd); err != nil {
				return err
			}
			switch {
			case over.OverHTTP() || !terminal.Is(env.In):
			case cmd == cmd.Root():
				return cmd.Help()
			default:
				fmt.Fprint(env.Err, servedToNobody)
			}
			return over.Serve(cmd, env, direct)
		},
	}
	cmd.Flags().Var((*cli.Named)(&direct), "toolbox", "serve the tools of this one `toolbox` directly, under their own names")
	over.add(cmd.Flags())
	return cmd
}

// servedToNobody tells a person who has started what clients start.
const servedToNobody = `Waiting for an MCP client: it speaks JSON, a message a line, and starts workbench by itself. Put this into its configuration:
  {"mcpServers": {"workbench": {"command": "workbench", "args": ["serve"]}}}
  claude mcp add workbench -- workbench serve
For clients over HTTP: workbench serve --http 127.0.0.1:7777. Ctrl-D ends this.
`

// Serve serves all toolboxes, or one directly, until there is nobody left to serve.
func (o *httpFlags) Serve(cmd *cobra.Command, env *opening.Environment, direct string) error {
	log, err := env.Logger()
	if err != nil {
		return err
	}
	cfg, from, err := env.LoadBy((*config.Source).ParseUsable)
	if err != nil {
		return err
	}
	if cfg.Path == "" && cfg.Untrusted == nil && env.Overlay == nil {
		log.Info().Strs(logkey.Searched, from.Places.Searched).Msg("no configuration found; serving the built-in one")
	}
	reload.TellSources(log, cfg)
	for _, problem := range cfg.Problems() {
		log.Warn().AnErr(logkey.Err, problem).Msg("a server cannot be used")
	}
	if cfg.Doubt != "" {
		log.Warn().Str(logkey.Detail, cfg.Doubt).Msg("the configuration can be changed by another user")
	}
	if cfg.Models.Problem != nil {
		log.Warn().AnErr(logkey.Err, cfg.Models.Problem).Msg("the models cannot be asked")
	}
	tracer, stopTracing, err := tracing.Start(env.Lookup, cli.Version(), log)
	if err != nil {
		// The variables are mostly meant for other programs.
		log.Warn().AnErr(logkey.Err, err).Msg("there are no traces")
	}
	defer stopTracing()
	env.Use(cfg, direct, log)
	env.Hosts.Commands.Report()
	opts := frontOptions(env, cfg, direct, log)
	opts.Tracer = tracer
	if m := env.Meanings(cfg, log); m != nil {
		defer m.Close()
		opts.Meanings = m
	}
	record := recordhost.New(opts.Calls, cfg, log)
	defer record.Close()
	follow := reload.New(log, cfg, from, direct)
	if o.OverHTTP() {
		return serveHTTP(cmd.Context(), env, o, cfg, opts, follow, record)
	}
	opts.Trust = from.TrustShown
	front, err := proxy.New(cfg, opts)
	if err != nil {
		return cli.Usage(fmt.Errorf("--toolbox: %w", err))
	}
	defer front.Close()
	defer beTold(env, log, "", front, localfront.Guests(front, cfg.MaxMessage), follow)()
	defer follow.Follow(record, env.Hosts, front)()
	in, out, restore := lifetime.Pollable(env.In, env.Out)
	defer restore()
	return lifetime.Stopped(wire.Serve(cmd.Context(), in, out, front, wire.ServeOptions{MaxMessage: cfg.MaxMessage, Ending: env.Ending.Begin}))
}

// frontOptions are what a front gets from this program.
func frontOptions(e *opening.Environment, cfg *config.Config, direct string, log zerolog.Logger) proxy.Options {
	servers := e.ToolboxOptions(cfg, log)
	servers.Spawn = trimmed(servers.Spawn)
	return proxy.Options{
		Version:   cli.Version(),
		Direct:    direct,
		Toolbox:   servers,
		Calls:     calls.New(calls.Mode(cfg.Record.Mode)),
		Clients:   seenClients(e, log),
		Tasks:     taskBook(e, log),
		Approvals: e.Approvals,
		Results:   results.New(e.RuntimeDirs()),
		Scripts:   scriptHost(e),
		Logger:    log,
	}
}

// trimmed returns spawn, and sees to it that this process gives back the memory that only its own start and those of
// processes need.
func trimmed(spawn func(child.Spec) (*child.Process, error)) func(child.Spec) (*child.Process, error) {
	memory := footprint.New()
	return func(spec child.Spec) (*child.Process, error) {
		memory.Busy()
		return spawn(spec)
	}
}
