package status

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/running"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/status"
)

// pictureWidth is the width of a terminal that nobody made wider.
const pictureWidth = 80

// picture shows workbenches to people.
func picture(e *cli.Environment, all []status.Workbench) string {
	if len(all) == 0 && len(e.RuntimeDirs()) == 0 {
		return fmt.Sprintf("no workbench can be found by its socket: %v\n", openfile.ErrNowhere)
	}
	if len(all) == 0 {
		return "no workbench is running for this user\n"
	}
	b := drawing{width: e.Width(), paint: e.Paint(e.Out)}
	for i := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		b.workbench(&all[i], running.Named(e, &all[i]))
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

func (b *drawing) workbench(w *status.Workbench, config string) {
	facts := []string{where(w), "up " + running.Age(w.Since)}
	if w.RSS > 0 {
		facts = append(facts, fmt.Sprintf("%.1f MB", float64(w.RSS)/1e6))
	}
	fmt.Fprintf(b, "workbench %d: %s\n", w.PID, strings.Join(facts, ", "))
	if w.Config != "" {
		fmt.Fprintf(b, "  config  %s\n", cli.Shown(w.Config))
	}
	if w.Project != "" {
		fmt.Fprintf(b, "  config  %s, beside it\n", cli.Shown(w.Project))
	}
	if w.Untrusted != "" {
		fmt.Fprintf(b, "  config  %s\n", w.Untrusted)
	}
	if w.ConfigProblem != "" {
		first, _, _ := strings.Cut(w.ConfigProblem, "\n")
		fmt.Fprintf(b, "  config  it has a fault, and the one before stays in use: %s\n", first)
	}
	for _, line := range running.Clients(w) {
		fmt.Fprintf(b, "  client  %s\n", line)
	}
	rows := running.Groups(w)
	if len(rows) == 0 {
		b.WriteString("  no toolbox is open\n")
		return
	}
	t := terminal.Table{Head: running.Columns()}
	for _, g := range rows {
		t.Add(g.Cells()...)
	}
	b.indented(t.Draw(max(b.width-2, 0), b.paint))
	for _, g := range rows {
		if text := g.Explain(b.text()-2, b.paint, config); text != "" {
			b.indented("\n" + text)
		}
	}
}

// indented writes lines moved to the right.
func (b *drawing) indented(text string) {
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
}

// where says how clients come to it.
func where(w *status.Workbench) string {
	if w.Address != "" {
		return w.Address
	}
	return "standard input and output"
}
