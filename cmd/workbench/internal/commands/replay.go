package commands

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/shellword"
)

func testCommand(env *opening.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test WORKFLOW [FILE…]",
		Short: "Replay recorded conversations with a command workflow",
		Long: `Test repeats recorded conversations, each as a new conversation that is not kept,
and compares the results: the status, the command, and the reply or pieces of it.
The files are those that commands chat --record writes; by default test takes the
.yaml files in the folder tests of the workflow.

The commands really run, and what they write is written. Use tools that may be
changed, such as a toolbox for tests. The exit code is 1 if anything differs.`,
		Example: `  workbench commands test ./notes
  workbench commands test example first.yaml`,
		Args: cli.Between(1, maxRecordings),
		RunE: func(cmd *cobra.Command, args []string) error {
			files := args[1:]
			if len(files) == 0 {
				files, _ = filepath.Glob(filepath.Join(args[0], "tests", "*.yaml")) // the pattern is ours but for the folder
			}
			if len(files) == 0 {
				return cli.Hint(fmt.Errorf("there are no recordings in %s", filepath.Join(args[0], "tests")), "record one: workbench commands chat "+shellword.Word(args[0])+" --record FILE")
			}
			return replayAll(cmd.Context(), env, args[0], files)
		},
	}
	return cmd
}

// maxRecordings is how many files may be named at once.
const maxRecordings = 1000

func replayAll(ctx context.Context, env *opening.Environment, workflow string, files []string) error {
	dir, err := openfile.MakeTemporary("workbench-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	defer func() { env.Hosts.Close() }() // before its store goes
	t, err := newTalk(ctx, env, workflow, func(cfg *config.Config) { cfg.Store = config.Store{Path: filepath.Join(dir, "conversations.db")} })
	if err != nil {
		return err
	}
	failed := 0
	for i, file := range files {
		r, err := readRecording(file)
		if err != nil {
			return err
		}
		if i > 0 {
			if err := t.anew(ctx); err != nil {
				return err
			}
		}
		why, err := t.replay(ctx, r)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if why != "" {
			failed++
			fmt.Fprintf(env.Out, "%s: %s\n", file, why)
			continue
		}
		fmt.Fprintf(env.Out, "%s: %d turns as recorded\n", file, len(r.Turns))
	}
	if failed > 0 {
		return cli.SilentError(cli.ExitFault)
	}
	return nil
}

// anew begins another conversation, at the top.
func (t *talk) anew(ctx context.Context) error {
	for _, line := range []string{"/abort", "/reset_context"} {
		if _, err := t.say(ctx, "/invoke_assistant", line); err != nil {
			return err
		}
	}
	var kept struct{}
	if err := t.do(ctx, http.MethodPost, "/new_conversation", map[string]any{}, &kept); err != nil {
		return err
	}
	return t.begin(ctx)
}

// replay says what a recording says, and tells the first thing that differs.
func (t *talk) replay(ctx context.Context, r *recording) (string, error) {
	for i, turn := range r.Turns {
		s, err := t.say(ctx, "/invoke_assistant", turn.Say)
		if err != nil {
			return "", err
		}
		if why := turn.differs(s); why != "" {
			return fmt.Sprintf("turn %d, %q: %s", i+1, strings.TrimSpace(turn.Say), why), nil
		}
	}
	return "", nil
}
