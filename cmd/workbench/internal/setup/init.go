package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
)

func Init(env *cli.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Set up workbench: copy servers, add some, connect clients",
		Long: `Init asks at the terminal what workbench import, add and connect do separately:
whether to copy the servers of your clients, which others to add, and which clients
to connect. You can say no to each, and workbench undo and disconnect undo each
change.`,
		Example: "  workbench init",
		Args:    cli.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return setUp(cmd.Context(), env) },
	}
}

func setUp(ctx context.Context, env *cli.Environment) error {
	if !terminal.Is(env.In) {
		return cli.Usage(cli.Hint(errors.New("nobody can be asked: standard input is not a terminal"), "run workbench import, workbench add and workbench connect --yes"))
	}
	found, err := (importing{dryRun: true}).run(ctx, env, nil)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		yes, err := env.Asked(ctx, "Copy the new servers of this list?")
		if yes && err == nil {
			_, err = (importing{}).run(ctx, env, nil)
		}
		if err != nil {
			return err
		}
	}
	for {
		text, err := askLine(ctx, env, "A server to add: its URL, or the command that starts it (Enter for none): ")
		if err != nil || text == "" {
			if err != nil {
				return err
			}
			break
		}
		name, err := askLine(ctx, env, "Its name: ")
		if err != nil {
			return err
		}
		if name == "" {
			continue
		}
		args := append([]string{name}, strings.Fields(text)...)
		dash := 1
		if len(args) == 2 && strings.Contains(text, "://") {
			dash = -1
		}
		if err := add(ctx, env, adding{}, args, dash); err != nil {
			fmt.Fprintf(env.Err, "not added: %v\n", err)
		}
	}
	chosen, err := chosen(env, nil)
	if err != nil || len(chosen) == 0 {
		fmt.Fprintln(env.Out, "No client was found; workbench connect NAME adds workbench to the file of one.")
		return nil
	}
	yes, err := env.Asked(ctx, fmt.Sprintf("Add workbench to the files of %s?", terminal.Count(len(chosen), "client")))
	if err != nil || !yes {
		return err
	}
	return connecting{}.run(ctx, env, nil)
}

// askLine asks for a line.
func askLine(ctx context.Context, env *cli.Environment, question string) (string, error) {
	text, err := env.Answer(ctx, question)
	return strings.TrimSpace(text), err
}
