package cli

import (
	"io"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
)

// Width is how many columns standard output has; 0 if it is no terminal.
func (e *Environment) Width() int {
	return terminal.Width(e.Out, e.Lookup)
}

// TextWidth is how wide text that is set in lines may be.
func TextWidth(e *Environment) int {
	if n := e.Width(); n > 0 {
		return min(max(n, 2*terminal.LeastText), 100)
	}
	return terminal.PlainText
}

// Print prints a table within the width of the terminal, if standard output is one.
func (e *Environment) Print(t *terminal.Table) error {
	_, err := io.WriteString(e.Out, t.Draw(e.Width(), e.Paint(e.Out)))
	return err
}

// Paint is that of a stream: a terminal that has colours, whose user has not said NO_COLOR.
func (e *Environment) Paint(stream any) terminal.Paint {
	return terminal.PaintOf(stream, e.Lookup)
}
