package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

func secretCommand(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Keep secrets for the configuration to name",
		Long: `Secret keeps values that the configuration names by ${secret:NAME} in args, env,
url and headers of servers: in the keychain of the system, or in a file that is
encrypted by age. A secret is looked up when a server starts whose entry names
it, and only that server gets it. One that is not set fails that server alone.`,
		Example: `  workbench secret set GITHUB_TOKEN
  workbench secret list`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(secretSetCommand(env), secretListCommand(env), secretRemoveCommand(env), secretProtectCommand(env), secretUnlockCommand(env))
	return cmd
}

// whoseSecret is the name and the user of a secret as it is kept, "" for no user's.
func whoseSecret(kept string) (name, user string) {
	name, escaped, _ := strings.Cut(kept, "@")
	if user, err := url.QueryUnescape(escaped); err == nil {
		return name, user
	}
	return kept, ""
}

// secretArguments are the arguments of a command that mean a secret as it is kept.
func secretArguments(kept string) string {
	if name, user := whoseSecret(kept); user != "" {
		return fmt.Sprintf("%s --user %q", name, user)
	}
	return kept
}

// shownSecretName is a secret in what is said of it.
func shownSecretName(kept string) string {
	if name, user := whoseSecret(kept); user != "" {
		return name + " of " + user
	}
	return kept
}
