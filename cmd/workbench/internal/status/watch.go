package status

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/running"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/status"
)

// firstLooks is after how many of these it is said that none runs, though there is one that does not answer.
const firstLooks = 5

// news is what a watched workbench says; gone says that it has ended.
type news struct {
	path string
	says status.Workbench
	gone bool
}

// watchStatus shows every change until ctx ends.
func watchStatus(ctx context.Context, env *cli.Environment, asJSON bool) error {
	show := lines(env.Out)
	switch {
	case asJSON:
		show = func(_ news, all []status.Workbench) error { return json.NewEncoder(env.Out).Encode(statusJSON(all)) }
	case terminal.Draws(env.Out, env.Lookup):
		show = func(_ news, all []status.Workbench) error {
			_, err := fmt.Fprint(env.Out, "\x1b[H\x1b[2J", picture(env, all)) // home, clear
			return err
		}
	}
	changes := make(chan news)
	defer running.Follow(ctx, env, func(ctx context.Context, p status.Peer) error { return follow(ctx, p, changes) })()
	known, dead := make(map[string]status.Workbench), make(map[string]bool)
	awaited := func(p status.Peer) bool { return !dead[p.Path()] }
	look := time.NewTicker(status.FindPeriod)
	defer look.Stop()
	for looks, shown := 0, false; ; {
		if !shown && (!slices.ContainsFunc(status.Find(env.RuntimeDirs()), awaited) || looks == firstLooks) {
			shown = true
			if err := show(news{}, said(known)); err != nil {
				return err
			}
		}
		select {
		case n := <-changes:
			_, is := known[n.path]
			switch {
			case !n.gone:
				known[n.path] = n.says
			case is:
				delete(known, n.path)
			default:
				dead[n.path] = true // it ended long ago, and left its socket
				continue
			}
			shown = true
			if err := show(n, said(known)); err != nil {
				return err
			}
		case <-look.C:
			looks++
		case <-ctx.Done():
			return nil
		}
	}
}

// follow hands on what one workbench says until it or ctx ends.
func follow(ctx context.Context, p status.Peer, to chan<- news) error {
	tell := func(n news) {
		select {
		case to <- n:
		case <-ctx.Done():
		}
	}
	var last status.Workbench
	err := p.Watch(ctx, func(w status.Workbench) {
		last = w
		tell(news{path: p.Path(), says: w})
	})
	tell(news{path: p.Path(), says: last, gone: true})
	return err
}

// said gives what is known, the oldest first.
func said(known map[string]status.Workbench) []status.Workbench {
	all := slices.Collect(maps.Values(known))
	status.Sort(all)
	return all
}

// lines prints a line for each change of a server's state.
func lines(out io.Writer) func(news, []status.Workbench) error {
	type place struct {
		pid             int
		toolbox, server string
	}
	states := make(map[place]string)
	seen := make(map[int]bool)
	return func(n news, _ []status.Workbench) error {
		pid := n.says.PID
		if pid == 0 {
			return nil // a dead socket, or nothing yet
		}
		print := func(format string, args ...any) error {
			_, err := fmt.Fprintf(out, "%s %d %s\n", time.Now().Format(time.TimeOnly), pid, fmt.Sprintf(format, args...))
			return err
		}
		if n.gone {
			delete(seen, pid)
			return print("ended")
		}
		if !seen[pid] {
			seen[pid] = true
			if err := print("serves %s", where(&n.says)); err != nil {
				return err
			}
		}
		for _, g := range running.Groups(&n.says) {
			at := place{pid, g.Toolbox, g.Server}
			if text := g.StateText(); states[at] != text {
				states[at] = text
				if g.Cause() != "" {
					text += ": " + g.Cause()
				}
				if err := print("%s/%s %s", g.Toolbox, g.Server, text); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
