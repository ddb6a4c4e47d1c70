package setup

import (
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
			return changeServers(cmd.Context(), env, args, func(ed *editing, box, name string) ([]string, error) {
				return []string{box + "/" + name + ": enabled"}, ed.remove("toolboxes", box, "mcpServers", name, "disabled")
			})
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
			return changeServers(cmd.Context(), env, args, func(ed *editing, box, name string) ([]string, error) {
				return []string{box + "/" + name + ": disabled"}, ed.set([]byte("true"), "toolboxes", box, "mcpServers", name, "disabled")
			})
		},
	}
}
