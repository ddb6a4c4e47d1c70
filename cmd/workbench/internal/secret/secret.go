// Package secret has the commands that keep secrets for the configuration to name.
package secret

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

func Command(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Store secrets for the configuration",
		Long: `Secret stores values that the configuration uses as ${secret:NAME} in args, env, url
and headers of servers: in the keychain of the system, or in a file encrypted with
age. A secret is read when a server starts whose entry names it, and only that server
gets it. If a secret is not set, only that server fails.`,
		Example: `  workbench secret set GITHUB_TOKEN
  workbench secret list`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(secretSetCommand(env), secretListCommand(env), secretRemoveCommand(env), secretProtectCommand(env), secretUnlockCommand(env))
	return cmd
}

// secretArguments are the arguments of a command that mean a secret as it is kept.
func secretArguments(kept string) string {
	if name, user := cli.WhoseSecret(kept); user != "" {
		return fmt.Sprintf("%s --user %q", name, user)
	}
	return kept
}

// shownSecretName is a secret in what is said of it.
func shownSecretName(kept string) string {
	if name, user := cli.WhoseSecret(kept); user != "" {
		return name + " of " + user
	}
	return kept
}
