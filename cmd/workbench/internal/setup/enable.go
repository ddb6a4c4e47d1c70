package setup

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

func Enable(env *cli.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "enable NAME…",
		Short: "Offer servers that were disabled",
		Long: `Enable removes "disabled" from the entries of servers in your own configuration, or
in the one that --config names. NAME is the name of a server, or TOOLBOX/NAME.`,
		Example:           "  workbench enable github",
		Args:              cli.Between(1, -1),
		ValidArgsFunction: cli.OfferEach(env.ServerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return able(cmd, env, args, "enabled", func(ed *editing, keys []string) error { return ed.remove(keys...) })
		},
	}
}

func Disable(env *cli.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "disable NAME…",
		Short: "Leave servers out without removing them",
		Long: `Disable writes "disabled" into the entries of servers in your own configuration, or
in the one that --config names: they are not started and not offered. NAME is the name
of a server, or TOOLBOX/NAME.`,
		Example:           "  workbench disable github",
		Args:              cli.Between(1, -1),
		ValidArgsFunction: cli.OfferEach(env.ServerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return able(cmd, env, args, "disabled", func(ed *editing, keys []string) error { return ed.set([]byte("true"), keys...) })
		},
	}
}

// able changes whether servers are offered.
func able(cmd *cobra.Command, env *cli.Environment, args []string, state string, change func(*editing, []string) error) error {
	var done []string
	err := editFile(cmd.Context(), env, func(ed *editing) error {
		for _, meant := range args {
			box, name, err := ed.find(meant)
			if err != nil {
				return err
			}
			if err := change(ed, []string{"toolboxes", box, "mcpServers", name, "disabled"}); err != nil {
				return err
			}
			done = append(done, fmt.Sprintf("%s/%s: %s", box, name, state))
		}
		return nil
	})
	return told(env, done, err)
}
