package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/gitaddress"
	"github.com/mcp-workbench/workbench/internal/gitfiles"
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
			if len(known) == 0 {
				fmt.Fprintln(env.Out, "the configuration names no git repositories")
			}
			var failed []error // A repository that cannot be reached does not keep the others from being fetched.
			for _, place := range known {
				before, commit, err := update(cmd.Context(), keeper, place)
				switch {
				case context.Cause(cmd.Context()) != nil:
					return err
				case err != nil:
					failed = append(failed, err)
				case commit != before:
					fmt.Fprintln(env.Out, place, "is now at", commit)
				default:
					fmt.Fprintln(env.Out, place, "is at", commit)
				}
			}
			if len(failed) == 0 {
				return nil
			}
			return cli.Hint(errors.Join(failed...), "the workflows that were fetched before stay")
		},
	}
}

// update fetches the workflows of a repository, and returns the commits that they were and are of.
func update(ctx context.Context, keeper gitfiles.Keeper, place string) (before, commit string, err error) {
	r, err := gitaddress.Parse(place)
	if err != nil {
		return "", "", fmt.Errorf("%q: %w", place, err)
	}
	before = keeper.Commit(r)
	commit, err = keeper.Fetch(ctx, r, definition.IsWorkflowName)
	return before, commit, err
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
