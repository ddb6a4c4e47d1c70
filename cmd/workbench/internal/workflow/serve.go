package workflow

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/lifetime"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/internal/footprint"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv"
)

// errShutdown ends serving after a client has asked for it.
var errShutdown = errors.New("the client asked for the end")

func workflowServeCommand(env *opening.Environment) *cobra.Command {
	var bare bool
	var toolbox string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve workflows alone, on standard input and output",
		Long: `Serve runs only the built-in workflow server: an MCP server on standard input and
output. With --bare it speaks the older form of the workflow API, JSON-RPC whose
methods are the tools, and ends after shutdown.`,
		Example: `  workbench workflow serve
  workbench workflow serve --bare < requests.jsonl`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveWorkflows(cmd.Context(), env, toolbox, bare) },
	}
	cmd.Flags().BoolVar(&bare, "bare", false, "speak the bare JSON-RPC of the workflow API instead of MCP")
	cmd.Flags().Var((*cli.Named)(&toolbox), "toolbox", "use only the directories of this `toolbox` (default: those of all)")
	return cmd
}

func serveWorkflows(ctx context.Context, env *opening.Environment, toolbox string, bare bool) error {
	log, err := env.Logger()
	var opts workflowsrv.Options
	if err == nil {
		opts, err = env.Configured(toolbox, log)
	}
	if err != nil {
		if bare { // The older form has it that a server which cannot begin answers so.
			details := wire.MustEncode(map[string]string{"details": err.Error()})
			_, _ = env.Out.Write(append(wire.AppendError(nil, nil, wire.CodeInternal, "Internal error", details), '\n'))
		}
		return err
	}
	server := workflowsrv.New(opts)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var door wire.Endpoint = server
	if bare {
		door = server.Bare(func() { cancel(errShutdown) })
	}
	in, out, restore := lifetime.Pollable(env.In, env.Out)
	defer restore()
	footprint.New()
	if err := wire.Serve(ctx, in, out, door, wire.ServeOptions{Ending: env.Ending.Begin}); !errors.Is(err, errShutdown) {
		return lifetime.Stopped(err)
	}
	return nil
}
