package proxy

import (
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// showPage notes that the client reads a page, which may call from now on.
func (s *Session) showPage(srv *toolbox.Server, uri string) {
	if strings.HasPrefix(uri, naming.PageScheme) {
		s.mu.Lock()
		s.claims.ShowPage(naming.AddressOf(srv))
		s.mu.Unlock()
	}
}

// callFromApp makes a call of a tool by the name that its server gives it, as pages of apps do; it reports whether the name
// means one, or several.
func (s *Session) callFromApp(c *call, name string) bool {
	s.mu.Lock()
	to, err := s.routes.tools.FromApp(name)
	s.mu.Unlock()
	if err == naming.ErrUnknown {
		return false
	}
	f := s.take(c)
	switch {
	case f == nil:
	case err != nil:
		f.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: err.Error()})
	default:
		s.callAs(f, c, to)
	}
	return true
}

// withPlaces returns a result with the uris by which the client knows what is the server's.
func (s *Session) withPlaces(f *flight, m *wire.Message) *wire.Message {
	switch {
	case f.alias:
		return f.withSkills(m)
	case f.tool && s.sharePages.Load():
		return s.withPages(f, m)
	}
	return m
}

// withPages returns a result of a server with the uris by which the client knows the server's pages.
func (s *Session) withPages(f *flight, m *wire.Message) *wire.Message {
	s.mu.Lock()
	places := s.routes.places
	s.mu.Unlock()
	return edited(m, places.PageEdits(f.server.Load(), m.Raw, m.Result))
}
