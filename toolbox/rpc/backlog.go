package rpc

import (
	"sync/atomic"

	"github.com/mcp-workbench/workbench/internal/account"
)

// backlog is what a server said that waits for a client that reads slowly.
type backlog struct {
	unread atomic.Pointer[account.Account] // where it waits; nil if it goes to the client at once
	held   atomic.Int32                    // how many messages wait to get there
}

// holds reports whether a message waits, so that nothing that comes after it is read.
func (b *backlog) holds() bool { return b.held.Load() > 0 }

// hand calls give, with room for size bytes, and waits for that, which waited reports; the end of over leaves it
// undone.
func (b *backlog) hand(size int, over <-chan struct{}, waited, give func()) {
	unread := b.unread.Load()
	if !unread.TryAwait(size) {
		b.held.Add(1)
		ok := unread.Await(size, over)
		waited() // before a call can be late that had to wait for it
		b.held.Add(-1)
		if !ok {
			return
		}
	}
	give()
	unread.Credit(size)
}
