package proxy

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/toolbox"
)

// A client that does not keep up is sent no more of what it can do without, which is what has no reply. News of
// resources are sent once when it has caught up. Replies wait where servers are read (toolbox.Options.Unread), and so do
// questions to a client on standard input and output; a stream over HTTP is cut off.

// maxArrears bounds the news of a server that a client gets when it has caught up.
const maxArrears = 1000

// catchUp is how often is looked whether it has.
const catchUp = 100 * time.Millisecond

// line is the way to a client for what belongs to none of its requests, and the Outlet of those of a stdio client.
type line struct {
	send  func(msg []byte)
	begin func(func(context.Context)) bool
	// far reports whether the client has much of what was sent still to read. It is set before the first message;
	// without it the client is never behind.
	far func() bool

	mu      sync.Mutex
	unread  *account.Account        // is charged for what the client has not read, where servers can wait for it
	arrears map[arrear]struct{}     // what a client that is behind gets later
	owed    map[*toolbox.Server]int // how many of these are of a server
}

// arrear is a message that a client gets later: with a request, or on its own.
type arrear struct {
	to   *request // nil for none
	from *toolbox.Server
	msg  string
}

// size is what the server's account is charged for it.
func (n *arrear) size() int { return len(n.msg) + account.Each }

func newLine(send func([]byte), begin func(func(context.Context)) bool) *line {
	return &line{send: send, begin: begin, arrears: make(map[arrear]struct{}), owed: make(map[*toolbox.Server]int)}
}

// throttle says how far behind the client is.
func (l *line) throttle(far func() bool, unread *account.Account) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.far, l.unread = far, unread
}

// account gives the account of what the client has not read; nil where servers cannot wait for it.
func (l *line) account() *account.Account {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unread
}

// Message implements Outlet.
func (l *line) Message(msg []byte) { l.send(msg) }

// Behind implements Outlet.
func (l *line) Behind() bool { return l.far != nil && l.far() }

// From implements Outlet.
func (l *line) From() Origin { return Origin{Pipe: true} }

// Finish implements Outlet.
func (l *line) Finish(reply []byte) {
	if reply != nil {
		l.send(reply)
	}
}

// isBehind reports whether the client is far behind with what belongs to a request, or, with nil, to none.
func (l *line) isBehind(r *request) bool {
	if r != nil {
		return r.out.Behind()
	}
	return l.Behind()
}

// emit sends a message of a server with the request it belongs to, or, if it belongs to none, on its own.
func (l *line) emit(carrier *request, msg []byte) {
	if carrier != nil && !carrier.over.Load() {
		carrier.out.Message(msg)
		return
	}
	l.send(msg)
}

// spare sends what a server said of its own accord, unless the client is behind.
func (l *line) spare(srv *toolbox.Server, carrier *request, msg []byte) {
	if l.isBehind(carrier) {
		srv.Counts().Dropped.Add(1)
		return
	}
	l.emit(carrier, msg)
}

// news sends a message that means the same however often it comes; if the client is behind, once when it has caught up.
func (l *line) news(srv *toolbox.Server, to *request, msg []byte) {
	behind := l.isBehind(to)
	l.mu.Lock()
	first := len(l.arrears) == 0
	if first && !behind {
		l.mu.Unlock()
		l.emit(to, msg)
		return
	}
	n := arrear{to, srv, string(msg)}
	_, again := l.arrears[n]
	keep := !again && l.owed[srv] < maxArrears && srv.Account().Charge(n.size())
	if keep {
		l.arrears[n] = struct{}{}
		l.owed[srv]++
	} else {
		srv.Counts().Dropped.Add(1)
	}
	l.mu.Unlock()
	if first && keep && !l.begin(l.payArrears) {
		l.forget()
	}
}

// payArrears sends the news that wait as soon as the client has caught up.
func (l *line) payArrears(ctx context.Context) {
	look := time.NewTicker(catchUp)
	defer look.Stop()
	for {
		l.mu.Lock()
		all := slices.Collect(maps.Keys(l.arrears))
		l.mu.Unlock()
		for _, n := range all {
			if l.isBehind(n.to) {
				continue
			}
			l.mu.Lock()
			due := l.forgetLocked(n)
			l.mu.Unlock()
			if due && (n.to == nil || !n.to.over.Load()) {
				l.emit(n.to, []byte(n.msg))
			}
		}
		l.mu.Lock()
		left := len(l.arrears)
		l.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			l.forget()
			return
		}
	}
}

// forget takes out all news that wait.
func (l *line) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := range l.arrears {
		l.forgetLocked(n)
	}
}

// forgetLocked takes news out of those that wait; it reports whether they were there.
func (l *line) forgetLocked(n arrear) bool {
	_, due := l.arrears[n]
	if due {
		delete(l.arrears, n)
		if l.owed[n.from]--; l.owed[n.from] == 0 {
			delete(l.owed, n.from)
		}
		n.from.Account().Credit(n.size())
	}
	return due
}
