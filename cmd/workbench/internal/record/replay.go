package record

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/lifetime"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/transcript"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// maxTranscript is the most bytes of a transcript.
const maxTranscript = 1 << 30

func Replay(env *cli.Environment) *cobra.Command {
	var times bool
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Run a server that answers from a recording",
		Long: `Replay is an MCP server on standard input and output that answers from a transcript
of workbench record. Each request gets the answer that the recorded request with the
same method and arguments got, in the order of the recording; lists are the same byte
for byte. A request that was not recorded is an error. If the recorded server ended in
the middle of a call, replay ends there too, with the same exit code.`,
		Example: `  workbench replay git.txtar
  {"mcpServers": {"git": {"command": "workbench", "args": ["replay", "git.txtar"]}}}`,
		Args: cli.Between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return replay(cmd.Context(), env, args[0], times)
		},
	}
	cmd.Flags().BoolVar(&times, "times", false, "answer after the recorded times, if the recording has them")
	return cmd
}

// exitedError says that a replayed server has ended.
type exitedError struct{ status int }

func (e exitedError) Error() string {
	return fmt.Sprintf("the recorded server ended: exit status %d", e.status)
}

func replay(ctx context.Context, env *cli.Environment, path string, times bool) error {
	data, _, err := openfile.Read(path, maxTranscript)
	if err != nil {
		return cli.Hint(fmt.Errorf("%s: %s", path, openfile.Reason(err)), "name a transcript; workbench record makes one")
	}
	player, err := transcript.NewPlayer(data)
	if err != nil {
		return cli.Hint(fmt.Errorf("%s: %w", path, err), "workbench record makes one")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	player.Times = times
	player.Exited = func(status int) { cancel(exitedError{status}) }
	in, out, restore := lifetime.Pollable(env.In, env.Out)
	defer restore()
	err = wire.Serve(ctx, in, out, player, wire.ServeOptions{})
	var exited exitedError
	if errors.As(err, &exited) || errors.As(context.Cause(ctx), &exited) {
		fmt.Fprintf(env.Err, "workbench: %v\n", exited)
		return cli.SilentError(exited.status)
	}
	return lifetime.Stopped(err)
}
