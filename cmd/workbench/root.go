package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/checking"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/commands"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/conversations"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/demo"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/lifetime"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/login"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/record"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/runs"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/secret"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/setup"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/status"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/token"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/tools"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/top"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/trust"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/workflow"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/child/guardian"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/script"
)

// run is the program.
func run(ctx context.Context, args []string, std cli.Streams, environ []string) int {
	child.Conceal()
	if f, ok := std.Out.(*os.File); ok {
		std.Out = &cli.Output{File: f}
	}
	if len(args) == 1 && args[0] == scriptArg {
		return script.Serve(std.In, std.Out, script.MaxTime)
	}
	env := &opening.Environment{Environment: &cli.Environment{Streams: std, Environ: environ, Hangups: lifetime.NewHangups()}, Masks: new(mask.Set), Approvals: approval.New(fmt.Sprintf("%d-", os.Getpid()))}
	env.Hangups.Reopen = env.Logs.Reopen
	return env.Report(doWithin(ctx, env, args))
}

// doWithin runs a command and closes what it has used.
func doWithin(ctx context.Context, e *opening.Environment, args []string) error {
	ctx, stop := lifetime.Signals(ctx, e.Hangups, func() bool { return terminal.Is(e.In) || terminal.Is(e.Err) })
	defer stop()
	var err error
	if e.Program, err = os.Executable(); err != nil { // as on Linux where /proc is not mounted
		if e.Program, err = exec.LookPath(os.Args[0]); err == nil {
			e.Program, err = filepath.Abs(e.Program)
		}
	}
	if err != nil {
		return fmt.Errorf("the path of this program is unknown: %w", err)
	}
	defer e.Logs.Close()
	e.Guard = child.NewGuard([]string{e.Program, guardian.Arg})
	e.Secrets = cli.NewFinder(e.Environment)
	e.Ending = lifetime.NewEnding(e.Guard)
	return e.Ending.Within(ctx, func() error { return runCommand(ctx, e, args) })
}

// runCommand runs a command.
func runCommand(ctx context.Context, e *opening.Environment, args []string) error {
	defer e.Guard.Close()
	defer func() { e.Hosts.Close() }()
	root := rootCommand(e)
	root.SetArgs(args)
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	refuseUnknownHelp(root)
	refuseUnknownShells(root) // whose commands write to where root does now
	return root.ExecuteContext(ctx)
}

// refuseUnknownHelp has help of a command that is not there be a wrong use, as the command itself is.
func refuseUnknownHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Args = func(_ *cobra.Command, args []string) error {
		found, rest, err := root.Find(args)
		if err != nil || len(rest) == 0 {
			return err
		}
		return cli.NoArgs(found, rest)
	}
}

// refuseUnknownShells has completion for a shell that is not there be a wrong use, and no script.
func refuseUnknownShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	for _, cmd := range append(completion.Commands(), completion) {
		cmd.Args = cli.NoArgs
	}
}

func rootCommand(env *opening.Environment) *cobra.Command {
	env.Root = rootCommand
	serve := serveCommand(env)
	root := &cobra.Command{
		Use:   "workbench",
		Short: "One entry in your MCP client, any number of MCP servers behind it",
		Long: `Workbench is one entry in an MCP client's configuration. Behind it, MCP servers are
grouped into toolboxes in workbench-config.json. The client opens the toolbox that it
needs; only then are its servers started, supervised and offered.

Without a command, workbench serves on standard input and output, as clients start
it. workbench completion SHELL --help says how to make a shell complete commands and
the names of toolboxes, servers, tools, tokens, runs and conversations.`,
		Example: `  workbench check                        # is the configuration right?
  workbench tools workflows              # what does a toolbox offer?
  workbench call workflows/workflow/workflow_list
  workbench demo                         # see it work`,
		Args:          cli.NoArgs,
		RunE:          serve.RunE,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       cli.Version(),
	}
	root.SetVersionTemplate(cli.VersionLine())
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 100"))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usage(cli.Hint(err, fmt.Sprintf("%s --help lists the flags", cmd.CommandPath())))
	})
	f := root.PersistentFlags()
	f.Var((*cli.Named)(&env.ConfigPath), "config", "configuration `file` (default: $WORKBENCH_CONFIG, else $XDG_CONFIG_HOME/workbench/workbench-config.json and the project's own workbench-config.json, once it is trusted)")
	f.StringVar(&env.LogLevel, "log-level", "info", "what is logged to standard error: debug, info, warn, error or off")
	cli.OfferFlag(root, "log-level", cli.Fixed("debug", "info", "warn", "error", "off"))
	f.StringVar(&env.LogFile, "log-file", "", "log to this `file` instead of standard error")
	root.Flags().AddFlag(serve.Flags().Lookup("toolbox")) // the commonest; the others need the command
	for _, cmd := range []*cobra.Command{root, serve} {
		cli.OfferFlag(cmd, "toolbox", cli.OfferEach(env.ToolboxNames))
	}
	root.AddCommand(
		serve,
		setup.Init(env.Environment),
		setup.Import(env.Environment),
		setup.Connect(env.Environment),
		setup.Disconnect(env.Environment),
		setup.Add(env.Environment),
		setup.Remove(env.Environment),
		setup.Enable(env.Environment),
		setup.Disable(env.Environment),
		setup.Move(env.Environment),
		setup.Undo(env.Environment),
		checking.Check(env), checking.Doctor(env),
		trust.Command(env.Environment),
		trust.Untrust(env.Environment),
		calls.Approve(env.Environment),
		tools.Command(env),
		tools.Find(env),
		tools.Index(env),
		tools.Call(env), calls.Command(env.Environment, tools.Call(env)),
		calls.Logs(env.Environment), calls.Restart(env.Environment),
		record.Record(env), record.Replay(env.Environment),
		tools.Prompts(env),
		tools.Prompt(env),
		tools.Resources(env),
		tools.Read(env),
		checking.Lock(env),
		status.Command(env.Environment),
		top.Command(env),
		uiCommand(env),
		workflow.Command(env),
		login.Login(env.Environment),
		login.Logout(env.Environment),
		token.Command(env.Environment),
		secret.Command(env.Environment),
		commands.Command(env, httpServing),
		conversations.Command(env.Environment),
		runs.Command(env),
		demo.Command(env),
		manCommand(),
		versionCommand(env.Environment),
	)
	return root
}
