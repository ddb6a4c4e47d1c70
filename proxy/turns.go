package proxy

import (
	"sync"

	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// turns has requests that wait for the same thing go on in the order in which they came.
type turns struct {
	mu   sync.Mutex
	last map[naming.Want]chan struct{} // closed when all that have come have gone on; there is none then
}

func newTurns() *turns { return &turns{last: make(map[naming.Want]chan struct{})} }

// of is what those wait for who want something of a server.
func of(srv *toolbox.Server) naming.Want { return naming.Want{Toolbox: srv.Toolbox, Server: srv.Name} }

// marked is what those wait for whose toolboxes open without being asked for.
var marked naming.Want

// take gives what waits until all have gone on that came before for the same thing, and what is called after that, when
// the caller has.
func (t *turns) take(thing naming.Want) (wait, done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, own := t.last[thing], make(chan struct{})
	t.last[thing] = own
	wait = func() {
		if before != nil {
			<-before
		}
	}
	return wait, sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.last[thing] == own {
			delete(t.last, thing)
		}
		close(own)
	})
}

// waited reports whether anybody has come for a thing and not gone on.
func (t *turns) waited(thing naming.Want) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last[thing] != nil
}

// behind has f done when all have gone on that wait for a server; it reports false, and does nothing, if nobody waits.
// All who wait go on at the end of the session at the latest.
func (t *turns) behind(srv *toolbox.Server, f func()) bool {
	if !t.waited(of(srv)) {
		return false
	}
	wait, done := t.take(of(srv))
	go func() {
		defer done()
		wait()
		f()
	}()
	return true
}
