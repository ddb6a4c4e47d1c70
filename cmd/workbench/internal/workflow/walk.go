package workflow

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

func workflowWalkCommand(env *opening.Environment) *cobra.Command {
	var variables []string
	cmd := &cobra.Command{
		Use:   "walk ID|FILE",
		Short: "Follow a workflow by hand, step by step",
		Long: `Walk shows one step after the other, as an agent gets them. After each step, an empty
line continues; name=value sets a context variable, where the value is read as JSON
if it is JSON; "back" returns to the step before, "context" shows the variables, and
"quit" or the end of the input ends the walk.`,
		Example:           "  workbench workflow walk my-first-workflow",
		Args:              oneID,
		ValidArgsFunction: completeWorkflow(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, _, opts, err := workflowOf(env, args[0])
			if err != nil {
				return err
			}
			context, err := contextOf(variables)
			if err != nil {
				return err
			}
			return walk(cmd.Context(), env, w, stepping.Request{Context: context, Mode: opts.Mode, Kept: true})
		},
	}
	cmd.Flags().StringArrayVar(&variables, "context", nil, "a context variable as `name=value`; may be repeated")
	return cmd
}

// What a line of a walk wants.
const (
	walkOn   = "on"
	walkBack = "back"
	walkQuit = "quit"
)

func walk(ctx context.Context, e *opening.Environment, w *definition.Workflow, r stepping.Request) error {
	lines := bufio.NewScanner(e.Input(ctx))
	var before []stepping.Request
	out := terminal.Clean(e.Out)
	for {
		a, err := stepping.Next(ctx, w, r)
		if err != nil {
			fmt.Fprintf(out, "not possible: %v\n", err)
		} else {
			printAnswer(out, a)
		}
		if a.IsComplete {
			return nil
		}
		wanted, err := hear(e, lines, r.Context)
		switch {
		case err != nil || wanted == walkQuit:
			return err
		case wanted == walkBack && len(before) > 0:
			r, before = before[len(before)-1], before[:len(before)-1]
		case wanted == walkOn && a.Step != nil:
			here := r
			here.Context = maps.Clone(r.Context)
			before = append(before, here)
			r.Completed, r.State = append(slices.Clone(r.Completed), a.Step.ID), a.State
		}
	}
}

// hear reads lines, which set variables, until one wants to move.
func hear(e *opening.Environment, lines *bufio.Scanner, variables map[string]any) (wanted string, err error) {
	for {
		fmt.Fprint(e.Out, "\n> ")
		if !lines.Scan() {
			fmt.Fprintln(e.Out)
			return walkQuit, lines.Err()
		}
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "":
			fmt.Fprintln(e.Out)
			return walkOn, nil
		case line == walkQuit, line == "q":
			fmt.Fprintln(e.Out)
			return walkQuit, nil
		case line == walkBack:
			fmt.Fprintln(e.Out)
			return walkBack, nil
		case line == "context":
			if err := terminal.PrintJSON(e.Out, variables); err != nil {
				return walkQuit, err
			}
		case strings.Contains(line, "="):
			set, err := contextOf([]string{line})
			if err != nil {
				fmt.Fprintln(e.Out, err)
				continue
			}
			maps.Copy(variables, set)
		default:
			fmt.Fprintln(e.Out, "an empty line goes on; or write name=value, context, back or quit")
		}
	}
}
