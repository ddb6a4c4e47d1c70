package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/kept"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// runEngine returns what carries out the runs that are kept here, and the store they are in.
func runEngine(ctx context.Context, e *opening.Environment) (*runs.Engine, *store.Store, error) {
	opts, err := e.Configured("", zerolog.Nop())
	if err != nil {
		return nil, nil, err
	}
	if err := kept.IsThere(e.Environment, e.Hosts.Config); err != nil {
		return nil, nil, err
	}
	s, err := e.Hosts.Store.Get(ctx)
	if err != nil {
		return nil, nil, err
	}
	return workflowsrv.New(opts).Runs(), s, nil
}

func runsAnswerCommand(env *opening.Environment) *cobra.Command {
	var user, reason string
	var code bool
	cmd := &cobra.Command{
		Use:   "answer RUN [ANSWER]",
		Short: "Answer a run's question as a person",
		Long: `Answer shows the question that a run asks a person, and takes the answer, which is
recorded as given at a terminal. It is for people and needs a terminal, which the
tools of an agent do not have. With --code it prints a one-time code instead, which
stands for the answer; give it to the agent in a chat. The code works for this step
only, for 15 minutes.`,
		Example: `  workbench runs answer run-7k3q9x2m4a
  workbench runs answer run-7k3q9x2m4a no --reason "not on a Friday"
  workbench runs answer run-7k3q9x2m4a --code`,
		Args:              cli.Between(1, 2),
		ValidArgsFunction: cli.Offer(kept.IDs(env.Environment, kept.Runs)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !terminal.Is(env.In) {
				return cli.Hint(errors.New("only a person may answer: standard input is not a terminal"), "run the command in a terminal of your own")
			}
			o := runs.Opinion{Run: args[0], Reason: reason, How: "terminal", Code: code}
			if len(args) == 2 {
				o.Answer = args[1]
			}
			return answerRun(cmd.Context(), env, user, o, len(args) == 2)
		},
	}
	kept.Runs.AddUser(cmd, &user)
	cmd.Flags().StringVar(&reason, "reason", "", "`why`, which the agent is told")
	cmd.Flags().BoolVar(&code, "code", false, "print a one-time code that stands for the answer")
	return cmd
}

// asked is a run that waits for a person.
type asked struct {
	engine    *runs.Engine
	principal string // whose it is
}

func findAsked(ctx context.Context, env *opening.Environment, user, run string) (asked, error) {
	engine, s, err := runEngine(ctx, env)
	if err != nil {
		return asked{}, err
	}
	r, err := oneRun(ctx, s, user, run)
	return asked{engine, r.Principal}, err
}

// Pending gives what a run asks a person, and the answers there are to choose from; nil: any text.
func Pending(ctx context.Context, env *opening.Environment, user, run string) (question runs.Question, answers []string, err error) {
	a, err := findAsked(ctx, env, user, run)
	if err != nil {
		return question, nil, err
	}
	question, answers, err = a.engine.Pending(ctx, a.principal, run)
	return question, answers, noQuestion(run, err)
}

// Say has a run go by what a person says. The code is "" unless one was asked for.
func Say(ctx context.Context, env *opening.Environment, user string, o runs.Opinion) (code string, err error) {
	a, err := findAsked(ctx, env, user, o.Run)
	if err != nil {
		return "", err
	}
	code, err = a.engine.Say(ctx, a.principal, o)
	return code, noQuestion(o.Run, err)
}

func answerRun(ctx context.Context, env *opening.Environment, user string, o runs.Opinion, given bool) error {
	question, answers, err := Pending(ctx, env, user, o.Run)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "%s\n", foreign.Block(question.Message))
	o.Question = question.State
	if !given {
		if o.Answer, err = answered(ctx, env, answers); err != nil {
			return err
		}
	}
	code, err := Say(ctx, env, user, o)
	switch {
	case err != nil:
		return err
	case code != "":
		fmt.Fprintf(env.Out, "code %s: give it to the agent\n", code)
	default:
		fmt.Fprintf(env.Out, "%s is answered; the agent goes on with workflow_next\n", o.Run)
	}
	return nil
}

// answered reads the answer of the person at the terminal.
func answered(ctx context.Context, e *opening.Environment, answers []string) (string, error) {
	if slices.Equal(answers, []string{"yes", "no"}) {
		agreed, err := e.Asked(ctx, "Agree?")
		return map[bool]string{true: "yes", false: "no"}[agreed], err
	}
	if len(answers) > 0 {
		fmt.Fprintf(e.Out, "%s ", strings.Join(answers, " / "))
	}
	text, err := e.Answer(ctx, "> ")
	if errors.Is(err, cli.ErrNoAnswer) {
		return "", nil
	}
	return text, err
}

func noQuestion(run string, err error) error {
	if errors.Is(err, runs.ErrNoQuestion) {
		return cli.Hint(fmt.Errorf("%s: %w", foreign.NewText(run), err), "workbench runs show "+run+" says where it is")
	}
	return err
}
