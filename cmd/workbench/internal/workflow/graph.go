package workflow

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/workflowsrv/author"
)

func workflowGraphCommand(env *opening.Environment) *cobra.Command {
	var svg bool
	cmd := &cobra.Command{
		Use:   "graph ID|FILE",
		Short: "Draw the steps and branches of a workflow",
		Long: `Graph prints a flow chart of a workflow: its steps, their conditions, and its loops.
It is text for mermaid.js, which many sites and editors show as a picture. With --svg
it is a picture itself.`,
		Example: `  workbench workflow graph my-first-workflow
  workbench workflow graph workflows/release.yaml --svg > release.svg`,
		Args:              oneID,
		ValidArgsFunction: completeWorkflow(env),
		RunE: func(_ *cobra.Command, args []string) error {
			w, _, _, err := workflowOf(env, args[0])
			if err != nil {
				return err
			}
			text := author.Mermaid(w)
			if svg {
				text = author.SVG(w)
			}
			_, err = fmt.Fprint(terminal.Clean(env.Out), text)
			return err
		},
	}
	cmd.Flags().BoolVar(&svg, "svg", false, "print a picture in SVG")
	return cmd
}

func workflowVariablesCommand(env *opening.Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "variables ID|FILE",
		Short: "Show who sets and who tests each variable of a workflow",
		Long: `Variables prints a table of the context variables that conditions and loops need: the
steps whose texts name a variable, so that the agent can set it, and the steps that
depend on it, with what they test.`,
		Example:           "  workbench workflow variables my-first-workflow",
		Args:              oneID,
		ValidArgsFunction: completeWorkflow(env),
		RunE: func(_ *cobra.Command, args []string) error {
			w, _, _, err := workflowOf(env, args[0])
			if err != nil {
				return err
			}
			list := author.Variables(w)
			if asJSON {
				return terminal.PrintJSON(env.Out, list)
			}
			if len(list) == 0 {
				_, err := fmt.Fprintln(env.Out, "No step depends on a variable.")
				return err
			}
			t := terminal.Table{Head: []string{"VARIABLE", "SET IN", "TESTED IN", "FOR"}}
			for _, v := range list {
				t.Add(foreign.NewText(v.Name).String(), cmp.Or(strings.Join(v.Set, ", "), "nowhere"), strings.Join(v.Tested, ", "), foreign.NewText(strings.Join(v.Tests, ", ")).String())
			}
			return env.Print(&t)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}
