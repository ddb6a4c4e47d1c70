package top

import (
	"maps"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

// waiting are the calls that wait for a person.
type waiting struct {
	of    map[string][]approval.Call // by the number of the workbench's process
	calls []approval.Call
}

func (w *waiting) heard(what any) {
	switch what := what.(type) {
	case waits:
		w.of[what.pid] = what.calls
	case gone:
		delete(w.of, what.pid)
	default:
		return
	}
	w.calls = slices.Concat(slices.Collect(maps.Values(w.of))...)
	slices.SortFunc(w.calls, func(a, b approval.Call) int { return a.Until.Compare(b.Until) })
}

func (w *waiting) name() string         { return "waiting" }
func (w *waiting) len() int             { return len(w.calls) }
func (w *waiting) id(row int) string    { return w.calls[row].ID }
func (w *waiting) none() string         { return "no call waits for a person" }
func (w *waiting) columns() []string    { return []string{"ID", "FOR", "CALL"} }
func (w *waiting) words(row int) string { return w.calls[row].Text() }

func (w *waiting) cells(row int) []string {
	c := &w.calls[row]
	return []string{foreign.NewName(c.ID).String(), time.Until(c.Until).Round(time.Second).String(), foreign.NewText(c.Text()).String()}
}

func (w *waiting) about(row, width int) string {
	return terminal.Wrap(foreign.Block(w.calls[row].Text()), "", width)
}

func (w *waiting) keys() []key {
	return []key{
		{key: "y", does: "agree", command: func(row int) []string { return []string{"approve", w.calls[row].ID} }},
		{key: "n", does: "refuse", command: func(row int) []string { return []string{"approve", "--refuse", w.calls[row].ID} }},
	}
}
