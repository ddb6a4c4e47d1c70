package runs

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/kept"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

func runsExportCommand(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export [RUN...]",
		Short: "Write runs as lines of JSON",
		Long: `Export writes all runs, or those that are named, with their events and definitions to
standard output, one JSON object a line; import reads them.`,
		Example: `  workbench runs export --output runs.jsonl
  workbench runs export run-7k3q9x2m4a`,
	}
	return kept.Runs.Exporting(env, cmd, func(ctx context.Context, s *store.Store, to io.Writer, user string, ids []string) (said string, spite, err error) {
		list, err := chosenRuns(ctx, s, user, ids)
		if err != nil {
			return "", nil, err
		}
		return terminal.Count(len(list), "run"), nil, runs.Export(ctx, s, to, list)
	})
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
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

func runsImportCommand(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Read runs that export wrote",
		Long: `Import reads a file that export wrote, or standard input if FILE is -, and stores its
runs. Existing runs are not changed.`,
		Example: `  workbench runs import runs.jsonl
  workbench runs export --user ada | workbench runs import --user bob -`,
	}
	return kept.Runs.Importing(env, cmd, func(ctx context.Context, s *store.Store, from io.Reader, user string) (string, error) {
		kept, left, err := runs.Import(ctx, s, from, user)
		return fmt.Sprintf("%s kept, %d left as they were", terminal.Count(kept, "run"), left), err
	})
}
