package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func initCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Set workbench up: take servers over, add some, connect clients",
		Long: `Init asks at the terminal what workbench import, add and connect do by
themselves: whether to take over the servers that your clients have, which others
to add, and which clients to connect. Each answer may be no, and each change is
taken back by workbench undo and disconnect.`,
		Example: "  workbench init",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return setUp(cmd.Context(), env) },
	}
}

func setUp(ctx context.Context, env *environment) error {
	if !isTerminal(env.in) {
		return usageError{hinted{errors.New("nobody can be asked: standard input is no terminal"), "run workbench import, workbench add and workbench connect --yes"}}
	}
	if err := (importing{dryRun: true}).run(ctx, env, nil); err != nil {
		return err
	}
	switch yes, err := env.consent(ctx, "Take over what is listed and new?"); {
	case err != nil:
		return err
	case yes:
		if err := (importing{}).run(ctx, env, nil); err != nil {
			return err
		}
	}
	for {
		text, err := env.ask(ctx, "A server to add: its URL, or the command that starts it (Enter for none): ")
		if err != nil || text == "" {
			if err != nil {
				return err
			}
			break
		}
		name, err := env.ask(ctx, "Its name: ")
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
			fmt.Fprintf(env.err, "not added: %v\n", err)
		}
	}
	chosen, err := env.chosen(nil)
	if err != nil || len(chosen) == 0 {
		fmt.Fprintln(env.out, "No client was found to connect; workbench connect NAME enters workbench into the file of one.")
		return nil
	}
	yes, err := env.consent(ctx, fmt.Sprintf("Enter workbench into the files of %s?", count(len(chosen), "client")))
	if err != nil || !yes {
		return err
	}
	return connecting{}.run(ctx, env, nil)
}

// consent asks for yes or no.
func (e *environment) consent(ctx context.Context, question string) (bool, error) {
	text, err := e.ask(ctx, question+" [y/N] ")
	text = strings.ToLower(text)
	return text == "y" || text == "yes", err
}

// ask asks for a line.
func (e *environment) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(e.out, question)
	type line struct {
		text string
		err  error
	}
	answer := make(chan line, 1)
	go func() { // reading a terminal cannot be interrupted
		text, err := bufio.NewReader(e.in).ReadString('\n')
		answer <- line{strings.TrimSpace(text), err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case got := <-answer:
		if got.err != nil && got.text == "" {
			return "", errors.New("standard input ended; nothing more was changed")
		}
		return got.text, nil
	}
}
