package toolbox

import (
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/ring"
)

// How much is kept of what one server writes to standard error.
const (
	maxLines     = 2000
	maxLineBytes = 256 << 10
)

// Lines has what the server wrote to standard error, whichever of its processes it was, and between that how it fared.
func (s *Server) Lines() *ring.Ring[calls.Line] { return s.lines }

// wrote keeps a line of the server.
func (s *Server) wrote(text foreign.Text) {
	line := calls.Line{Time: calls.Time{Time: time.Now().Round(0)}, Text: foreign.NewText(s.box.opts.Masks.Text(text.String()))}
	s.lines.Add(line, line.Size())
}

// noteState keeps a change of the server's state, with its cause, among its lines.
func (s *Server) noteState(st *Status) {
	text := "server " + string(st.State)
	if st.Cause != nil {
		text += ": " + st.Cause.Error()
	}
	line := calls.Line{Time: calls.Time{Time: st.Since.Round(0)}, Text: foreign.NewText(s.box.opts.Masks.Text(text)), Note: true}
	s.lines.Add(line, line.Size())
}

// WroteSince gives the last lines that the server wrote to standard error at a moment or after it.
func (s *Server) WroteSince(since time.Time) []calls.Line {
	var lines []calls.Line
	for line := range s.lines.All() {
		if !line.Note && !line.Time.Before(since.Round(0)) {
			lines = append(lines, line)
		}
	}
	return slices.Clone(lines[max(0, len(lines)-calls.MaxStderr):])
}
