package proxy

import (
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// showPage notes that the client reads a page, which may call from now on.
func showPage(sh *shelf.Shelf, srv *toolbox.Server, uri string) {
	if strings.HasPrefix(uri, naming.PageScheme) {
		sh.Routes().Places.ShowPage(srv)
	}
}

// callFromApp makes a call of a tool by the name that its server gives it, as pages of apps do; it reports whether the
// name means one, or several.
func (cr *caller) callFromApp(c *call, name string) bool {
	to, err := cr.shelf.Routes().Tools.FromApp(name)
	if err == naming.ErrUnknown {
		return false
	}
	f := cr.desk.take(c)
	switch {
	case f == nil:
	case err != nil:
		f.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: err.Error()})
	default:
		cr.callAs(f, c, to)
	}
	return true
}

// withPlaces returns a result with the uris by which the client knows what is the server's.
func withPlaces(sh *shelf.Shelf, f *flight, m *wire.Message) *wire.Message {
	switch {
	case f.alias:
		return f.withSkills(m)
	case f.tool:
		if now := sh.Routes(); now.SharePages {
			return edited(m, now.Places.PageEdits(f.server.Load(), m.Raw, m.Result))
		}
	}
	return m
}
