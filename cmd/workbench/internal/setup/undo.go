package setup

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/versions"
)

func Undo(env *cli.Environment) *cobra.Command {
	var anyway bool
	cmd := &cobra.Command{
		Use:   "undo [FILE]",
		Short: "Undo the last change of a command",
		Long: `Undo restores a file to what it was before the last command that changed it: import,
add, remove, enable, disable, move, connect or disconnect. FILE is your own
configuration by default, and may be the file of a client. The last five versions are
kept; undo again goes back further. Changes by hand since then are not discarded.`,
		Example: `  workbench undo
  workbench undo ~/.cursor/mcp.json`,
		Args: cli.Between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := editPath(env)
			if len(args) > 0 {
				path, err = cli.Abs(args[0])
			}
			if err != nil {
				return err
			}
			kept, err := openVersions(env)
			if err != nil {
				return err
			}
			switch err := kept.Undo(cmd.Context(), path, anyway); {
			case errors.Is(err, versions.ErrNone):
				return cli.Hint(fmt.Errorf("%s: %w", path, err), "workbench undo FILE names another file")
			case errors.Is(err, versions.ErrChanged):
				return cli.Hint(fmt.Errorf("%s: %w", path, err), "--anyway discards that change")
			case err != nil:
				return err
			}
			_, err = fmt.Fprintf(env.Out, "%s: as before the last change\n", path)
			return err
		},
	}
	cmd.Flags().BoolVar(&anyway, "anyway", false, "also if the file was changed by hand since then")
	return cmd
}
