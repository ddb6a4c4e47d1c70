package toolbox

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-workbench/workbench/internal/backoff"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/offered"
	"github.com/mcp-workbench/workbench/toolbox/remote"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// upkeep is the rule for what workbench asks of a server besides calls: lists, and word of what changes. What failed is
// asked for again for as long as the connection lives, since calls go on meanwhile. It belongs to one goroutine at a
// time.
type upkeep struct {
	conn *rpc.Conn
	last time.Duration // the last rest
}

// upkeepRest is the first rest of an upkeep. The rest doubles with each failure in a row, up to [backoff.Max].
const upkeepRest = time.Second

// next returns how long to rest after a failure: not less than a server wants to be left alone.
func (u *upkeep) next(failure error) time.Duration {
	u.last = min(max(2*u.last, upkeepRest), backoff.Max)
	rest := backoff.Jitter(u.last)
	if refused, ok := errors.AsType[*remote.StatusError](failure); ok {
		rest = max(rest, time.Until(refused.Next))
	}
	return rest
}

// rest waits so long, or until something else wakes the upkeep. It reports whether the connection lives on.
func (u *upkeep) rest(life context.Context, d time.Duration, woken <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	case <-u.conn.Link().Done():
		return false
	case <-life.Done():
		return false
	}
	return true
}

// isFinal reports whether a server said that it does not have what it was asked for: it is not asked again.
func isFinal(err error) bool {
	switch link.CodeOf(err) {
	case wire.CodeMethodNotFound, wire.CodeInvalidParams, wire.CodeInvalidRequest:
		return true
	}
	return false
}

// listTries is how often a page of a list is asked for, and listRest how long is waited before the second time; it
// doubles.
const (
	listTries = 3
	listRest  = 200 * time.Millisecond
)

// page asks for a page of a list, and again if a remote server is in trouble: reading a list twice does no harm. One
// that wants to be left alone is not asked meanwhile, and nothing here waits for that.
func page(ctx context.Context, c *rpc.Conn, method string, params []byte, take func([]byte) (offered.Page, error)) (offered.Page, error) {
	tries := upkeep{conn: c}
	for try := 1; ; try++ {
		p, err := rpc.Consult(ctx, c, method, params, take)
		trouble, _ := errors.AsType[*remote.StatusError](err)
		if trouble == nil || try == listTries || !trouble.IsPassing() || !trouble.Next.IsZero() {
			return p, err
		}
		if !tries.rest(ctx, backoff.Jitter(listRest<<(try-1)), nil) {
			return p, err
		}
	}
}
