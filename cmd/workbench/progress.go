package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/mcp-workbench/workbench/internal/cut"
)

// progressLine is the last line of a terminal, where it is shown what goes on. Nothing is written before something goes on.
type progressLine struct {
	to io.Writer

	mu     sync.Mutex
	shown  bool
	paused bool
}

const clearLine = "\r\x1b[K"

// maxStatus is how many characters of a status are shown: the line is not to wrap.
const maxStatus = 70

// status replaces the line.
func (l *progressLine) status(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused {
		return
	}
	fmt.Fprint(l.to, clearLine+cut.Within(text, maxStatus))
	l.shown = true
}

// progress shows how far a call is; a total of 0 is not known.
func (l *progressLine) progress(done, total float64, message string) {
	text := fmt.Sprintf("%g", done)
	if total > 0 {
		const width = 20
		n := int(min(max(done/total, 0), 1) * width)
		text = fmt.Sprintf("[%s%s] %g/%g", strings.Repeat("#", n), strings.Repeat(".", width-n), done, total)
	}
	l.status(strings.TrimSpace(text + " " + message))
}

// say prints a line of its own above it.
func (l *progressLine) say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clearLocked()
	fmt.Fprintln(l.to, text)
}

func (l *progressLine) clearLocked() {
	if l.shown {
		fmt.Fprint(l.to, clearLine)
		l.shown = false
	}
}

// pause leaves the terminal to a question, until resume.
func (l *progressLine) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clearLocked()
	l.paused = true
}

func (l *progressLine) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = false
}

// end takes the line away.
func (l *progressLine) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clearLocked()
}
