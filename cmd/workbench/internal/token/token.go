// Package token has the commands about the tokens with which clients come to serve --http.
package token

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/tokenfile"
)

func Command(env *cli.Environment) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Print the token that HTTP clients need, or make one for each",
		Long: `Token prints the token that clients of workbench serve --http must send in the header
Authorization: Bearer TOKEN. It is made at the first use and kept in a file that only
you can read. To get a new one, delete the file and start the server again.

Whoever has that token may do everything. The commands below make tokens for single
clients, which can be limited, expire, and be revoked.`,
		Example: `  workbench token
  curl -H "Authorization: Bearer $(workbench token)" http://127.0.0.1:7777/metrics
  workbench token create ci --toolbox dev --expires 30d`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := tokenfile.Path(env, file)
			if err != nil {
				return err
			}
			token, err := tokenfile.Load(path)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(env.Out, token)
			return err
		},
	}
	tokenfile.AddFlag(cmd.Flags(), &file)
	cmd.AddCommand(tokenCreateCommand(env), tokenListCommand(env), tokenRevokeCommand(env))
	return cmd
}
