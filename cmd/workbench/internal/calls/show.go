package calls

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/running"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/internal/status"
)

func callsShowCommand(env *cli.Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show everything about one call",
		Long: `Show prints everything that the record has about one call: who made it, its outcome,
what its server wrote to standard error meanwhile, its arguments and result if the
configuration has "record": "full", and the command line that repeats it.`,
		Example: `  workbench calls show 4711-12
  workbench calls show 4711-12 --json | jq .result`,
		Args: cli.Between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, of, err := findCall(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return terminal.PrintJSON(env.Out, c)
			}
			_, err = fmt.Fprint(env.Out, running.Text(env, &of, &c))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON document")
	return cmd
}

// callsRepeatCommand makes a call again by the command that makes calls.
func callsRepeatCommand(env *cli.Environment, call *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "repeat ID",
		Short: "Repeat one call",
		Long: `Repeat calls the tool of a recorded call again, with the recorded arguments, and
prints the result, as workbench call does. The call goes to the server of the running
workbench if that has it open, otherwise to a server that is started for it. A call
of a workbench with another configuration is not repeated: the server could be
another one there. Only this command ever repeats a recorded call.`,
		Example: `  workbench calls --failed
  workbench calls repeat 4711-12`,
		Args: cli.Between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, of, err := findCall(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			again, err := running.Repetition(env, &of, &c)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Err, "workbench: %s\n", foreign.Block(env.Advice(shellword.Line(again...))))
			return call.RunE(cmd, again[2:])
		},
	}
	cmd.Flags().AddFlagSet(call.Flags())
	return cmd
}

// findCall asks all workbenches for a call, and the one that has it where it stands.
func findCall(ctx context.Context, e *cli.Environment, id string) (found calls.Call, of status.Workbench, err error) {
	type callOf struct {
		calls.Call
		peer status.Peer
	}
	all, silent := running.Gather(e, func(p status.Peer) ([]callOf, error) {
		c, err := p.Call(ctx, id)
		if err != nil {
			return nil, err
		}
		return []callOf{{c, p}}, nil
	})
	switch {
	case len(all) == 1:
		of, err = all[0].peer.Get(ctx)
		return all[0].Call, of, err
	case len(all) > 1:
		return found, of, cli.Usage(cli.Hint(fmt.Errorf("%d workbenches have a call %q", len(all), id), "write the whole id, as workbench calls prints it"))
	}
	return found, of, cli.Hint(fmt.Errorf("%s has a call %q", running.None(silent), id), "workbench calls lists the calls")
}
