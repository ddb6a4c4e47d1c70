// Package conversations has the commands about conversations that are kept.
package conversations

import (
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

func Command(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "conversations",
		Short: "List, show, back up and delete kept conversations",
		Long: `Conversations with command workflows are kept in a file, conversations.db in
$XDG_STATE_HOME/workbench or ~/.local/state/workbench, or in the "store" of the
configuration. These commands see the conversations of all users.`,
		Example: `  workbench conversations list
  workbench conversations export --output backup.jsonl`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(conversationsListCommand(env), conversationsShowCommand(env), conversationsExportCommand(env),
		conversationsImportCommand(env), conversationsDeleteCommand(env))
	return cmd
}
