// Package record has the commands that record a session with a server, and that play one.
package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/lifetime"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/transcript"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

func Record(env *opening.Environment) *cobra.Command {
	var out string
	var times bool
	cmd := &cobra.Command{
		Use:   "record [--out FILE] {TOOLBOX/SERVER | -- COMMAND [ARG...]}",
		Short: "Record a session with a server as a transcript",
		Long: `Record starts an MCP server, passes on all messages of client and server unchanged,
and writes them to a transcript, from which workbench replay answers. To record the
sessions of a server in a client's configuration, put "workbench record" in front of
its command. A server of workbench's own configuration is started or reached as
always, with its secrets and its login; its requests get other ids.

A transcript is text: sections "-- client --" and "-- want --" with one message on
each line. What looks like a secret is masked, as in the record of calls. If the disk
hangs or is full, only the transcript suffers.`,
		Example: `  workbench record --out git.txtar -- uvx mcp-server-git
  workbench record --out git.txtar dev/git
  {"mcpServers": {"git": {"command": "workbench", "args": ["record", "--out", "git.txtar", "--", "uvx", "mcp-server-git"]}}}`,
		Args:              cli.Between(1, -1),
		ValidArgsFunction: cli.Offer(env.ServerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() == 0 {
				return record(cmd.Context(), env.Environment, out, times, args)
			}
			if len(args) > 1 {
				return cli.Usage(cli.Hint(errors.New("record takes one server of the configuration"), "write -- before a command: workbench record -- COMMAND [ARG...]"))
			}
			return recordServer(cmd.Context(), env, out, times, args[0])
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the transcript to this `file`, which must not exist (default: record-TIME.txtar)")
	cmd.Flags().BoolVar(&times, "times", false, "also record the time between messages")
	return cmd
}

// transcriptEnd is how long the end waits for a disk.
const transcriptEnd = time.Second

// answerTime is how long a server has for what it was asked when its client says no more.
const answerTime = 10 * time.Minute

// newFile makes the file of a transcript, which must not be there.
func newFile(out string) (*os.File, error) {
	if out == "" {
		out = "record-" + time.Now().Format("20060102-150405") + ".txtar"
	}
	file, err := openfile.MakeNew(out, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, cli.Hint(fmt.Errorf("%s is there already", out), "name another file with --out, or move that one away")
	}
	return file, err
}

// discard removes the file of a transcript of which there is nothing, so that the next attempt can have the name.
func discard(file *os.File) {
	_ = file.Close()
	_ = os.Remove(file.Name())
}

// finish ends a transcript, and says what it lacks.
func finish(env *cli.Environment, kept *transcript.Recorder, out string) {
	if missing, lost := kept.Close(transcriptEnd); missing > 0 || lost != nil {
		env.Warn(fmt.Sprintf("%s is not whole: %s", out, missingText(missing, lost)))
	}
}

// recordServer has a client speak to a server of the configuration, and keeps what is said.
func recordServer(ctx context.Context, env *opening.Environment, out string, times bool, name string) (err error) {
	boxes, cfg, _, err := env.Boxes(nil, nil)
	if err != nil {
		return err
	}
	of, err := cli.Server(cfg, name, func(*config.Server) bool { return true })
	if err != nil {
		return err
	}
	box := boxes[slices.IndexFunc(boxes, func(b *toolbox.Toolbox) bool { return strings.HasPrefix(name, b.Name+"/") })]
	server, _ := box.Server(of.Name)
	file, err := newFile(out)
	if err != nil {
		return err
	}
	defer file.Close()
	l, err := server.Dial(ctx)
	if err != nil {
		discard(file)
		return fmt.Errorf("%s: %w", name, err)
	}
	kept := transcript.NewRecorder(file, "A session with "+name+".", env.Masks, times)
	p := newPassage(l, kept)
	serving, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case cause := <-p.broken:
			stop(cause)
		case <-l.Done():
			stop(l.Cause())
		case <-serving.Done():
		}
	}()
	in, to, restore := lifetime.Pollable(env.In, env.Out)
	defer restore()
	err = wire.Serve(serving, in, to, p, wire.ServeOptions{Drain: answerTime})
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), transcriptEnd)
	defer cancel()
	var exited *link.ExitError
	select {
	case <-l.Done():
		if errors.As(l.Cause(), &exited) {
			kept.Exited(exited.Code)
		}
	default:
	}
	ended := l.Close(closing)
	finish(env.Environment, kept, file.Name())
	if exited != nil {
		return cli.SilentError(max(exited.Code, cli.ExitFault))
	}
	return errors.Join(lifetime.Stopped(err), ended)
}

// record runs a command that is a server, and keeps what is said.
func record(ctx context.Context, env *cli.Environment, out string, times bool, command []string) (err error) {
	file, err := newFile(out)
	if err != nil {
		return err
	}
	defer file.Close()
	masks := new(mask.Set)
	for _, kv := range env.Environ {
		name, value, _ := strings.Cut(kv, "=")
		masks.AddVariable(name, value)
	}
	proc, err := env.Guard.Start(child.Spec{Command: command[0], Args: command[1:], Env: env.Environ, StderrLine: func(line foreign.Text) {
		fmt.Fprintln(env.Err, line)
	}})
	if err != nil {
		discard(file)
		return err
	}
	kept := transcript.NewRecorder(file, "A session with "+foreign.NewText(masks.Text(command[0])).String()+".", masks, times)
	in, to, restore := lifetime.Pollable(env.In, env.Out)
	defer restore()
	go func() {
		_, _ = io.Copy(io.MultiWriter(kept.Client(), proc.Stdin()), in) // kept first: the reply is not to come before it
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
	finish(env, kept, file.Name())
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
