package httpfront

import "time"

// LoggedRefusals is how many requests that are turned away are logged each minute.
const LoggedRefusals = loggedRefusals

// Sweep looks for sessions that nobody uses as if it were so late.
func (f *Front) Sweep(now time.Time) { f.mcp.clients.sweep(now) }
