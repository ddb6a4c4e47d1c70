package httpfront

import (
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
)

// LoggedRefusals is how many requests that are turned away are logged each minute.
const LoggedRefusals = loggedRefusals

// Sweep looks for sessions that nobody uses as if it were so late.
func (f *Front) Sweep(now time.Time) { f.mcp.clients.sweep(now) }

// Allow has less kept because of a user, and less left unread by a client. It comes before the first request.
func (f *Front) Allow(kept, unread int) {
	f.mcp.clients.mostKept, f.mcp.clients.mostUnread = kept, unread
}

// AccountOf is what is kept because of the clients of a user, who has one.
func AccountOf(f *Front, user string) *account.Account {
	f.mcp.clients.mu.Lock()
	defer f.mcp.clients.mu.Unlock()
	return f.mcp.clients.people[user].account
}
