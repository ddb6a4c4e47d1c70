package workflow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/workflowsrv/author"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// casesFolder lies beside the file of a workflow and holds its cases.
const casesFolder = "tests"

func workflowTestCommand(env *opening.Environment) *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:   "test ID|FILE...",
		Short: "Walk workflows through recorded cases",
		Long: `Test reads the cases of a workflow from tests/ID.yaml (or .json) beside its file and
walks through each as an agent would. It shows the order of the steps, whether
recorded outputs satisfy their steps, and which branches no case has taken. The exit
code is 1 if a case does not go as it says.`,
		Example: `  workbench workflow test my-first-workflow
  workbench workflow test workflows/*.yaml --full`,
		Args:              needs(1, -1, "a workflow"),
		ValidArgsFunction: completeWorkflow(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			failed := false
			for _, name := range args {
				bad, err := testWorkflow(cmd.Context(), env, name, full)
				if err != nil {
					return err
				}
				failed = failed || bad
			}
			if failed {
				return cli.SilentError(cli.ExitFault)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "fail when a branch is taken by no case")
	return cmd
}

func testWorkflow(ctx context.Context, e *opening.Environment, name string, full bool) (failed bool, err error) {
	w, file, opts, err := workflowOf(e, name)
	if err != nil {
		return false, err
	}
	if file == "" {
		return false, cli.Hint(fmt.Errorf("the workflow %s is part of workbench", w.ID), "copy it with workbench workflow show "+shellword.Word(w.ID)+" --json")
	}
	cases, err := readCases(file, w)
	if err != nil {
		return false, err
	}
	var cover author.Coverage
	out := terminal.Clean(e.Out)
	for _, c := range cases {
		wrong, err := c.Run(ctx, w, opts.Mode, &cover)
		if err != nil {
			return false, err
		}
		if len(wrong) == 0 {
			fmt.Fprintf(out, "%s: %s: as expected\n", w.ID, c.Name)
			continue
		}
		failed = true
		for _, text := range wrong {
			fmt.Fprintf(out, "%s: %s: %s\n", w.ID, c.Name, text)
		}
	}
	taken, all, never := cover.Branches(w)
	fmt.Fprintf(out, "%s: %s, %d of %d branches\n", w.ID, terminal.Count(len(cases), "case"), taken, all)
	for _, text := range never {
		fmt.Fprintf(out, "  %s\n", text)
	}
	return failed || full && taken < all, nil
}

// readCases reads the file of cases that lies beside a workflow.
func readCases(file string, w *definition.Workflow) ([]author.Case, error) {
	base := filepath.Join(filepath.Dir(file), casesFolder, w.ID)
	for _, ext := range []string{".yaml", ".yml", ".json"} {
		data, _, err := openfile.Read(base+ext, definition.MaxFileSize)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return author.ParseCases(base+ext, data, w)
	}
	return nil, cli.Hint(fmt.Errorf("the workflow %s has no cases: there is no %s.yaml", w.ID, base),
		"write cases: [{name: …, sets: {STEP: {variable: value}}, outputs: {STEP: text}, steps: ["+strings.Join(w.StepIDs()[:1], "")+", …]}]")
}
