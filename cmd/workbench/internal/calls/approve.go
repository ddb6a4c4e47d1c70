package calls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/running"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/status"
)

func Approve(env *cli.Environment) *cobra.Command {
	var refuse, asJSON bool
	cmd := &cobra.Command{
		Use:   "approve [ID...]",
		Short: "Agree to calls that wait for a person",
		Long: `Approve lists the calls of tools that wait for a person, in all workbenches of this
user: calls to servers with "approve" in the configuration whose client cannot ask.
On a terminal it asks about each. With ids it agrees to these calls, or refuses them
with --refuse.`,
		Example: `  workbench approve
  workbench approve 4711-1
  workbench approve --refuse 4711-2`,
		Args: cli.Between(0, -1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			if len(ids) == 0 && refuse {
				return cli.Usage(cli.Hint(errors.New("--refuse needs the ids of calls"), "workbench approve lists them"))
			}
			if len(ids) > 0 && asJSON {
				return cli.Usage(cli.Hint(errors.New("--json lists the calls that wait"), "leave the ids out"))
			}
			return approve(cmd.Context(), env, ids, !refuse, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "list the waiting calls as one JSON array, and ask about none")
	cmd.Flags().BoolVar(&refuse, "refuse", false, "refuse the calls")
	return cmd
}

// waitingAt is a call that waits, and who answers for it.
type waitingAt struct {
	approval.Call
	peer status.Peer
}

func approve(ctx context.Context, env *cli.Environment, ids []string, agree, asJSON bool) error {
	all, silent := running.Gather(env, func(p status.Peer) (waiting []waitingAt, err error) {
		calls, err := p.Approvals(ctx)
		for _, c := range calls {
			waiting = append(waiting, waitingAt{c, p})
		}
		return waiting, err
	})
	slices.SortFunc(all, func(a, b waitingAt) int { return strings.Compare(a.ID, b.ID) })
	if asJSON {
		list := []approval.Call{}
		for _, c := range all {
			list = append(list, c.Call)
		}
		return terminal.PrintJSON(env.Out, list)
	}
	if len(ids) == 0 && len(all) == 0 && silent > 0 {
		fmt.Fprintln(env.Out, running.None(silent)+" has a call that waits")
		return nil
	}
	if len(ids) == 0 {
		return askAll(ctx, env, all)
	}
	for _, id := range ids {
		i := slices.IndexFunc(all, func(c waitingAt) bool { return c.ID == id })
		if i < 0 {
			return cli.Hint(fmt.Errorf("there is no waiting call %q", id), "workbench approve lists the waiting ones")
		}
		if err := answerCall(ctx, env, all[i], agree); err != nil {
			return err
		}
	}
	return nil
}

// askAll shows all calls and asks about each, if somebody can be asked.
func askAll(ctx context.Context, env *cli.Environment, all []waitingAt) error {
	if len(all) == 0 {
		fmt.Fprintln(env.Out, "no call waits")
		return nil
	}
	for _, c := range all {
		from := ""
		if c.Client != "" {
			from = " from " + foreign.NewName(c.Client).String()
		}
		fmt.Fprintf(env.Out, "%s%s, for %s more\n  %s\n", foreign.NewName(c.ID), from, time.Until(c.Until).Round(time.Second), foreign.Block(c.Text()))
		if !terminal.Is(env.In) {
			continue
		}
		yes, err := env.Asked(ctx, "Make this call?")
		if err == nil {
			err = answerCall(ctx, env, c, yes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func answerCall(ctx context.Context, env *cli.Environment, c waitingAt, agree bool) error {
	err := c.peer.Answer(ctx, c.ID, agree)
	if errors.Is(err, status.ErrGone) || errors.Is(err, status.ErrNone) {
		return fmt.Errorf("call %s no longer waits", c.ID)
	}
	if err == nil {
		fmt.Fprintf(env.Out, "%s %s\n", c.ID, map[bool]string{true: "agreed", false: "refused"}[agree])
	}
	return err
}
