// Package calls has the commands that ask workbenches that run: for calls, approvals and logs, and to start a server
// again.
package calls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/running"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/status"
)

// callsFlags say which calls are wanted, and how.
type callsFlags struct {
	filter  calls.Filter
	since   string
	asJSON  bool
	follows bool
}

func Command(env *cli.Environment, call *cobra.Command) *cobra.Command {
	var flags callsFlags
	cmd := &cobra.Command{
		Use:   "calls",
		Short: "Show the calls that workbenches have made, and their results",
		Long: `Calls shows the last calls of every running workbench of this user: when, to which
server and tool, how long it took, how many bytes the reply has and about how many
tokens that is (a quarter of the bytes), and the outcome: ok, tool_error (the tool
said that it failed), error (the server answered with an error), refused (not sent),
lost (sent, and no reply came), cancelled, or running.

Each workbench keeps its last 1,000 calls. Arguments and results are kept only if
the configuration has "record": "full"; secrets are masked.`,
		Example: `  workbench calls
  workbench calls --failed --since 10m
  workbench calls --server git --follow
  workbench calls show 4711-12
  workbench calls repeat 4711-12`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.read(); err != nil {
				return err
			}
			if flags.follows {
				return followCalls(cmd.Context(), env, &flags)
			}
			return listCalls(cmd.Context(), env, &flags)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&flags.follows, "follow", "f", false, "keep printing a line for each call that ends, until interrupted")
	f.BoolVar(&flags.filter.Failed, "failed", false, "only calls that did not succeed")
	f.StringVar(&flags.filter.Server, "server", "", "only calls to this `server`, SERVER or TOOLBOX/SERVER")
	f.StringVar(&flags.filter.Tool, "tool", "", "only calls whose tool, prompt or uri has this `text` in its name")
	f.StringVar(&flags.since, "since", "", "only calls that began after this `time`: a duration such as 10m, 15:04, or 2006-01-02T15:04:05Z")
	f.IntVarP(&flags.filter.Limit, "last", "n", 50, "at most this many, the latest; 0 for all")
	f.BoolVar(&flags.asJSON, "json", false, "print a JSON document; with --follow one line of JSON for each call")
	cli.OfferFlag(cmd, "server", cli.OfferEach(env.ServerNames))
	cmd.AddCommand(callsShowCommand(env), callsRepeatCommand(env, call))
	return cmd
}

// read makes the filter of the flags.
func (f *callsFlags) read() error {
	if f.filter.Limit < 0 {
		return cli.Usage(errors.New("--last must be 0 or more"))
	}
	f.filter.Toolbox, f.filter.Server = named(f.filter.Server)
	if f.since == "" {
		return nil
	}
	var err error
	f.filter.Since, err = parseSince(f.since, time.Now())
	return err
}

// parseSince reads a moment before now.
func parseSince(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, form := range []string{"15:04", "15:04:05"} {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			at := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location())
			if at.After(now) {
				at = at.AddDate(0, 0, -1)
			}
			return at, nil
		}
	}
	return time.Time{}, cli.Usage(cli.Hint(fmt.Errorf("--since: got %q", text), "write a duration such as 10m, a time of day such as 15:04, or 2006-01-02T15:04:05Z"))
}

// listCalls prints the last calls.
func listCalls(ctx context.Context, env *cli.Environment, flags *callsFlags) error {
	all, silent := running.Gather(env, func(p status.Peer) ([]calls.Call, error) { return p.Calls(ctx, flags.filter) })
	list := calls.List{Calls: append([]calls.Call{}, all...)}
	slices.SortStableFunc(list.Calls, func(a, b calls.Call) int { return a.Time.Compare(b.Time.Time) })
	if n := flags.filter.Limit; n > 0 && len(list.Calls) > n {
		list.Calls = list.Calls[len(list.Calls)-n:]
	}
	switch {
	case flags.asJSON:
		return terminal.PrintJSON(env.Out, list)
	case len(list.Calls) == 0:
		_, err := fmt.Fprintln(env.Out, running.None(silent)+" has such a call")
		return err
	}
	t := terminal.Table{Most: terminal.PlainText, Head: []string{"ID", "TIME", "OUTCOME", "TOOK", "BYTES", "TOKENS", "CLIENT", "CALL"}}
	for i := range list.Calls {
		t.Add(running.Cells(&list.Calls[i])...)
	}
	return env.Print(&t)
}

// followCalls prints each call that ends, of all workbenches that there are meanwhile.
func followCalls(ctx context.Context, env *cli.Environment, flags *callsFlags) error {
	return running.FollowAll(ctx, env, func(ctx context.Context, p status.Peer, say func(calls.Said) error) error {
		return p.FollowCalls(ctx, flags.filter, nil, say)
	}, func(s calls.Said) error { return tellCall(env, s, flags.asJSON) })
}

// tellCall prints a line for a call that has ended.
func tellCall(e *cli.Environment, s calls.Said, asJSON bool) error {
	if asJSON {
		return terminal.PrintLine(e.Out, s)
	}
	if s.Call == nil {
		_, err := fmt.Fprintf(e.Out, "(%d calls came too fast to show)\n", s.Missed)
		return err
	}
	cells := running.Cells(s.Call)
	_, err := fmt.Fprintf(e.Out, "%s  %s  %-10s %8s  %s\n", cells[1], cells[0], cells[2], cells[3], cells[7])
	return err
}
