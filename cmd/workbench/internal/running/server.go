package running

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Group is a server of the configuration: one that runs, or one a session.
type Group struct {
	Toolbox, Server string
	calls           status.Outcomes
	Worst           status.Server
	states          map[string]int
	members         int
	inFlight        int
	queued          int
	kept            int64
	refused         uint64 // how often there was no room for more
	dropped         uint64
}

// Groups gives the servers of a workbench: first those that need attention, then as the configuration has them.
func Groups(w *status.Workbench) []*Group {
	var all []*Group
	for b, srv := range w.Servers() {
		i := slices.IndexFunc(all, func(g *Group) bool { return g.Toolbox == b.Name && g.Server == srv.Name })
		if i < 0 {
			i = len(all)
			all = append(all, &Group{Toolbox: b.Name, Server: srv.Name, Worst: *srv, states: make(map[string]int)})
		}
		g := all[i]
		if urgency(srv.State) < urgency(g.Worst.State) {
			g.Worst = *srv
		}
		g.states[srv.State]++
		g.members++
		g.inFlight += srv.InFlight
		g.queued += srv.Queued
		g.kept += srv.Kept.Bytes
		g.refused += srv.Kept.Refused
		g.dropped += srv.Dropped
	}
	for _, g := range all {
		for _, c := range w.Calls {
			if c.Toolbox == g.Toolbox && c.Server == g.Server {
				g.calls = c.Outcomes
			}
		}
	}
	slices.SortStableFunc(all, (*Group).Compare)
	return all
}

// Compare says which of two servers needs attention more, as slices.SortFunc wants it.
func (g *Group) Compare(other *Group) int {
	return cmp.Compare(urgency(g.Worst.State), urgency(other.Worst.State))
}

// urgency orders states, the most urgent first.
func urgency(state string) int {
	order := []toolbox.State{toolbox.Failed, toolbox.NeedsLogin, toolbox.Open, toolbox.Backoff, toolbox.Starting, toolbox.Installing, toolbox.Ready, toolbox.Stopped, toolbox.Disabled}
	return slices.Index(order, toolbox.State(state)) // one that is not known is the most urgent
}

// Name is the name of the server.
func (g *Group) Name() string { return g.Toolbox + "/" + g.Server }

// StateText is the state, or how many are in each.
func (g *Group) StateText() string {
	if g.members == 1 {
		return g.Worst.State
	}
	var parts []string
	for state, n := range g.states {
		parts = append(parts, fmt.Sprintf("%d %s", n, state))
	}
	slices.SortFunc(parts, func(a, b string) int {
		_, x, _ := strings.Cut(a, " ")
		_, y, _ := strings.Cut(b, " ")
		return cmp.Compare(urgency(x), urgency(y))
	})
	return strings.Join(parts, " ")
}

// now says what is under way.
func (g *Group) now() string {
	if g.queued > 0 {
		return fmt.Sprintf("%d+%d", g.inFlight, g.queued)
	}
	return fmt.Sprint(g.inFlight)
}

func (g *Group) pid() string {
	if g.members == 1 && g.Worst.PID != 0 {
		return fmt.Sprint(g.Worst.PID)
	}
	return "-"
}

// Cause is why it is not ready, on one line.
func (g *Group) Cause() string {
	return strings.Join(strings.Fields(g.Worst.Cause), " ")
}

// Cells are the cells of the server in a table with Columns.
func (g *Group) Cells() []string {
	return []string{g.StateText(), cut.Within(g.Name(), 24), fmt.Sprint(g.Worst.Tools), fmt.Sprint(g.calls.All()), fmt.Sprint(g.calls.Bad()), g.now(), terminal.Bytes(g.kept), g.pid()}
}

// Columns are the heads of a table of servers.
func Columns() []string {
	return []string{"STATE", "SERVER", "TOOLS", "CALLS", "FAILED", "NOW", "KEPT", "PID"}
}

// Explain says of a server that needs attention what is wrong and what to do, and of any what is odd, in lines of a
// width. config is the configuration of its workbench, if commands have to name it.
func (g *Group) Explain(width int, paint terminal.Paint, config string) string {
	s := &g.Worst
	if s.Advice == "" && len(s.Notes) == 0 && g.refused == 0 && g.dropped == 0 {
		return "" // it is ready, or has nothing to do
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s for %s", g.Name(), paint.State(s.State), Age(s.Since))
	if s.Next != nil && time.Until(*s.Next) > 0 {
		fmt.Fprintf(&b, ", tried again in %s", time.Until(*s.Next).Round(time.Second))
	}
	b.WriteString("\n")
	with := func(text string) string {
		if config == "" {
			return text
		}
		return cli.With(text, config)
	}
	say := func(text string) { b.WriteString(terminal.Wrap(with(text), "  ", width)) }
	if s.Cause != "" {
		say(g.Cause())
	}
	for _, note := range s.Notes {
		say(note)
	}
	if g.refused > 0 {
		say(fmt.Sprintf("no more was kept because of it %d times: its account was full", g.refused))
	}
	if g.dropped > 0 {
		say(fmt.Sprintf("%d of its notifications were left out: the client did not keep up", g.dropped))
	}
	if s.Advice != "" {
		b.WriteString("  ->" + strings.TrimPrefix(terminal.Wrap(with(s.Advice), "     ", width), "    "))
	}
	return b.String()
}

// Age is the time since, in the two units that say most.
func Age(since time.Time) string {
	d := max(0, time.Since(since)) // the clock may have been wrong then
	switch {
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}

// Clients counts the sessions by what their clients call themselves.
func Clients(w *status.Workbench) []string {
	counts := make(map[string]int)
	for _, s := range w.Sessions {
		name := strings.TrimSpace(s.Client + " " + s.Version)
		if name == "" {
			name = "a client without a name"
		} else if s.Revision != "" {
			name += ", revision " + s.Revision
		}
		if s.Direct != "" {
			name += ", toolbox " + s.Direct
		}
		if s.Unread > 0 {
			name += ", has " + terminal.Bytes(s.Unread) + " to read"
		}
		if s.Kept.Refused > 0 {
			name += ", " + terminal.Bytes(s.Kept.Bytes) + " kept: its account was full"
		}
		counts[name]++
	}
	var lines []string
	for name, n := range counts {
		if n > 1 {
			name = fmt.Sprintf("%s (%d sessions)", name, n)
		}
		lines = append(lines, cut.Within(name, terminal.PlainText-10))
	}
	slices.Sort(lines)
	return lines
}
