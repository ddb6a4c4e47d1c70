package top

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/running"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

// mostCalls is how many calls are kept here, the last.
const mostCalls = 2000

// record is what workbenches have recorded, the last calls first.
type record struct {
	calls  []calls.Call
	missed uint64
}

func (r *record) heard(what any) {
	switch what := what.(type) {
	case ended:
		r.missed += what.missed
		r.add(what.calls)
	case gone: // nobody says any more what became of those that it had
		r.calls = slices.DeleteFunc(r.calls, func(c calls.Call) bool { return c.Outcome == calls.Running && strings.HasPrefix(c.ID, what.pid+"-") })
	}
}

// add adds calls, each once.
func (r *record) add(more []calls.Call) {
	at := make(map[string]int, len(r.calls))
	for i := range r.calls {
		at[r.calls[i].ID] = i
	}
	for _, c := range more {
		i, is := at[c.ID]
		switch {
		case !is:
			at[c.ID] = len(r.calls)
			r.calls = append(r.calls, c)
		case c.Outcome != calls.Running:
			r.calls[i] = c
		}
	}
	slices.SortStableFunc(r.calls, func(a, b calls.Call) int { return b.Time.Compare(a.Time.Time) })
	r.calls = r.calls[:min(len(r.calls), mostCalls)]
}

func (r *record) name() string      { return "calls" }
func (r *record) len() int          { return len(r.calls) }
func (r *record) id(row int) string { return r.calls[row].ID }
func (r *record) none() string      { return "no call was made yet" }
func (r *record) columns() []string { return []string{"TIME", "OUTCOME", "TOOK", "TOKENS", "CALL"} }

func (r *record) words(row int) string {
	c := &r.calls[row]
	words := []string{c.ID, c.Outcome, c.Client, c.User, c.Method, c.Name(), c.Error}
	if c.Failed() {
		words = append(words, "failed")
	}
	return strings.Join(words, " ")
}

// cells are as wide for one call as for any, so that columns stay where they are while calls come.
func (r *record) cells(row int) []string {
	all := running.Cells(&r.calls[row])
	return []string{all[1], fmt.Sprintf("%-10s", all[2]), fmt.Sprintf("%8s", all[3]), fmt.Sprintf("%6s", all[5]), all[7]}
}

func (r *record) about(row, width int) string {
	c := &r.calls[row]
	text := fmt.Sprintf("%s of %s, session %s, user %s", foreign.NewName(c.ID), foreign.NewName(c.Client), foreign.NewName(c.Session), foreign.NewName(c.User))
	if r.missed > 0 {
		text += fmt.Sprintf("; %d calls came too fast to show", r.missed)
	}
	text += "\n"
	if c.Error != "" {
		text += terminal.Wrap(foreign.NewText(c.Error).String(), "  ", width)
	}
	return text
}

func (r *record) keys() []key {
	of := func(words ...string) func(int) []string {
		return func(row int) []string { return append(slices.Clone(words), r.calls[row].ID) }
	}
	return []key{{key: "enter", does: "open", command: of("calls", "show")}, {key: "r", does: "repeat", command: of("calls", "repeat")}}
}
