// Package account counts the bytes that are kept because of somebody: a server, a client, a user. What is kept is
// charged to an account where it is kept and credited when it goes. Nobody has workbench keep more than the account
// allows, whatever the things are and however many: what is over it is refused, with a word to whoever asked for it, or
// left out and counted. Which accounts there are and what they allow stands here alone:
//
//	account  what it pays for                                             over it
//	Server   its lists, its open questions, the ids of its tasks,         a list is cut, with a note; a question is
//	         replies that wait for a client to come back                  refused; the oldest tasks are forgotten; a
//	                                                                      reply is replaced by an error
//	Client   requests in progress, subscriptions                          refused
//	User     the same of all clients of one user together, and what they  refused; an answer is replaced by an error, or
//	         have not read over HTTP                                      its connection is broken off
//	Bodies   the bodies of requests that a user is sending over HTTP      they wait for one another, then are refused
//	Unread   what one client has not read                                 what has no reply is left out; for the rest
//	                                                                      the servers of the client are not read
//
// What is no longer than a line and of which there is one, such as a state or the name of a client, is not charged: it
// is bounded where it comes in.
package account

import (
	"sync"
	"sync/atomic"
)

// What the accounts allow, in bytes.
const (
	Server = 8 << 20
	Lists  = Server / 2 // the share of a server's account that its lists may have
	Client = 4 << 20
	User   = 64 << 20
	Bodies = 32 << 20
	Unread = 8 << 20
)

// Each is charged for a thing besides its bytes: what it takes to hold on to it.
const Each = 512

// Brief is how long a thing is, in bytes, for which nothing is refused: of such things there are no more than of
// requests and connections, which are bounded themselves.
const Brief = 4 << 10

// Account is what is kept because of one of them. Its methods may be called by several goroutines, and take no lock as
// long as nobody waits. A nil Account allows everything.
type Account struct {
	limit int64
	above *Account // which is charged for the same things

	kept    atomic.Int64
	refused atomic.Uint64

	waiting atomic.Int32  // how many are in Await
	turn    chan struct{} // held by the first of them
	mu      sync.Mutex
	freed   chan struct{} // closed at the next credit; nil if nobody waits for one
}

// New makes an account. What is charged to it is charged to the account above too, if that is not nil.
func New(limit int, above *Account) *Account {
	return &Account{limit: int64(limit), above: above, turn: make(chan struct{}, 1)}
}

// Charge charges n bytes if there is room for them, and counts the refusal if there is none.
func (a *Account) Charge(n int) bool {
	if a == nil {
		return true
	}
	if !a.add(n, false) {
		a.refused.Add(1)
		return false
	}
	if !a.above.Charge(n) {
		a.credit(n)
		a.refused.Add(1)
		return false
	}
	return true
}

// Keep charges n bytes of what is kept whether there is room or not; n may be negative.
func (a *Account) Keep(n int) {
	for ; a != nil; a = a.above {
		a.credit(-n)
	}
}

// Credit takes n bytes back that were charged.
func (a *Account) Credit(n int) { a.Keep(-n) }

// Await charges n bytes as soon as there is room in this account, in the order of the calls: more than it allows when
// it is empty. It charges nothing and reports false if over is closed before that.
func (a *Account) Await(n int, over <-chan struct{}) bool {
	if a.TryAwait(n) {
		return true
	}
	if !a.queue(n, over) {
		return false
	}
	a.above.Keep(n)
	return true
}

// TryAwait is Await that does not wait.
func (a *Account) TryAwait(n int) bool {
	if a == nil {
		return true
	}
	if a.waiting.Load() > 0 || !a.add(n, true) {
		return false
	}
	a.above.Keep(n)
	return true
}

// queue is Await for who has to wait.
func (a *Account) queue(n int, over <-chan struct{}) bool {
	a.waiting.Add(1)
	defer a.waiting.Add(-1)
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-over:
		return false
	}
	for {
		a.mu.Lock()
		if a.freed == nil {
			a.freed = make(chan struct{})
		}
		freed := a.freed
		a.mu.Unlock()
		if a.add(n, true) { // after freed was taken, so that no credit is missed
			return true
		}
		select {
		case <-freed:
		case <-over:
			return false
		}
	}
}

// add charges n bytes to this account alone if there is room, or, if that will do, nothing else.
func (a *Account) add(n int, alone bool) bool {
	for {
		kept := a.kept.Load()
		if kept+int64(n) > a.limit && !(alone && kept <= 0) {
			return false
		}
		if a.kept.CompareAndSwap(kept, kept+int64(n)) {
			return true
		}
	}
}

func (a *Account) credit(n int) {
	a.kept.Add(-int64(n))
	if n <= 0 || a.waiting.Load() == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.freed != nil {
		close(a.freed)
		a.freed = nil
	}
}

// Kept is how many bytes are charged at this moment.
func (a *Account) Kept() int64 {
	if a == nil {
		return 0
	}
	return a.kept.Load()
}

// Limit is how many bytes the account allows.
func (a *Account) Limit() int64 { return a.limit }

// Refused is how often there was no room.
func (a *Account) Refused() uint64 {
	if a == nil {
		return 0
	}
	return a.refused.Load()
}

// Held reports whether somebody waits for room.
func (a *Account) Held() bool { return a != nil && a.waiting.Load() > 0 }
