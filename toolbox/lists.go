package toolbox

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcp-workbench/workbench/internal/backoff"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/offered"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// optionalList is how long a list that a server need not have may take.
const optionalList = 5 * time.Second

// offers reports whether the server says that it has such a list.
func (h *hello) offers(k Kind) bool {
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

// list reads a list, as far as there is room beside the others.
func (c *conn) list(ctx context.Context, k Kind) offered.Reading {
	usable := func(it offered.Item) bool { return k != Tools || c.link.Usable(it.Key.Verbatim(), it.Raw) }
	r := offered.Read(k, c.server.lists.Room(k), usable, func(method string, params []byte, take func([]byte) (offered.Page, error)) (offered.Page, error) {
		return c.page(ctx, method, params, take)
	})
	var refusal *link.RPCError
	none := k != Tools && errors.As(r.Err, &refusal) && refusal.Code == wire.CodeMethodNotFound
	r.Unread = r.Err != nil && !none
	return r
}

// listTries is how often a page of a list is asked for, and listRest how long
// is waited before the second time; it doubles.
const (
	listTries = 3
	listRest  = 200 * time.Millisecond
)

// page asks for a page of a list, and again if a remote server is in trouble:
// reading a list twice does no harm.
func (c *conn) page(ctx context.Context, method string, params []byte, take func([]byte) (offered.Page, error)) (offered.Page, error) {
	for try := 1; ; try++ {
		p, err := consult(ctx, c, method, params, take)
		var trouble *remote.StatusError
		if err == nil || try == listTries || !errors.As(err, &trouble) || trouble.Status < http.StatusInternalServerError {
			return p, err
		}
		rest := time.NewTimer(backoff.Jitter(listRest << (try - 1)))
		select {
		case <-rest.C:
		case <-c.link.Done():
			rest.Stop()
			return offered.Page{}, err
		case <-ctx.Done():
			rest.Stop()
			return offered.Page{}, err
		}
	}
}

// first reads the lists at a start: the tools, which the server is not ready
// without, and in the background what else it offers.
func (s *Server) first(ctx context.Context, c *conn) error {
	s.lists.Drop(c.hello.offers)
	refused := false
	if c.hello.offers(Tools) {
		r := c.list(ctx, Tools)
		if refused = r.Failed(); refused && (!errors.As(r.Err, new(*link.RPCError)) || speaksModern(r.Err)) {
			return r.Err
		}
		s.lists.Store(Tools, r)
	}
	if !refused {
		s.at.noteSeen(time.Time{})
	}
	for _, k := range []Kind{Resources, Prompts, Skills} {
		if c.hello.offers(k) {
			s.reading.ask(c, k)
		}
	}
	return nil
}

// read reads a list once, and tells the peer if it changed. Resources bring their templates with them.
func (s *Server) read(c *conn, k Kind) {
	ctx, cancel := context.WithTimeoutCause(s.life, optionalList, &TimeoutError{What: "list", After: optionalList})
	defer cancel()
	differs := s.lists.Store(k, c.list(ctx, k))
	if k == Resources {
		differs = s.lists.Store(Templates, c.list(ctx, Templates)) || differs
	}
	if differs {
		s.peer.Changed(s, k)
	}
}

// ReadSkills reads the skills of the server, which says nothing when they change, and gives those that are offered; nil if
// they cannot be read.
func (s *Server) ReadSkills(ctx context.Context) []Item {
	ctx, cancel := context.WithTimeoutCause(ctx, optionalList, &TimeoutError{What: "list", After: optionalList})
	defer cancel()
	_, c, err := s.await(ctx)
	if err != nil {
		return nil
	}
	s = s.present()
	r := c.list(ctx, Skills)
	if r.Failed() {
		return nil
	}
	if s.lists.Store(Skills, r) {
		s.remember()
		s.peer.Changed(s, Skills)
	}
	return append([]Item{}, s.Items(Skills)...)
}
