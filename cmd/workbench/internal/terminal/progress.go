package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/mcp-workbench/workbench/internal/cut"
)

// Progress is the last line of a terminal, where it is shown what goes on. Nothing is written before something goes on.
type Progress struct {
	To io.Writer

	mu     sync.Mutex
	shown  bool
	paused bool
}

const (
	clearLine = "\r\x1b[K"
	// NoWrap and WrapAgain have a terminal cut lines that are longer than it is wide, and wrap them again.
	NoWrap, WrapAgain = "\x1b[?7l", "\x1b[?7h"
)

// maxStatus is how many characters of a status are shown.
const maxStatus = 70

// Status replaces the line.
func (l *Progress) Status(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused {
		return
	}
	fmt.Fprint(l.To, clearLine+NoWrap+cut.Within(text, maxStatus)+WrapAgain)
	l.shown = true
}

// Progress shows how far a call is; a total of 0 is not known.
func (l *Progress) Progress(done, total float64, message string) {
	text := fmt.Sprintf("%g", done)
	if total > 0 {
		const width = 20
		n := int(min(max(done/total, 0), 1) * width)
		text = fmt.Sprintf("[%s%s] %g/%g", strings.Repeat("#", n), strings.Repeat(".", width-n), done, total)
	}
	l.Status(strings.TrimSpace(text + " " + message))
}

// Say prints a line of its own above it.
func (l *Progress) Say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clearLocked()
	fmt.Fprintln(l.To, text)
}

func (l *Progress) clearLocked() {
	if l.shown {
		fmt.Fprint(l.To, clearLine)
		l.shown = false
	}
}

// Pause leaves the terminal to a question, until resume.
func (l *Progress) Pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clearLocked()
	l.paused = true
}

func (l *Progress) Resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = false
}

// End takes the line away.
func (l *Progress) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clearLocked()
}
