package workflow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/workflowsrv/author"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

func workflowShowCommand(env *opening.Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "show ID|FILE",
		Short:             "Show a workflow",
		Long:              "Show prints what a workflow is for, and its steps with their conditions.",
		Example:           "  workbench workflow show my-first-workflow",
		Args:              oneID,
		ValidArgsFunction: completeWorkflow(env),
		RunE: func(_ *cobra.Command, args []string) error {
			w, file, _, err := workflowOf(env, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				var b bytes.Buffer
				if err := json.Indent(&b, w.JSON, "", "  "); err != nil {
					return err
				}
				_, err := fmt.Fprintf(env.Out, "%s\n", foreign.JSON(b.Bytes()))
				return err
			}
			showWorkflow(terminal.Clean(env.Out), w, cmp.Or(file, "part of workbench"))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the definition as JSON")
	return cmd
}

func showWorkflow(out io.Writer, e *definition.Workflow, place string) {
	fmt.Fprintf(out, "%s (%s %s), %s\n\n%s", e.Name, e.ID, e.Version, place, terminal.Wrap(e.Description, "", 100))
	for _, list := range []struct {
		title string
		texts []string
	}{
		{"Before it starts", e.Preconditions},
		{"Questions to settle first", e.ClarificationPrompts},
		{"Rules throughout", e.MetaGuidance},
	} {
		if len(list.texts) > 0 {
			fmt.Fprintf(out, "\n%s:\n", list.title)
			for _, text := range list.texts {
				fmt.Fprint(out, "  -"+strings.TrimPrefix(terminal.Wrap(text, "    ", 100), "   "))
			}
		}
	}
	fmt.Fprintln(out, "\nSteps:")
	for i, s := range e.Steps {
		showStep(out, s, fmt.Sprintf("%2d. ", i+1))
		if s.Loop != nil && !s.Loop.Referenced {
			for _, b := range s.Loop.Body {
				showStep(out, b, "      - ")
			}
		}
	}
	for _, w := range e.Warnings {
		fmt.Fprintf(out, "\nwarning: %s\n", w)
	}
}

func showStep(out io.Writer, s *definition.Step, mark string) {
	var notes []string
	if l := s.Loop; l != nil {
		note := author.LoopText(l)
		if l.Referenced {
			note += ", of the step " + l.Body[0].ID
		}
		notes = append(notes, note)
	}
	if s.RunCondition != nil {
		notes = append(notes, "if "+s.RunCondition.String())
	}
	switch {
	case s.Confirm.Always:
		notes = append(notes, "asks the user")
	case s.Confirm.When != nil:
		notes = append(notes, "asks the user if "+s.Confirm.When.String())
	}
	if s.Criteria != nil {
		notes = append(notes, "output is checked")
	}
	if s.From.Routine != "" {
		notes = append(notes, "from "+s.From.String())
	}
	fmt.Fprintf(out, "%s%s: %s\n", mark, s.ID, s.Title)
	if len(notes) > 0 {
		fmt.Fprintf(out, "%s%s\n", strings.Repeat(" ", len(mark)), strings.Join(notes, "; "))
	}
}

func workflowNextCommand(env *opening.Environment) *cobra.Command {
	var asJSON bool
	var done, variables []string
	var state string
	cmd := &cobra.Command{
		Use:   "next ID|FILE",
		Short: "Walk through a workflow in the terminal",
		Long: `Next prints the step that an agent would get, and the command for the step after it.
Values of --context are read as JSON if they are JSON, and as text otherwise.`,
		Example: `  workbench workflow next my-first-workflow
  workbench workflow next my-first-workflow --done understand --context size=large`,
		Args:              oneID,
		ValidArgsFunction: completeWorkflow(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			context, err := contextOf(variables)
			if err != nil {
				return err
			}
			return nextStep(cmd.Context(), env, args[0], stepping.Request{Completed: done, State: state, Context: context}, variables, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&done, "done", nil, "`ids` of the steps that are done, with commas between")
	f.StringArrayVar(&variables, "context", nil, "a context variable as `name=value`; may be repeated")
	f.StringVar(&state, "state", "", "the `state` of the last answer, in a workflow with loops")
	f.BoolVar(&asJSON, "json", false, "print the answer as JSON")
	return cmd
}

func nextStep(ctx context.Context, env *opening.Environment, id string, r stepping.Request, variables []string, asJSON bool) error {
	w, _, opts, err := workflowOf(env, id)
	if err != nil {
		return err
	}
	r.Mode = opts.Mode
	a, err := stepping.Next(ctx, w, r)
	if err != nil {
		return err
	}
	if asJSON {
		return terminal.PrintJSON(env.Out, json.RawMessage(a.AppendJSON(nil)))
	}
	out := terminal.Clean(env.Out)
	printAnswer(out, a)
	if a.Step != nil {
		fmt.Fprintf(out, "\nnext:\n  %s\n", nextCall(id, r, a, variables))
	}
	return nil
}

// nextCall is the command that asks for the step after this one.
func nextCall(id string, r stepping.Request, a stepping.Answer, variables []string) string {
	call := "workbench workflow next " + shellword.Word(id) + " --done " + strings.Join(append(r.Completed, a.Step.ID), ",")
	for _, v := range variables {
		call += " --context " + shellword.Word(v)
	}
	if a.State != "" {
		call += " --state " + a.State
	}
	return call
}
