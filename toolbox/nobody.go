package toolbox

import "github.com/mcp-workbench/workbench/internal/wire"

// Nobody is the [Peer] of servers that have no client: it answers nothing.
type Nobody struct{}

// Notification implements [Peer].
func (Nobody) Notification(*Server, *wire.Message, CallHandler) {}

// Withdraw implements [Peer].
func (Nobody) Withdraw(*Ask, *wire.Message) {}

// Changed implements [Peer].
func (Nobody) Changed(*Server, Kind) {}

// Request implements [Peer].
func (Nobody) Request(a *Ask, _ *wire.Message) {
	a.Refuse(wire.CodeMethodNotFound, "there is no client that could answer")
}
