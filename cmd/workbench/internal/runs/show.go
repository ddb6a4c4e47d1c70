package runs

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/kept"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

func runsShowCommand(env *opening.Environment) *cobra.Command {
	var user string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show what happened in a run",
		Long: `Show prints a run with all its events as a timeline: who started it and why, which
steps were done with which results, what was blocked and why, and who agreed to what.
Times are those of your clock. A ~ marks events of branches that a rewind has left.`,
		Example: `  workbench runs show run-7k3q9x2m4a
  workbench runs show run-7k3q9x2m4a --json`,
		Args:              cli.Between(1, 1),
		ValidArgsFunction: cli.Offer(kept.IDs(env.Environment, kept.Runs)),
		RunE: func(cmd *cobra.Command, args []string) error {
			engine, s, err := runEngine(cmd.Context(), env)
			if err != nil {
				return err
			}
			owned, err := oneRun(cmd.Context(), s, user, args[0])
			if err != nil {
				return err
			}
			kept, events, err := s.Run(cmd.Context(), owned.Principal, owned.ID, 0)
			if err != nil {
				return err
			}
			r, err := runs.Open(kept, events)
			if err != nil {
				return err
			}
			if asJSON {
				return terminal.PrintJSON(env.Out, engine.Shown(owned.Principal, r))
			}
			return printRun(env.Out, owned.Principal, r, engine.Drift(r))
		},
	}
	kept.Runs.AddUser(cmd, &user)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printRun(out io.Writer, principal string, r *runs.Run, drift string) error {
	where := r.Repository
	if r.Branch != "" {
		where += " on " + r.Branch
	}
	status := string(r.Status)
	if r.Step != "" && !r.Status.Over() {
		status += " at " + r.Step
	}
	for _, line := range [][2]string{{"run", r.ID}, {"user", principal}, {"workflow", r.Workflow}, {"goal", r.Goal}, {"where", where},
		{"client", r.Client}, {"status", status}, {"note", drift}} {
		if line[1] != "" {
			fmt.Fprintf(out, "%-9s %s\n", line[0], terminal.Hanging(line[1], 10))
		}
	}
	fmt.Fprintln(out)
	line := r.Line()
	for i, e := range r.Events {
		mark := " "
		if !slices.Contains(line, i) {
			mark = "~"
		}
		step := foreign.NewText(e.Step).String()
		if e.Pass > 0 {
			step += fmt.Sprintf(", pass %d", e.Pass)
		}
		if step != "" {
			step += "  "
		}
		if _, err := fmt.Fprintf(out, "%s%3d  %s  %-10s  %sby %s\n", mark, i+1, terminal.Moment(e.At), e.Kind, step, foreign.NewText(e.By)); err != nil {
			return err
		}
		for _, text := range wordsOf(e) {
			fmt.Fprintf(out, "       %s\n", terminal.Hanging(text, 7))
		}
	}
	return nil
}

// wordsOf are the lines of an event.
func wordsOf(e runs.Event) []string {
	var lines []string
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, name+text)
		}
	}
	add("", e.Notes)
	add("output: ", e.Output)
	for _, a := range e.Artifacts {
		add("artifact: ", string(a))
	}
	for _, r := range e.Reasons {
		add("- ", r.What)
	}
	add("answer: ", e.Answer)
	add("", e.Text)
	add("tool: ", e.Tool)
	add("arguments: ", string(e.Arguments))
	add("result: ", string(e.Result))
	add("context: ", string(e.Context))
	if e.To > 0 {
		add("to event ", fmt.Sprint(e.To))
	}
	add("from ", e.From)
	return lines
}

func runsResumeCommand(env *opening.Environment) *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:   "resume [RUN|WORD...]",
		Short: "Print what an agent is told when it resumes a run",
		Long: `Resume finds a run by its id or by words, and prints what was done and the prompt of
the current step, as workflow_resume tells an agent. It changes nothing, except that
it records the question if the step asks a person.`,
		Example: `  workbench runs resume login
  workbench runs resume run-7k3q9x2m4a`,
		Args:              cli.Between(0, -1),
		ValidArgsFunction: cli.Offer(kept.IDs(env.Environment, kept.Runs)),
		RunE: func(cmd *cobra.Command, words []string) error {
			engine, s, err := runEngine(cmd.Context(), env)
			if err != nil {
				return err
			}
			who := runs.Caller{Principal: user, Client: "workbench runs"}
			run := ""
			if len(words) == 1 {
				if r, err := oneRun(cmd.Context(), s, user, words[0]); err == nil {
					who.Principal, run = r.Principal, r.ID
				}
			}
			if run == "" {
				found, err := runs.Search(cmd.Context(), s, user, strings.Join(words, " "), math.MaxInt32, env.Hosts.Config.Store.ExpireRuns)
				if err != nil {
					return err
				}
				found = slices.DeleteFunc(found, func(f runs.Found) bool { return f.Head.Status.Over() })
				if len(found) == 0 {
					return cli.Hint(fmt.Errorf("no open run has these words"), "workbench runs list shows them")
				}
				if len(found) > 1 && found[0].Score == found[1].Score {
					if err := kept.Runs.Print(env.Environment, runList(found)); err != nil {
						return err
					}
					return cli.Hint(fmt.Errorf("%s fit", terminal.Count(len(found), "run")), "say more words, or the id")
				}
				who.Principal, run = found[0].Principal, found[0].ID
			}
			a, err := engine.Resume(cmd.Context(), who, "", run)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(env.Out, foreign.Block(a.Text))
			return err
		},
	}
	kept.Runs.AddUser(cmd, &user)
	return cmd
}
