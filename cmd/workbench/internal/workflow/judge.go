package workflow

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

func workflowJudgeCommand(env *opening.Environment) *cobra.Command {
	var asJSON bool
	var variables []string
	cmd := &cobra.Command{
		Use:   "judge ID|FILE STEP < OUTPUT",
		Short: "Judge an output by the criteria of a step",
		Long: `Judge reads an output from standard input and says whether it satisfies the
validationCriteria of a step, as workflow_validate does. The exit code is 1 if it
does not.`,
		Example: `  workbench workflow judge my-first-workflow check < output.txt
  echo "all tests pass" | workbench workflow judge my-first-workflow check`,
		Args:              needs(2, 2, "a workflow and a step"),
		ValidArgsFunction: completeWorkflow(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, _, opts, err := workflowOf(env, args[0])
			if err != nil {
				return err
			}
			step := w.Step(args[1])
			if step == nil {
				hint := nearest.Before(args[1], w.StepIDs(), "workbench workflow show "+shellword.Word(args[0])+" shows the steps")
				return cli.Hint(fmt.Errorf("the workflow %s has no step %q", w.ID, args[1]), hint)
			}
			context, err := contextOf(variables)
			if err != nil {
				return err
			}
			output, err := io.ReadAll(io.LimitReader(env.Input(cmd.Context()), workflowsrv.MaxOutput+1))
			if err != nil {
				return err
			}
			if len(output) > workflowsrv.MaxOutput {
				return fmt.Errorf("the output has more than %d bytes", workflowsrv.MaxOutput)
			}
			return tellVerdict(env, step.Criteria.Check(cmd.Context(), string(output), context, criteria.Options{Mode: opts.Mode}), asJSON)
		},
	}
	cmd.Flags().StringArrayVar(&variables, "context", nil, "a context variable as `name=value`; may be repeated")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the verdict as JSON")
	return cmd
}

// tellVerdict prints a verdict on an output.
func tellVerdict(e *opening.Environment, v criteria.Verdict, asJSON bool) error {
	out := terminal.Clean(e.Out)
	switch {
	case asJSON:
		if err := terminal.PrintJSON(e.Out, v); err != nil {
			return err
		}
	case v.Valid():
		fmt.Fprintln(out, "valid")
	default:
		fmt.Fprintln(out, "not valid:")
		for _, text := range v.Issues() {
			fmt.Fprintf(out, "  - %s\n", text)
		}
		for _, text := range v.Suggestions[min(1, len(v.Suggestions)):] {
			fmt.Fprintf(out, "try: %s\n", text)
		}
	}
	for _, text := range v.Warnings {
		e.Warn(text)
	}
	if !v.Valid() {
		return cli.SilentError(cli.ExitFault)
	}
	return nil
}
