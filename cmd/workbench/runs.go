package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

func runsCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List, show, resume, answer and back up runs of workflows",
		Long: `A run is a workflow that an agent has begun. Runs are kept in the file that
conversations are in. These commands see the runs of all users.`,
		Example: `  workbench runs list
  workbench runs show run-7k3q9x2m4a
  workbench runs answer run-7k3q9x2m4a`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(runsListCommand(env), runsShowCommand(env), runsResumeCommand(env), runsAnswerCommand(env),
		runsExportCommand(env), runsImportCommand(env), runsDeleteCommand(env))
	return cmd
}

// addRunUser adds the flag that says whose runs are meant.
func addRunUser(cmd *cobra.Command, user *string) {
	cmd.Flags().StringVar(user, "user", "", "only runs of this `user`")
}

// runNotThere adds advice to an error about a run that is not there.
func runNotThere(err error) error {
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, errNoneKept) {
		return hinted{err, "workbench runs list shows which there are"}
	}
	return err
}

// oneRun finds the run of an id. Two users may have one of the same id only by import.
func oneRun(ctx context.Context, s *store.Store, user, id string) (store.OwnedRun, error) {
	found, err := s.RunsByID(ctx, user, id)
	switch {
	case err != nil:
		return store.OwnedRun{}, runNotThere(err)
	case len(found) > 1:
		return store.OwnedRun{}, usageError{hinted{fmt.Errorf("%s have a run %s", count(len(found), "user"), id), "say whose with --user"}}
	}
	return found[0], nil
}

func runsListCommand(env *environment) *cobra.Command {
	var user string
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [WORD...]",
		Short: "List runs, the latest first",
		Long: `List prints the runs that were changed last, the latest first; with words, those
that have them in their goal, notes, workflow, repository or branch.`,
		Example: `  workbench runs list
  workbench runs list login
  workbench runs list --user ada --limit 100 --json`,
		Args: between(0, -1),
		RunE: func(cmd *cobra.Command, words []string) error {
			if limit < 1 {
				return usageError{fmt.Errorf("--limit: want a number from 1, got %d", limit)}
			}
			var list []runs.Found
			err := env.withStore(cmd.Context(), false, func(s *store.Store) (err error) {
				list, err = runs.Search(cmd.Context(), s, user, joined(words))
				return err
			})
			if err != nil && !errors.Is(err, errNoneKept) {
				return err
			}
			list = list[:min(limit, len(list))]
			if asJSON {
				return printJSON(env.out, listRuns(list))
			}
			return printRuns(env.out, list)
		},
	}
	addRunUser(cmd, &user)
	cmd.Flags().IntVar(&limit, "limit", 20, "how many at most")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return cmd
}

// joined gives the words of a command line as one text.
func joined(words []string) string {
	text := ""
	for _, w := range words {
		text += w + " "
	}
	return text
}

func listRuns(list []runs.Found) []runs.Shown {
	shown := []runs.Shown{}
	for _, f := range list {
		shown = append(shown, runs.Show(f.Principal, f.Run, f.Head))
	}
	return shown
}

func printRuns(out io.Writer, list []runs.Found) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(list) > 0 {
		fmt.Fprintln(w, "RUN\tUSER\tWORKFLOW\tSTATUS\tSTEP\tDONE\tUPDATED\tGOAL")
	}
	for _, f := range list {
		step := f.Head.Step
		if step == "" {
			step = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", foreign.NewText(f.ID), foreign.NewText(f.Principal), foreign.NewText(f.Workflow), f.Head.Status,
			foreign.NewText(step), f.Head.Done, f.Updated.Format(time.DateTime), foreign.NewText(f.Head.Goal))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, count(len(list), "run"))
	return err
}

func runsDeleteCommand(env *environment) *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:   "delete RUN...",
		Short: "Delete runs for good",
		Long: `Delete removes runs with all their events. There is no way back, except from an
export.`,
		Example: "  workbench runs delete run-7k3q9x2m4a",
		Args:    between(1, -1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return env.withStore(cmd.Context(), false, func(s *store.Store) error {
				var all []store.OwnedRun // All are looked up before one is deleted.
				for _, id := range ids {
					r, err := oneRun(cmd.Context(), s, user, id)
					if err != nil {
						return err
					}
					all = append(all, r)
				}
				for _, r := range all {
					if err := s.DeleteRun(cmd.Context(), r.Principal, r.ID); err != nil {
						return fmt.Errorf("run %s: %w", r.ID, err)
					}
					fmt.Fprintf(env.out, "deleted %s\n", foreign.NewText(r.ID))
				}
				return nil
			})
		},
	}
	addRunUser(cmd, &user)
	return cmd
}
