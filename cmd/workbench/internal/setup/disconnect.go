package setup

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/amend"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

func Disconnect(env *cli.Environment) *cobra.Command {
	var yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "disconnect [CLIENT]…",
		Short: "Remove workbench from the files of MCP clients",
		Long: `Disconnect removes the entry of workbench from the files of MCP clients: those that
are named, or all. A file that nobody else has changed since workbench connect
becomes what it was before, byte for byte; from other files only the entry is removed.
It shows the changes and asks first.`,
		Example: `  workbench disconnect
  workbench disconnect cursor`,
		ValidArgsFunction: completeClients,
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen, err := chosen(env, args)
			if err != nil {
				return err
			}
			var todo []written
			for _, w := range chosen {
				if w.old == nil || !connected(w, w.old) {
					if len(args) > 0 {
						fmt.Fprintf(env.Out, "%s: not connected (%s)\n", w.client.Title, cli.Shown(w.path))
					}
					continue
				}
				if w.new, err = entryBefore(env, w); err != nil {
					fmt.Fprintf(env.Err, "%s: left out: %v\n", cli.Shown(w.path), foreign.NewError(err))
					continue
				}
				todo = append(todo, w)
			}
			if err := rewriteFiles(cmd.Context(), env, todo, "", dryRun, yes); err != nil || dryRun {
				return err
			}
			for _, w := range todo {
				fmt.Fprintf(env.Out, "%s: disconnected (%s)\n", w.client.Title, cli.Shown(w.path))
			}
			if len(todo) == 0 && len(args) == 0 {
				fmt.Fprintln(env.Out, "no client is connected")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&dryRun, "dry-run", false, "show the changes, and write nothing")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// connected reports whether a text has the entry of workbench.
func connected(w written, text []byte) bool {
	without, err := amend.Remove(text, w.client.OwnPlace(text))
	return err == nil && string(without) != string(text)
}

// entryBefore is a file without the entry: as it was before connect, where nobody else has changed it since. Nil is no
// file.
func entryBefore(e *cli.Environment, w written) ([]byte, error) {
	kept, err := openVersions(e)
	if err != nil {
		return nil, err
	}
	earlier, err := kept.Earlier(w.path)
	if err != nil {
		return nil, err
	}
	for _, text := range earlier {
		if text == nil || !connected(w, text) {
			return text, nil
		}
	}
	return amend.Remove(w.old, w.client.OwnPlace(w.old))
}
