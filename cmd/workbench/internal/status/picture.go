package status

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

// pictureWidth is the width of a terminal that nobody made wider.
const pictureWidth = 80

// picture shows workbenches to people.
func picture(e *cli.Environment, all []status.Workbench) string {
	if len(all) == 0 {
		return "no workbench is running for this user\n"
	}
	b := drawing{width: e.Width(), paint: e.Paint(e.Out)}
	for i := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		b.workbench(&all[i])
	}
	return b.String()
}

// drawing is the picture as it is made.
type drawing struct {
	strings.Builder
	paint terminal.Paint
	width int // of the terminal; 0 if there is none
}

// text is the width for lines that are wrapped.
func (b *drawing) text() int {
	if b.width == 0 {
		return pictureWidth
	}
	return min(max(b.width, terminal.LeastText), pictureWidth)
}

func (b *drawing) workbench(w *status.Workbench) {
	facts := []string{where(w), "up " + age(w.Since)}
	if w.RSS > 0 {
		facts = append(facts, fmt.Sprintf("%.1f MB", float64(w.RSS)/1e6))
	}
	fmt.Fprintf(b, "workbench %d: %s\n", w.PID, strings.Join(facts, ", "))
	if w.Config != "" {
		fmt.Fprintf(b, "  config  %s\n", w.Config)
	}
	if w.Project != "" {
		fmt.Fprintf(b, "  config  %s, beside it\n", w.Project)
	}
	if w.Untrusted != "" {
		fmt.Fprintf(b, "  config  %s\n", w.Untrusted)
	}
	if w.ConfigProblem != "" {
		first, _, _ := strings.Cut(w.ConfigProblem, "\n")
		fmt.Fprintf(b, "  config  it has a fault, and the one before goes on: %s\n", first)
	}
	for _, line := range clientLines(w) {
		fmt.Fprintf(b, "  client  %s\n", line)
	}
	rows := groups(w)
	if len(rows) == 0 {
		b.WriteString("  no toolbox is open\n")
		return
	}
	t := terminal.Table{Head: []string{"  STATE", "SERVER", "TOOLS", "CALLS", "FAILED", "NOW", "KEPT", "PID"}}
	for _, g := range rows {
		t.Add("  "+g.stateText(), cut.Within(g.toolbox+"/"+g.server, 24), fmt.Sprint(g.worst.Tools), fmt.Sprint(g.calls.All()), fmt.Sprint(g.calls.Bad()), g.now(), terminal.Bytes(g.kept), g.pid())
	}
	b.WriteString(t.Draw(b.width, b.paint))
	for _, g := range rows {
		g.explain(b)
	}
}

// where says how clients come to it.
func where(w *status.Workbench) string {
	if w.Address != "" {
		return w.Address
	}
	return "standard input and output"
}

// clientLines counts the sessions by what their clients call themselves.
func clientLines(w *status.Workbench) []string {
	counts := make(map[string]int)
	for _, s := range w.Sessions {
		name := strings.TrimSpace(s.Client + " " + s.Version)
		if name == "" {
			name = "one that did not say who it is"
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
		lines = append(lines, cut.Within(name, pictureWidth-10))
	}
	slices.Sort(lines)
	return lines
}

// group is a server of the configuration: one that runs, or one a session.
type group struct {
	toolbox, server string
	calls           status.Outcomes
	worst           status.Server
	states          map[string]int
	members         int
	inFlight        int
	queued          int
	kept            int64
	refused         uint64 // how often there was no room for more
	dropped         uint64
}

// groups gives the servers of a workbench: first those that need attention,
// then as the configuration has them.
func groups(w *status.Workbench) []*group {
	var all []*group
	for b, srv := range w.Servers() {
		i := slices.IndexFunc(all, func(g *group) bool { return g.toolbox == b.Name && g.server == srv.Name })
		if i < 0 {
			i = len(all)
			all = append(all, &group{toolbox: b.Name, server: srv.Name, worst: *srv, states: make(map[string]int)})
		}
		g := all[i]
		if urgency(srv.State) < urgency(g.worst.State) {
			g.worst = *srv
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
			if c.Toolbox == g.toolbox && c.Server == g.server {
				g.calls = c.Outcomes
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *group) int { return cmp.Compare(urgency(a.worst.State), urgency(b.worst.State)) })
	return all
}

// urgency orders states, the most urgent first.
func urgency(state string) int {
	order := []toolbox.State{toolbox.Failed, toolbox.NeedsLogin, toolbox.Open, toolbox.Backoff, toolbox.Starting, toolbox.Installing, toolbox.Ready, toolbox.Stopped, toolbox.Disabled}
	return slices.Index(order, toolbox.State(state)) // one that is not known is the most urgent
}

// stateText is the state, or how many are in each.
func (g *group) stateText() string {
	if g.members == 1 {
		return g.worst.State
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
func (g *group) now() string {
	if g.queued > 0 {
		return fmt.Sprintf("%d+%d", g.inFlight, g.queued)
	}
	return fmt.Sprint(g.inFlight)
}

func (g *group) pid() string {
	if g.members == 1 && g.worst.PID != 0 {
		return fmt.Sprint(g.worst.PID)
	}
	return "-"
}

// cause is why it is not ready, on one line.
func (g *group) cause() string {
	return strings.Join(strings.Fields(g.worst.Cause), " ")
}

// explain says of a server that needs attention what is wrong and what to do,
// and of any what is odd.
func (g *group) explain(b *drawing) {
	s := &g.worst
	if s.Advice == "" && len(s.Notes) == 0 && g.refused == 0 && g.dropped == 0 {
		return // it is ready, or has nothing to do
	}
	fmt.Fprintf(b, "\n  %s/%s: %s for %s", g.toolbox, g.server, b.paint.State(s.State), age(s.Since))
	if s.Next != nil && time.Until(*s.Next) > 0 {
		fmt.Fprintf(b, ", tried again in %s", time.Until(*s.Next).Round(time.Second))
	}
	b.WriteString("\n")
	if s.Cause != "" {
		b.WriteString(terminal.Wrap(g.cause(), "    ", b.text()))
	}
	for _, note := range s.Notes {
		b.WriteString(terminal.Wrap(note, "    ", b.text()))
	}
	if g.refused > 0 {
		b.WriteString(terminal.Wrap(fmt.Sprintf("no more was kept because of it %d times: its account was full", g.refused), "    ", b.text()))
	}
	if g.dropped > 0 {
		b.WriteString(terminal.Wrap(fmt.Sprintf("%d of its notifications were left out: the client did not keep up", g.dropped), "    ", b.text()))
	}
	if s.Advice != "" {
		b.WriteString("    ->" + strings.TrimPrefix(terminal.Wrap(s.Advice, "       ", b.text()), "      "))
	}
}

// age is the time since, in the two units that say most.
func age(since time.Time) string {
	d := time.Since(since)
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
