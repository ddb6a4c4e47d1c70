package calls

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/running"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/status"
)

func Restart(env *cli.Environment) *cobra.Command {
	var pid string
	cmd := &cobra.Command{
		Use:   "restart SERVER",
		Short: "Restart a server, or try it now",
		Long: `Restart ends a server and starts it again, in each workbench of this user that has
it open, whoever started that workbench. Running calls of the server are lost, and
their clients are told. A server that waits after a failure is tried at once.`,
		Example: `  workbench restart git
  workbench restart dev/git`,
		Args:              cli.Between(1, 1),
		ValidArgsFunction: cli.Offer(env.ServerNames),
		RunE:              func(cmd *cobra.Command, args []string) error { return restart(cmd.Context(), env, args[0], pid) },
	}
	cmd.Flags().StringVar(&pid, "workbench", "", "that of one workbench alone, whose process has this `number`")
	return cmd
}

// restart restarts the servers of a name, of all workbenches or of the one of a process.
func restart(ctx context.Context, env *cli.Environment, name, pid string) error {
	box, server := named(name)
	var mu sync.Mutex
	var failed []error
	found, there := false, pid == ""
	silent := running.Each(env, func(p status.Peer) error {
		if pid != "" && pid != running.PID(p) {
			return nil
		}
		mu.Lock()
		there = true
		mu.Unlock()
		done, err := p.Restart(ctx, box, server)
		mu.Lock()
		defer mu.Unlock()
		for _, one := range done {
			found = true
			what := fmt.Sprintf("%s/%s of workbench %s", foreign.NewName(one.Toolbox), foreign.NewName(one.Server), running.PID(p))
			if one.Error != "" {
				failed = append(failed, fmt.Errorf("%s is not started: %s", what, foreign.NewText(one.Error)))
				continue
			}
			fmt.Fprintf(env.Out, "%s was %s and is being started\n", what, foreign.NewName(one.Before))
		}
		return err
	})
	if !there {
		return cli.Hint(fmt.Errorf("no running workbench of this user has the number %q", pid), "workbench status shows the numbers")
	}
	if !found {
		return noServer(ctx, env, name, silent)
	}
	return errors.Join(failed...)
}
