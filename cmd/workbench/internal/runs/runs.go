// Package runs has the commands about runs of workflows that are kept.
package runs

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/kept"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

func Command(env *opening.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List, show, resume, answer and back up runs of workflows",
		Long: `A run is a workflow that an agent has begun. Runs are kept in the same file as
conversations. These commands see the runs of all users.`,
		Example: `  workbench runs list
  workbench runs show run-7k3q9x2m4a
  workbench runs answer run-7k3q9x2m4a`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(runsListCommand(env.Environment), runsShowCommand(env), runsResumeCommand(env), runsAnswerCommand(env),
		runsExportCommand(env.Environment), runsImportCommand(env.Environment), runsDeleteCommand(env.Environment))
	return cmd
}

// oneRun finds the run of an id. Two users may have one of the same id only by import.
func oneRun(ctx context.Context, s *store.Store, user, id string) (store.OwnedRun, error) {
	found, err := s.RunsByID(ctx, user, id)
	switch {
	case err != nil:
		return store.OwnedRun{}, kept.Runs.NotThere(err)
	case len(found) > 1:
		return store.OwnedRun{}, cli.Usage(cli.Hint(fmt.Errorf("%s have a run %s", terminal.Count(len(found), "user"), id), "say whose with --user"))
	}
	return found[0], nil
}

func runsListCommand(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list [WORD...]",
		Short: "List runs, the latest first",
		Long: `List prints the runs, the last changed one first. With words, it prints only runs
that have one of them in their goal, notes, workflow, repository or branch, the best
match first. Times are those of your clock.`,
		Example: `  workbench runs list
  workbench runs list login
  workbench runs list --user ada --limit 100 --json`,
		Args: cli.Between(0, -1),
	}
	return kept.Runs.Listing(env, cmd, func(ctx context.Context, s *store.Store, user string, words []string, limit int) (kept.List, error) {
		cfg, _, err := env.Load()
		if err != nil {
			return kept.List{}, err
		}
		most := limit
		if len(words) > 0 {
			most = math.MaxInt32
		}
		found, err := runs.Search(ctx, s, user, strings.Join(words, " "), most, cfg.Store.ExpireRuns)
		if err != nil {
			return kept.List{}, err
		}
		return runList(found[:min(limit, len(found))]), nil
	})
}

// runList is a list of runs as it is printed.
func runList(found []runs.Found) kept.List {
	expire := slices.ContainsFunc(found, func(f runs.Found) bool { return f.Expires != nil })
	list := kept.List{Header: "RUN\tUSER\tWORKFLOW\tSTATUS\tSTEP\tDONE\tUPDATED\tGOAL", Shown: []any{}}
	if expire {
		list.Header += "\tEXPIRES"
	}
	for _, f := range found {
		row := []string{f.ID, f.Principal, f.Workflow, string(f.Head.Status), cmp.Or(f.Head.Step, "-"),
			fmt.Sprint(f.Head.Done), terminal.Moment(f.Updated), f.Head.Goal}
		if f.Expires != nil {
			row = append(row, terminal.Moment(*f.Expires))
		} else if expire {
			row = append(row, "-")
		}
		list.Rows = append(list.Rows, row)
		one := runs.Show(f.Principal, f.Run, f.Head)
		one.Expires = f.Expires
		list.Shown = append(list.Shown, one)
	}
	return list
}

func runsDeleteCommand(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "delete RUN...",
		Short:   "Delete runs for good",
		Long:    "Delete removes runs with all their events. They can be restored only from an export.",
		Example: "  workbench runs delete run-7k3q9x2m4a",
	}
	find := func(ctx context.Context, s *store.Store, user string, ids []string) (keys []store.Key, _ error) {
		for _, id := range ids {
			r, err := oneRun(ctx, s, user, id)
			if err != nil {
				return nil, err
			}
			keys = append(keys, store.Key{Principal: r.Principal, ID: r.ID})
		}
		return keys, nil
	}
	return kept.Runs.Deleting(env, cmd, find, func(ctx context.Context, s *store.Store, key store.Key) error {
		return s.DeleteRun(ctx, key.Principal, key.ID)
	})
}
