package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/gitaddress"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

func workflowUpdateCommand(env *opening.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "update [REPOSITORY...]",
		Short: "Fetch the workflows of git repositories again",
		Long: `Update fetches the workflows of the git repositories that the configuration
names, or of those that are given as they stand there, and says of which commits
they are now. Until then they stay those of the commit that was fetched first.
Runs that have begun go on by the definitions that they have.`,
		Example: `  workbench workflow update
  workbench workflow update git+https://example.com/flows.git#main`,
		Args: cli.Between(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, _, err := env.Load()
			if err != nil {
				return err
			}
			known := gitPlaces(cfg)
			for _, place := range args {
				if !slices.Contains(known, place) {
					return cli.Hint(fmt.Errorf("the configuration has no %q", place), "workbench workflow sources shows the places")
				}
			}
			if len(args) > 0 {
				known = args
			}
			keeper, err := env.GitKeeper()
			if err != nil {
				return err
			}
			for _, place := range known {
				r, err := gitaddress.Parse(place)
				if err != nil {
					return err
				}
				before := keeper.Commit(r)
				commit, err := keeper.Fetch(cmd.Context(), r, definition.IsWorkflowName)
				if err != nil {
					return cli.Hint(err, "the workflows that were fetched before stay")
				}
				what := "is at"
				if commit != before {
					what = "is now at"
				}
				fmt.Fprintf(env.Out, "%s %s %s\n", place, what, commit)
			}
			if len(known) == 0 {
				fmt.Fprintln(env.Out, "the configuration names no git repositories")
			}
			return nil
		},
	}
}

// gitPlaces are the git repositories that a configuration names.
func gitPlaces(cfg *config.Config) []string {
	var list []string
	for _, s := range cfg.Servers() {
		for _, place := range s.Workflows {
			if strings.HasPrefix(place, gitaddress.Prefix) && !slices.Contains(list, place) {
				list = append(list, place)
			}
		}
	}
	return list
}
