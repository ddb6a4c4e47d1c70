package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/logqueue"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/script"
	"github.com/mcp-workbench/workbench/internal/secrets"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Exit codes.
const (
	exitDone  = 0
	exitFault = 1 // could not start, or run to its end
	exitUsage = 2 // was called wrongly
)

// streams are standard input, output and error.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// environment is what a command knows of the world; nothing else in the
// program touches os.Args, os.Environ or the standard streams.
type environment struct {
	streams
	environ    []string
	configPath string // --config
	logLevel   string
	logFile    string
	guard      *child.Guard // starts all child processes
	secrets    *secrets.Finder
	hosts      *hosts // nil before they are used
	startup    string // the command that sessions with command workflows begin with, "" for that of the workflow
	logs       logs
	ending     *ending
	// overlay changes a configuration that was read; nil leaves it as it is.
	overlay func(*config.Config) error
	hangups *hangups
	loaded  *config.Config // by loadOnce
	// tune changes what the toolboxes of a command are made with; nil leaves it as it is.
	tune func(*toolbox.Options)
	// approvals are the calls that wait for a person.
	approvals *approval.Register
	// masks are the secrets that are taken out of what is kept of calls.
	masks *mask.Set
}

// lookup reads one of our variables.
func (e *environment) lookup(name string) (string, bool) {
	for i := len(e.environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e.environ[i], name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// usageError is a call of the program that does not make sense.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// hinted is an error with advice.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// guardArg, alone on the command line, makes this program the guard that starts
// and ends the child processes of another one. It is not for people.
const guardArg = "__guard"

// scriptArg, alone on the command line, makes this program run the script that it reads. It is not for people.
const scriptArg = "__script"

// run is the program.
func run(ctx context.Context, args []string, std streams, environ []string) int {
	if len(args) == 1 && args[0] == guardArg {
		return child.RunGuard()
	}
	child.Conceal()
	if len(args) == 1 && args[0] == scriptArg {
		return script.Serve(std.in, std.out, script.MaxTime)
	}
	env := &environment{streams: std, environ: environ, hangups: newHangups(), masks: new(mask.Set), approvals: approval.New(fmt.Sprintf("%d-", os.Getpid()))}
	env.hangups.reopen = env.logs.reopen
	return env.report(env.do(ctx, args))
}

// do runs a command and closes what it has used.
func (e *environment) do(ctx context.Context, args []string) error {
	ctx, stop := signals(ctx, e.hangups, func() bool { return isTerminal(e.in) || isTerminal(e.err) })
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("the path of this program is unknown: %w", err)
	}
	defer e.logs.close()
	e.guard = child.NewGuard([]string{self, guardArg})
	e.secrets = e.newSecrets()
	e.ending = newEnding(e.guard)
	return e.ending.within(ctx, func() error { return e.command(ctx, args) })
}

// command runs a command.
func (e *environment) command(ctx context.Context, args []string) error {
	defer e.guard.Close()
	defer func() { e.hosts.close() }()
	root := rootCommand(e)
	root.SetArgs(args)
	root.SetIn(e.in)
	root.SetOut(e.out)
	root.SetErr(e.err)
	return root.ExecuteContext(ctx)
}

// report says why a command failed, to who still reads it, and returns the exit code.
func (e *environment) report(err error) int {
	if err == nil {
		return exitDone
	}
	var silent silentError
	if errors.As(err, &silent) {
		return silent.code
	}
	if e.unread(err) {
		return exitFault // who stopped reading, as head does, wants no more
	}
	text := fmt.Sprintf("workbench: error: %v\n", err)
	var ended signalError
	var h hinted
	switch {
	case errors.As(err, &ended):
		text = fmt.Sprintf("workbench: %v\n", ended)
	case errors.As(err, &h):
		text += fmt.Sprintf("workbench: hint: %s\n", h.hint)
	}
	last := logqueue.New(e.err, droppedLines) // a pipe that nobody reads is not to hold up the end
	_, _ = last.Write([]byte(text))
	last.Close(logEnd)
	var usage usageError
	switch {
	case errors.As(err, &ended):
		return ended.code()
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitFault
}

// unread reports whether an error says that nobody reads standard output.
func (s streams) unread(err error) bool {
	out, isFile := s.out.(*os.File)
	var at *fs.PathError
	return isFile && errors.Is(err, syscall.EPIPE) && errors.As(err, &at) && at.Path == out.Name()
}

// silentError ends the program with a code after the command has said all
// there is to say.
type silentError struct{ code int }

func (e silentError) Error() string { return fmt.Sprintf("exit %d", e.code) }

func rootCommand(env *environment) *cobra.Command {
	serve := serveCommand(env)
	root := &cobra.Command{
		Use:   "workbench",
		Short: "One entry in your MCP client, any number of MCP servers behind it",
		Long: `Workbench is one entry in an MCP client's configuration. Behind it, MCP servers
are grouped into toolboxes in workbench-config.json; the client opens the one it
needs, and only then are its servers started, supervised and offered.

Without a command it serves on standard input and output, as clients start it.
workbench completion SHELL --help says how to have a shell complete commands and
the names of toolboxes, servers, tools, tokens, runs and conversations.`,
		Example: `  workbench check                        # is the configuration right?
  workbench tools workflows              # what does a toolbox offer?
  workbench call workflows/workflow/workflow_list
  workbench demo                         # see it work`,
		Args:          noArgs,
		RunE:          serve.RunE,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
	}
	root.SetVersionTemplate(versionLine())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{hinted{err, fmt.Sprintf("%s --help lists the flags", cmd.CommandPath())}}
	})
	f := root.PersistentFlags()
	f.StringVar(&env.configPath, "config", "", "configuration `file` (default: $WORKBENCH_CONFIG, else $XDG_CONFIG_HOME/workbench/workbench-config.json and the project's own workbench-config.json, once it is trusted)")
	f.StringVar(&env.logLevel, "log-level", "info", "what is logged to standard error: debug, info, warn, error or off")
	offerFlag(root, "log-level", fixed("debug", "info", "warn", "error", "off"))
	f.StringVar(&env.logFile, "log-file", "", "log to this `file` instead of standard error")
	root.Flags().AddFlag(serve.Flags().Lookup("toolbox")) // the commonest; the others need the command
	for _, cmd := range []*cobra.Command{root, serve} {
		offerFlag(cmd, "toolbox", env.offerEach(env.toolboxNames))
	}
	root.AddCommand(
		serve,
		initCommand(env),
		importCommand(env),
		connectCommand(env),
		disconnectCommand(env),
		addCommand(env),
		removeCommand(env),
		enableCommand(env),
		disableCommand(env),
		moveCommand(env),
		undoCommand(env),
		checkCommand(env), doctorCommand(env),
		trustCommand(env),
		untrustCommand(env),
		approveCommand(env),
		toolsCommand(env),
		findCommand(env),
		indexCommand(env),
		callCommand(env), callsCommand(env),
		logsCommand(env), restartCommand(env),
		recordCommand(env), replayCommand(env),
		promptsCommand(env),
		promptCommand(env),
		resourcesCommand(env),
		readCommand(env),
		lockCommand(env),
		statusCommand(env),
		uiCommand(env),
		workflowCommand(env),
		loginCommand(env),
		logoutCommand(env),
		tokenCommand(env),
		secretCommand(env),
		commandsCommand(env),
		conversationsCommand(env),
		runsCommand(env),
		demoCommand(env),
		manCommand(),
		versionCommand(env),
	)
	return root
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return usageError{hinted{fmt.Errorf("%s takes no arguments, got %q", cmd.Name(), args[0]), cmd.CommandPath() + " --help says what it takes"}}
	}
	err := fmt.Errorf("unknown command %q", args[0])
	var known []string
	for _, c := range cmd.Commands() {
		known = append(known, c.Name())
	}
	if near := nearest.Names(args[0], known, 1); near != nil {
		return usageError{hinted{err, fmt.Sprintf("did you mean %q? %s --help lists the commands", near[0], cmd.CommandPath())}}
	}
	return usageError{hinted{err, cmd.CommandPath() + " --help says what it takes"}}
}

// between wants from least to most arguments; most < 0 is any number.
func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		err := fmt.Errorf("%s: got %s", cmd.Name(), count(len(args), "argument"))
		return usageError{hinted{err, "it is called as: " + cmd.UseLine()}}
	}
}

// load reads the configuration that applies, for a command of a person. With none anywhere it is the built-in one. A fault
// inside the entry of a server costs that server alone; that a project's file is not trusted is told.
func (e *environment) load() (*config.Config, *sources, error) {
	cfg, from, err := e.loadBy((*config.Source).ParseUsable)
	if err == nil && cfg.Untrusted != nil {
		fmt.Fprintf(e.err, "workbench: warning: %s\nworkbench: hint: %s\n", cfg.Untrusted, cfg.Untrusted.Hint())
	}
	return cfg, from, err
}

// loadOnce is load for a command that needs the configuration in several places.
func (e *environment) loadOnce() (cfg *config.Config, err error) {
	if e.loaded == nil {
		e.loaded, _, err = e.load()
	}
	return e.loaded, err
}

// loadBy is load with nothing told.
func (e *environment) loadBy(read parser) (*config.Config, *sources, error) {
	from, err := e.sources()
	if err != nil {
		return nil, nil, err
	}
	cfg, err := from.load(read)
	return cfg, from, err
}

// lay changes a configuration by what this call of the program says.
func (e *environment) lay(cfg *config.Config) error {
	if e.overlay == nil {
		return nil
	}
	return e.overlay(cfg)
}
