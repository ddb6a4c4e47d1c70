package toolbox

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-workbench/workbench/internal/backoff"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/offered"
	"github.com/mcp-workbench/workbench/toolbox/remote"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// offers reports whether a server said that it has such a list.
func offers(h *rpc.Hello, k Kind) bool {
	switch k {
	case Tools:
		return h.Capabilities.Tools != nil
	case Prompts:
		return h.Capabilities.Prompts != nil
	case Skills:
		return eras.HasExtension(h.RawCapabilities, eras.Skills)
	default:
		return h.Capabilities.Resources != nil
	}
}

// tells reports whether a server says that it tells when such a list changes.
func tells(h *rpc.Hello, k Kind) bool {
	of := map[Kind][]byte{Tools: h.Capabilities.Tools, Prompts: h.Capabilities.Prompts, Resources: h.Capabilities.Resources}[k]
	return string(wire.Get(of, wire.Whole(of), "listChanged")) == "true"
}

// Refresh has lists of the server read anew that it gave for a time which is over, unless it tells of their changes. It
// reports whether there are any.
func (s *Server) Refresh(kinds ...Kind) (stale bool) {
	c := s.at.live()
	if c == nil {
		return false
	}
	for _, k := range kinds {
		if k == Templates {
			k = Resources
		}
		if s.reading.isStale(k) && !(tells(c.Hello(), k) && s.watches.hears()) {
			s.reading.ask(c, k)
			stale = true
		}
	}
	return stale
}

// readList reads a list, as far as there is room.
func readList(ctx context.Context, c *rpc.Conn, k Kind, room int) offered.Reading {
	usable := func(it offered.Item) bool { return k != Tools || c.Link().Usable(it.Key.Verbatim(), it.Raw) }
	r := offered.Read(k, room, usable, func(method string, params []byte, take func([]byte) (offered.Page, error)) (offered.Page, error) {
		return page(ctx, c, method, params, take)
	})
	none := k != Tools && link.CodeOf(r.Err) == wire.CodeMethodNotFound
	r.Unread = r.Err != nil && !none
	return r
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
