package httpfront

import (
	"fmt"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// debt is what a client has still to read. A nil one allows everything.
type debt struct {
	client *account.Account // for answers: over it the client's own servers are not read
	user   *account.Account // for all that clients of the user have not read: over it no more is kept
}

// sharing is how many programs that share a session may each leave unread what one that is alone may: one that hangs is
// not to have the servers of the others wait.
const sharing = 4

// keep charges the user for a message; it reports false if it is not to be kept.
func (d *debt) keep(n int) bool {
	if d == nil {
		return true
	}
	if n <= account.Brief {
		d.user.Keep(n)
		return true
	}
	return d.user.Charge(n)
}

// isMuch reports whether so much is unread that what can be left out is.
func (d *debt) isMuch() bool { return d != nil && d.user.Kept() > d.user.Limit()/2 }

// drop takes back what keep has charged.
func (d *debt) drop(n int) {
	if d != nil {
		d.user.Credit(n)
	}
}

// answer charges the client for an answer that was kept; a negative one takes that back.
func (d *debt) answer(n int) {
	if d != nil {
		d.client.Keep(n)
	}
}

// leftOut is the reply in place of one that is not to be kept.
func (d *debt) leftOut(reply []byte) []byte {
	var m wire.Message
	_ = wire.Scan(reply, &m) // it was written by us
	return wire.AppendError(nil, m.Raw[m.ID.Start:m.ID.End], wire.CodeInternal, fmt.Sprintf("the answer of %d bytes is left out, because this user has more than %d bytes "+
		"of answers still to read; what was asked for was carried out", len(reply), d.user.Limit()), nil)
}
