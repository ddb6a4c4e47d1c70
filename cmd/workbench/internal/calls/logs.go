package calls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/running"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/status"
)

func Logs(env *cli.Environment) *cobra.Command {
	var last int
	var follows, asJSON bool
	cmd := &cobra.Command{
		Use:   "logs SERVER",
		Short: "Show what a server wrote to standard error",
		Long: `Logs prints the last lines that a server wrote to standard error, with their times,
and in parentheses the changes of its state. It asks each workbench of this user
that has the server open, whoever started it. A workbench keeps at most 2,000 lines
and 256 KB for each server. Secrets of the server are masked.`,
		Example: `  workbench logs git
  workbench logs dev/git --follow`,
		Args:              cli.Between(1, 1),
		ValidArgsFunction: cli.Offer(env.ServerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if last < 0 {
				return cli.Usage(errors.New("--last must be 0 or more"))
			}
			return showLines(cmd.Context(), env, args[0], last, follows, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&follows, "follow", "f", false, "keep printing until interrupted")
	cmd.Flags().IntVarP(&last, "last", "n", 200, "begin with this many lines, the latest; 0 for all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON document for each line")
	return cmd
}

// named divides the name of a server, TOOLBOX/SERVER or SERVER.
func named(name string) (box, server string) {
	if box, server, ok := strings.Cut(name, "/"); ok {
		return box, server
	}
	return "", name
}

// saidLine is a line of a workbench.
type saidLine struct {
	pid string
	status.Line
}

// showLines prints the lines of a server.
func showLines(ctx context.Context, env *cli.Environment, name string, last int, follows, asJSON bool) error {
	box, server := named(name)
	if follows { // also the lines of workbenches that come meanwhile
		if known, silent := serverNames(ctx, env); !slices.Contains(known, name) {
			env.Warn(fmt.Sprintf("%s has a server %q yet: waiting for it; %s", running.None(silent), name, nearest.Hint(name, known, openedHint)))
		}
		return running.FollowAll(ctx, env, func(ctx context.Context, p status.Peer, say func(saidLine) error) error {
			return p.Lines(ctx, box, server, last, true, func(l status.Line) error { return say(saidLine{running.PID(p), l}) })
		}, func(l saidLine) error { return tellLine(env, &l, asJSON) })
	}
	found, silent := running.Gather(env, func(p status.Peer) ([][]saidLine, error) {
		var lines []saidLine
		err := p.Lines(ctx, box, server, last, false, func(l status.Line) error {
			lines = append(lines, saidLine{running.PID(p), l})
			return nil
		})
		if err != nil && lines == nil {
			return nil, err
		}
		return [][]saidLine{lines}, err // of a workbench that ends meanwhile, what it said until then
	})
	if found == nil {
		return noServer(ctx, env, name, silent)
	}
	all := slices.Concat(found...)
	slices.SortStableFunc(all, func(a, b saidLine) int { return a.Time.Compare(b.Time.Time) })
	if last > 0 && len(all) > last {
		all = all[len(all)-last:]
	}
	for i := range all {
		if err := tellLine(env, &all[i], asJSON); err != nil {
			return err
		}
	}
	return nil
}

// tellLine prints a line of a server.
func tellLine(e *cli.Environment, l *saidLine, asJSON bool) error {
	if asJSON {
		return terminal.PrintLine(e.Out, l.Line)
	}
	text := l.Text.String()
	switch {
	case l.Missed > 0:
		text = fmt.Sprintf("(%d lines came too fast to show)", l.Missed)
	case l.Note:
		text = "(" + text + ")"
	}
	at := l.Time.Time
	if l.Missed > 0 {
		at = time.Now()
	}
	_, err := fmt.Fprintf(e.Out, "%s %s %s/%s  %s\n", at.Local().Format("15:04:05.000"), l.pid, foreign.NewName(l.Toolbox), foreign.NewName(l.Server), text)
	return err
}

// openedHint says how a name of a server comes to be known.
const openedHint = "workbench status shows the servers; a server appears once a client has opened its toolbox"

// noServer says that no workbench has a server, and which are there.
func noServer(ctx context.Context, env *cli.Environment, name string, silent int) error {
	if silent > 0 { // who did not answer is not asked again
		return cli.Hint(fmt.Errorf("%s has a server %q", running.None(silent), name), openedHint)
	}
	known, _ := serverNames(ctx, env)
	return cli.Hint(fmt.Errorf("%s has a server %q", running.None(0), name), nearest.Hint(name, known, openedHint))
}

// serverNames are the names of the servers of all workbenches, with their toolboxes and without. silent is how many
// workbenches have not answered.
func serverNames(ctx context.Context, env *cli.Environment) (known []string, silent int) {
	return running.Gather(env, func(p status.Peer) (names []string, err error) {
		w, err := p.Get(ctx)
		for box, srv := range w.Servers() {
			names = append(names, box.Name+"/"+srv.Name, srv.Name)
		}
		return names, err
	})
}
