// Package record has the commands that record a session with a server, and that play one.
package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/lifetime"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/transcript"
)

func Record(env *cli.Environment) *cobra.Command {
	var out string
	var times bool
	cmd := &cobra.Command{
		Use:   "record [--out FILE] -- COMMAND [ARG...]",
		Short: "Keep a session with a server as a transcript",
		Long: `Record starts an MCP server, passes on what client and server say as it is, and
keeps it as a transcript, which workbench replay answers from. Put it before the
command of a server in a configuration to have that server's sessions recorded.

A transcript is text: sections "-- client --" and "-- want --" with a message on
each line. What looks like a secret is masked in it, as in the record of calls. A
disk that hangs or is full costs the transcript alone.`,
		Example: `  workbench record --out git.txtar -- uvx mcp-server-git
  {"mcpServers": {"git": {"command": "workbench", "args": ["record", "--out", "git.txtar", "--", "uvx", "mcp-server-git"]}}}`,
		Args: cli.Between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return record(cmd.Context(), env, out, times, args)
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the transcript to this `file`, which must not be there (default: record-TIME.txtar)")
	cmd.Flags().BoolVar(&times, "times", false, "keep the time between messages too")
	return cmd
}

// transcriptEnd is how long the end waits for a disk.
const transcriptEnd = time.Second

// record runs a server and keeps what is said.
func record(ctx context.Context, env *cli.Environment, out string, times bool, command []string) (err error) {
	if out == "" {
		out = "record-" + time.Now().Format("20060102-150405") + ".txtar"
	}
	file, err := openfile.MakeNew(out, 0o600)
	if errors.Is(err, os.ErrExist) {
		return cli.Hint(fmt.Errorf("%s is there already", out), "name another file with --out, or move that one away")
	}
	if err != nil {
		return err
	}
	defer file.Close()
	masks := new(mask.Set)
	for _, kv := range env.Environ {
		if name, value, _ := strings.Cut(kv, "="); mask.IsSecretName(name) {
			masks.Add(value, "${"+name+"}")
		}
	}
	proc, err := env.Guard.Start(child.Spec{Command: command[0], Args: command[1:], Env: env.Environ, StderrLine: func(line foreign.Text) {
		fmt.Fprintln(env.Err, line)
	}})
	if err != nil {
		return err
	}
	kept := transcript.NewRecorder(file, "A session with "+foreign.NewText(masks.Text(command[0])).String()+".", masks, times)
	in, to, restore := lifetime.Pollable(env.In, env.Out)
	defer restore()
	go func() {
		_, _ = io.Copy(io.MultiWriter(proc.Stdin(), kept.Client()), in)
		_ = proc.Stdin().Close()
	}()
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.MultiWriter(kept.Server(), to), proc.Stdout())
		read <- err
	}()
	select {
	case <-read:
	case <-ctx.Done():
	}
	select { // one that has closed its output is about to end
	case <-proc.Done():
	case <-time.After(transcriptEnd):
	}
	exit := proc.Exit()
	err = proc.Stop(context.WithoutCancel(ctx), child.Grace{})
	if ctx.Err() == nil && !exit.Asked && exit.At != (time.Time{}) {
		kept.Exited(exit.Code)
	}
	if missing, lost := kept.Close(transcriptEnd); missing > 0 || lost != nil {
		fmt.Fprintf(env.Err, "workbench: warning: %s is not whole: %s\n", out, missingText(missing, lost))
	}
	switch {
	case ctx.Err() != nil:
		return errors.Join(context.Cause(ctx), err)
	case exit.Code != 0 && exit.At != (time.Time{}):
		return cli.SilentError(max(exit.Code, cli.ExitFault))
	}
	return err
}

// missingText says what a transcript lacks.
func missingText(missing int, err error) string {
	if err == nil {
		return terminal.Count(missing, "message") + " came faster than they could be written"
	}
	if missing == 0 {
		return err.Error()
	}
	return fmt.Sprintf("%s missing: %v", terminal.Count(missing, "message"), err)
}
