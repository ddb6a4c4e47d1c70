package proxy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// A tool of the extension apps names a page of its server that a host shows beside the results of the tool. The page calls
// tools of its server by the names that this gives them, through the host and thus through workbench.

// pageScheme is what the uri of each page begins with.
const pageScheme = "ui://"

// appPlaces gives where in a tool's definition, or in a result, the uri of a page may stand.
func appPlaces() [][]string {
	return [][]string{{"_meta", "ui", "resourceUri"}, {"_meta", "ui/resourceUri"}}
}

// appURIs finds the uris of pages in the object at in.
func appURIs(raw []byte, in wire.Span) (found []wire.Span) {
	if !bytes.Contains(raw, []byte("esourceUri")) {
		return nil
	}
	for _, path := range appPlaces() {
		if span, err := wire.FindPath(raw, in, path...); err == nil && span.Present() && raw[span.Start] == '"' {
			found = append(found, span)
		}
	}
	return found
}

// pages gives the pages of the tools' apps, and the servers that have any.
func pages(tools []toolbox.Item) (found []identity, servers map[*toolbox.Server]bool) {
	servers = make(map[*toolbox.Server]bool)
	for _, it := range tools {
		for _, span := range appURIs(it.Raw, all(it.Raw)) {
			if uri, ok := wire.Unquote(it.Raw[span.Start:span.End]); ok {
				found = append(found, identity{it.Server, uri})
				servers[it.Server] = true
			}
		}
	}
	return found, servers
}

// pageEdits gives the edits that put the uris by which the client knows a server's pages into a definition or a result.
func (p *places) pageEdits(srv *toolbox.Server, raw []byte, in wire.Span) (edits []wire.Edit) {
	for _, span := range appURIs(raw, in) {
		uri, ok := wire.Unquote(raw[span.Start:span.End])
		if !ok {
			continue
		}
		if shown := p.shown(srv, uri); shown != uri {
			edits = append(edits, wire.Edit{Span: span, New: wire.AppendQuote(nil, shown)})
		}
	}
	return edits
}

// showPage notes that the client reads a page, which may call from now on.
func (s *Session) showPage(srv *toolbox.Server, uri string) {
	if strings.HasPrefix(uri, pageScheme) {
		s.mu.Lock()
		s.claims.shown[addressOf(srv)] = true
		s.mu.Unlock()
	}
}

// callFromApp makes a call of a tool by the name that its server gives it, as pages of apps do; it reports whether the name
// means one, or several.
func (s *Session) callFromApp(c *call, name string) bool {
	s.mu.Lock()
	to, err := s.routes.tools.fromApp(name)
	s.mu.Unlock()
	if err == errUnknown {
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
	return edited(m, places.pageEdits(f.server.Load(), m.Raw, m.Result))
}

// ofApps keeps the tools of servers that have apps by the names that the servers give them: a page calls tools by these.
// Whose page it is that calls cannot be seen, so that such a name leads somewhere only if one server has it of all that
// have apps, whether that tool is offered or not; and of several, if the client has read pages of that server alone.
func (d *directory) ofApps(has map[*toolbox.Server]bool) {
	d.apps = make(map[string][]route)
	for _, to := range d.items {
		if has[to.server] && !slices.ContainsFunc(d.apps[to.key], func(r route) bool { return r.server == to.server }) {
			d.apps[to.key] = append(d.apps[to.key], to)
		}
	}
}

// fromApp finds the tool that a page means by a name.
func (d *directory) fromApp(name string) (route, error) {
	found := d.apps[name]
	if shown := slices.DeleteFunc(slices.Clone(found), func(r route) bool { return !d.claims.shown[addressOf(r.server)] }); len(shown) == 1 {
		found = shown
	}
	switch {
	case len(found) == 0:
		return route{}, errUnknown
	case len(found) > 1:
		err := &unclearError{kind: d.kind, name: name}
		for _, to := range found {
			err.forms = append(err.forms, d.seenAs(to))
		}
		return route{}, err
	case found[0].held != "":
		return route{}, &heldError{d.kind, found[0]}
	case !d.claims.hold(appNames(), name, addressOf(found[0].server)):
		return route{}, fmt.Errorf("%q was a tool of another server's app earlier in this session", foreign.NewName(name))
	}
	return found[0], nil
}
