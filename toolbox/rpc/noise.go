package rpc

import (
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// noise is what a server wrote that is not a message.
type noise struct {
	mu    sync.Mutex
	lines int
	first []foreign.Text
	last  []said // that say something, as many as [foreign.Words] shows
}

// said is one line of it.
type said struct {
	line foreign.Text
	at   time.Time
}

const (
	noisyKept  = 5   // lines
	noisyBytes = 200 // of each
)

func (n *noise) add(line []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines++
	text := foreign.NewText(string(line[:min(len(line), noisyBytes)]))
	if len(n.first) < noisyKept {
		n.first = append(n.first, text)
	}
	if text.IsEmpty() {
		return
	}
	if len(n.last) == foreign.MaxWords {
		n.last = slices.Delete(n.last, 0, 1)
	}
	n.last = append(n.last, said{text, time.Now()})
}

// heard returns how many lines there were, and the first of them.
func (n *noise) heard() (lines int, first []foreign.Text) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lines, slices.Clone(n.first)
}

// since returns the last lines, of those that came after a moment.
func (n *noise) since(moment time.Time) (w foreign.Words) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.last {
		if !s.at.Before(moment) {
			w = append(w, s.line)
		}
	}
	return w
}
