package proxy

import (
	"bytes"
	"slices"
	"sync"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// maxHeld is how many requests of servers wait for a call that can carry them.
const maxHeld = 16

// held is a request of a server, kept until a call can carry it.
type held struct {
	ask *toolbox.Ask
	raw []byte
}

// waiting are the requests of servers that no call of a modern client can carry yet.
type waiting struct {
	mu   sync.Mutex
	held []held
}

// add keeps a request; it reports false if that is too much.
func (w *waiting) add(a *toolbox.Ask, m *wire.Message) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.held) == maxHeld || !a.Hold(len(m.Raw)) {
		return false
	}
	w.held = append(w.held, held{a, bytes.Clone(m.Raw)})
	return true
}

// take gives the requests of a server that wait, and forgets them.
func (w *waiting) take(srv *toolbox.Server) (taken []held) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = slices.DeleteFunc(w.held, func(h held) bool {
		if h.ask.Server != srv {
			return false
		}
		taken = append(taken, h)
		return true
	})
	return taken
}

// withdraw forgets a request that needs no answer any more.
func (w *waiting) withdraw(a *toolbox.Ask) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = slices.DeleteFunc(w.held, func(h held) bool { return h.ask == a })
}
