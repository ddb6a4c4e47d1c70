package secret

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
)

func secretListCommand(env *cli.Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the names of secrets, and who gets them",
		Long: `List prints the names of the stored secrets and of those that the configuration
names, with their place and the servers that get them. It prints no values, and does
not ask the keychain or the commands of the configuration.`,
		Example: `  workbench secret list
  workbench secret list --json`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, _, err := env.Load()
			if err != nil {
				return err
			}
			list := cli.ListSecrets(env, cfg)
			if asJSON {
				return terminal.PrintJSON(env.Out, list)
			}
			t := terminal.Table{Head: []string{"NAME", "WHERE", "FOR"}}
			for _, s := range list {
				t.Add(s.Name, s.Where, strings.Join(s.For, ", "))
			}
			if err := env.Print(&t); err != nil {
				return err
			}
			_, err = fmt.Fprintln(env.Out, terminal.Count(len(list), "secret"))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return cmd
}
