package toolbox

import (
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/ring"
)

// How much is kept of what one server writes to standard error.
const (
	maxLines     = 2000
	maxLineBytes = 256 << 10
)

// lines are what a server wrote to standard error, and how it fared.
type lines struct {
	kept  *ring.Ring[calls.Line]
	masks *mask.Set
}

func newLines(charged *account.Account, masks *mask.Set) *lines {
	return &lines{ring.New[calls.Line](maxLines, maxLineBytes, charged), masks}
}

// Lines has what the server wrote to standard error, whichever of its processes it was, and between that how it fared.
func (l *lines) Lines() *ring.Ring[calls.Line] { return l.kept }

// wrote keeps a line of the server, and returns it without secrets.
func (l *lines) wrote(text foreign.Text) foreign.Text {
	line := calls.Line{Time: calls.Time{Time: time.Now().Round(0)}, Text: foreign.NewText(l.masks.Text(text.String()))}
	l.kept.Add(line, line.Size())
	return line.Text
}

// noteState keeps a change of the server's state, with its cause, among its lines.
func (l *lines) noteState(st *Status) {
	text := "server " + string(st.State)
	if st.Cause != nil {
		text += ": " + st.Cause.Error()
	}
	line := calls.Line{Time: calls.Time{Time: st.Since.Round(0)}, Text: foreign.NewText(l.masks.Text(text)), Note: true}
	l.kept.Add(line, line.Size())
}

// WroteSince gives the last lines that the server wrote to standard error at a moment or after it.
func (l *lines) WroteSince(since time.Time) (wrote []calls.Line) {
	for line := range l.kept.All() {
		if !line.Note && !line.Time.Before(since.Round(0)) {
			wrote = append(wrote, line)
		}
	}
	return slices.Clone(wrote[max(0, len(wrote)-calls.MaxStderr):])
}
