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
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
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
				files = recordingsIn(filepath.Join(args[0], "tests"))
			}
			if len(files) == 0 {
				return cli.Hint(fmt.Errorf("there are no recordings in %s", filepath.Join(args[0], "tests")), "record one: workbench commands chat "+shellword.Word(args[0])+" --record FILE")
			}
			return replayAll(cmd.Context(), env, args[0], files)
		},
	}
	return cmd
}

// recordingsIn lists the recordings in a folder; there are none where there is no folder.
func recordingsIn(dir string) []string {
	var files []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".yaml") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

// maxRecordings is how many files may be named at once.
const maxRecordings = 1000

func replayAll(ctx context.Context, env *opening.Environment, workflow string, files []string) error {
	recordings, err := readRecordings(files) // before a command runs
	if err != nil {
		return err
	}
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
		if i > 0 {
			if err := t.anew(ctx); err != nil {
				return err
			}
		}
		why, err := t.replay(ctx, recordings[i])
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if why != "" {
			failed++
			fmt.Fprintf(env.Out, "%s: %s\n", file, why)
			continue
		}
		fmt.Fprintf(env.Out, "%s: %s as recorded\n", file, terminal.Count(len(recordings[i].Turns), "turn"))
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
