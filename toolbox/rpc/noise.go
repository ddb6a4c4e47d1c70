package rpc

import (
	"slices"
	"sync"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// noise is what a server wrote that is not a message.
type noise struct {
	mu    sync.Mutex
	lines int
	first []foreign.Text
}

const (
	noisyKept  = 5   // lines
	noisyBytes = 200 // of each
)

func (n *noise) add(line []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines++
	if len(n.first) < noisyKept {
		n.first = append(n.first, foreign.NewText(string(line[:min(len(line), noisyBytes)])))
	}
}

// heard returns how many lines there were, and the first of them.
func (n *noise) heard() (lines int, first []foreign.Text) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lines, slices.Clone(n.first)
}
