package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/gitaddress"
	"github.com/mcp-workbench/workbench/internal/gitfiles"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// repositories gives the folders for places of workflows: a git repository is the folder where its files are kept, and absent says of
// each why it is not there. What is not there is fetched meanwhile, once.
func (e *environment) repositories(places []string, log zerolog.Logger) (dirs []string, absent map[string]func() string, err error) {
	absent = map[string]func() string{}
	for _, place := range places {
		if !strings.HasPrefix(place, gitaddress.Prefix) {
			dirs = append(dirs, place)
			continue
		}
		r, err := gitaddress.Parse(place)
		if err != nil {
			return nil, nil, err
		}
		keeper, err := e.gitKeeper()
		if err != nil {
			return nil, nil, err
		}
		var mu sync.Mutex
		why := "it is being fetched"
		dir := keeper.Folder(r)
		dirs = append(dirs, dir)
		absent[dir] = func() string {
			mu.Lock()
			defer mu.Unlock()
			return why
		}
		if keeper.Commit(r) != "" {
			continue
		}
		e.flows.fetching.Go(func() {
			commit, err := keeper.Fetch(context.Background(), r, definition.IsWorkflowName)
			if err != nil {
				log.Warn().AnErr(logkey.Err, err).Str(logkey.URL, r.URL).Msg("workflows of a repository could not be fetched")
				mu.Lock()
				why = err.Error()
				mu.Unlock()
				return
			}
			log.Info().Str(logkey.URL, r.URL).Str(logkey.Detail, commit).Msg("workflows of a repository were fetched")
		})
	}
	return dirs, absent, nil
}

// gitKeeper is where files of repositories are kept.
func (e *environment) gitKeeper() (gitfiles.Keeper, error) {
	dir, err := e.stateDir()
	run := func(ctx context.Context, argv, environ []string) ([]byte, error) {
		if agent, ok := e.lookup("SSH_AUTH_SOCK"); ok {
			environ = append(environ, "SSH_AUTH_SOCK="+agent)
		}
		return programs{e}.Run(ctx, command.ProcessRequest{Argv: argv, Env: environ, Timeout: gitfiles.MaxTime})
	}
	return gitfiles.Keeper{Dir: filepath.Join(dir, "workflows"), Run: run}, err
}

func workflowUpdateCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "update [REPOSITORY...]",
		Short: "Take the present workflows of git repositories",
		Long: `Update fetches the workflows of the git repositories that the configuration
names, or of those that are given as they stand there, and says of which commits
they are now. Until then they stay those of the commit that was fetched first.
Runs that have begun go on by the definitions that they have.`,
		Example: `  workbench workflow update
  workbench workflow update git+https://example.com/flows.git#main`,
		Args: between(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, _, err := env.load()
			if err != nil {
				return err
			}
			known := gitPlaces(cfg)
			for _, place := range args {
				if !slices.Contains(known, place) {
					return hinted{fmt.Errorf("the configuration has no %q", place), "workbench workflow sources shows the places"}
				}
			}
			if len(args) > 0 {
				known = args
			}
			keeper, err := env.gitKeeper()
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
					return hinted{err, "the workflows that were fetched before stay"}
				}
				what := "is at"
				if commit != before {
					what = "is now at"
				}
				fmt.Fprintf(env.out, "%s %s %s\n", place, what, commit)
			}
			if len(known) == 0 {
				fmt.Fprintln(env.out, "the configuration names no git repositories")
			}
			return nil
		},
	}
}

// gitPlaces are the git repositories that a configuration names.
func gitPlaces(cfg *config.Config) []string {
	var list []string
	for _, t := range cfg.Toolboxes {
		for _, s := range t.Servers {
			for _, place := range s.Workflows {
				if strings.HasPrefix(place, gitaddress.Prefix) && !slices.Contains(list, place) {
					list = append(list, place)
				}
			}
		}
	}
	return list
}
