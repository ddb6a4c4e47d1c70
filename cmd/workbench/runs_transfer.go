package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

func runsExportCommand(env *environment) *cobra.Command {
	var user, output string
	cmd := &cobra.Command{
		Use:   "export [RUN...]",
		Short: "Write runs as lines of JSON",
		Long: `Export writes all runs, or those named, with their events and the definitions
that they go by to standard output, one JSON object a line; import reads them.`,
		Example: `  workbench runs export --output runs.jsonl
  workbench runs export run-7k3q9x2m4a`,
		Args: between(0, -1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return env.withStore(cmd.Context(), false, func(s *store.Store) error {
				list, err := chosenRuns(cmd.Context(), s, user, ids)
				if err != nil {
					return err
				}
				write := func(w io.Writer) error { return runs.Export(cmd.Context(), s, w, list) }
				if output == "" {
					return write(env.out)
				}
				if err := openfile.Write(output, func(f *os.File) error { return write(f) }); err != nil {
					return err
				}
				fmt.Fprintf(env.out, "%s in %s\n", count(len(list), "run"), output)
				return nil
			})
		},
	}
	addRunUser(cmd, &user)
	cmd.Flags().StringVar(&output, "output", "", "write to this `file`, for this user alone to read, instead of standard output")
	return cmd
}

// chosenRuns are those of the ids, or all.
func chosenRuns(ctx context.Context, s *store.Store, user string, ids []string) ([]store.OwnedRun, error) {
	if len(ids) == 0 {
		return s.Runs(ctx, user, math.MaxInt32)
	}
	var list []store.OwnedRun
	for _, id := range ids {
		found, err := s.RunsByID(ctx, user, id)
		if err != nil {
			return nil, runNotThere(err)
		}
		list = append(list, found...)
	}
	return list, nil
}

func runsImportCommand(env *environment) *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Read runs that export wrote",
		Long: `Import reads a file that export wrote, or standard input if FILE is -, and keeps
its runs. Those that are there already are left as they are.`,
		Example: `  workbench runs import runs.jsonl
  workbench runs export --user ada | workbench runs import --user bob -`,
		Args: between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := env.in
			if args[0] != "-" {
				f, _, err := openfile.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			return env.withStore(cmd.Context(), true, func(s *store.Store) error {
				kept, left, err := runs.Import(cmd.Context(), s, in, user)
				fmt.Fprintf(env.out, "%s kept, %d left as they were\n", count(kept, "run"), left)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "keep all of them for this `user` (default: each for the user whose it was)")
	return cmd
}
