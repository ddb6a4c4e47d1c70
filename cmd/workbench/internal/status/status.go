// Package status has the command that shows how the workbenches stand that run.
package status

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/running"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/status"
)

func Command(env *cli.Environment) *cobra.Command {
	var asJSON, watching bool
	cmd := &cobra.Command{
		Use:        "status",
		SuggestFor: []string{"ps"},
		Short:      "Show the running workbenches and the state of their servers",
		Long: `Status asks every running workbench of this user for its clients, its open toolboxes
and the state of their servers. Servers that need attention come first, each with its
cause and what to do. If none runs, that is an answer too, with exit code 0.

With --watch it keeps running: on a terminal it draws the picture again at each
change, otherwise it prints a line for each change of a server. With --json it prints
one document, or, watching, one line of JSON for each change.`,
		Example: `  workbench status
  workbench status --watch
  workbench status --json | jq '.workbenches[].sessions[].toolboxes[].servers[] | select(.state != "ready")'`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watching {
				return watchStatus(cmd.Context(), env, asJSON)
			}
			return showStatus(cmd.Context(), env, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON document")
	cmd.Flags().BoolVarP(&watching, "watch", "w", false, "keep printing until interrupted")
	return cmd
}

// showStatus prints what all workbenches say now.
func showStatus(ctx context.Context, env *cli.Environment, asJSON bool) error {
	all, silent := running.Gather(env, func(p status.Peer) ([]status.Workbench, error) {
		w, err := p.Get(ctx)
		if err != nil {
			return nil, err
		}
		return []status.Workbench{w}, nil
	})
	status.Sort(all)
	if asJSON {
		return terminal.PrintJSON(env.Out, statusJSON(all))
	}
	text := picture(env, all)
	if len(all) == 0 && silent > 0 {
		text = "no workbench answers\n"
	}
	_, err := fmt.Fprint(env.Out, text)
	return err
}

// statusJSON is what --json prints of workbenches.
func statusJSON(all []status.Workbench) status.List {
	if all == nil {
		all = []status.Workbench{}
	}
	return status.List{Workbenches: all}
}
