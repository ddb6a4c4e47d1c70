package proxy

import (
	"sync"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// turns has requests that wait for the same thing go on in the order in which they came.
type turns struct {
	account *account.Account // is charged for what is not a request

	mu   sync.Mutex
	last map[naming.Want]chan struct{} // closed when all that have come have gone on; there is none then
}

func newTurns(account *account.Account) *turns {
	return &turns{account: account, last: make(map[naming.Want]chan struct{})}
}

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

// waiterSize is charged for what waits besides its bytes: each has a goroutine.
const waiterSize = 4 << 10

// behind has f, which holds so many bytes, done when all have gone on that wait for a server; it reports false, and does
// nothing, if nobody waits or there is no room for more that do. All who wait go on at the end of the session at the
// latest.
func (t *turns) behind(srv *toolbox.Server, bytes int, f func()) bool {
	bytes += waiterSize
	if !t.waited(of(srv)) || !t.account.Charge(bytes) {
		return false
	}
	wait, done := t.take(of(srv))
	go func() {
		defer done()
		wait()
		f()
		t.account.Credit(bytes)
	}()
	return true
}
