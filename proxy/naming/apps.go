package naming

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// A tool of the extension apps names a page of its server that a host shows beside the results of the tool. The page
// calls tools of its server by the names that this gives them, through the host and thus through workbench.

// PageScheme is what the uri of each page begins with.
const PageScheme = "ui://"

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

// Pages gives the pages of the tools' apps, and the servers that have any.
func Pages(tools []toolbox.Item) (found []Identity, servers map[*toolbox.Server]bool) {
	servers = make(map[*toolbox.Server]bool)
	for _, it := range tools {
		for _, span := range appURIs(it.Raw, wire.Whole(it.Raw)) {
			if uri, ok := wire.Unquote(it.Raw[span.Start:span.End]); ok {
				found = append(found, Identity{it.Server, uri})
				servers[it.Server] = true
			}
		}
	}
	return found, servers
}

// PageEdits gives the edits that put the uris by which the client knows a server's pages into a definition or a result.
func (p *Places) PageEdits(srv *toolbox.Server, raw []byte, in wire.Span) []wire.Edit {
	return Renamed(raw, appURIs(raw, in), func(uri string) string { return p.Shown(srv, uri) })
}

// Renamed gives the edits that put what is shown in place of the strings that stand at some places and are shown
// otherwise.
func Renamed(raw []byte, places []wire.Span, shown func(own string) string) (edits []wire.Edit) {
	for _, at := range places {
		own, ok := wire.Unquote(raw[at.Start:at.End])
		if name := shown(own); ok && name != own {
			edits = append(edits, wire.Edit{Span: at, New: wire.AppendQuote(nil, name)})
		}
	}
	return edits
}

// OfApps keeps the tools of servers that have apps by the names that the servers give them: a page calls tools by
// these. Whose page it is that calls cannot be seen, so that such a name leads somewhere only if one server has it of
// all that have apps, whether that tool is offered or not; and of several, if the client has read pages of that server
// alone.
func (d *Directory) OfApps(has map[*toolbox.Server]bool) {
	d.apps = make(map[string][]Route)
	for _, to := range d.items {
		if has[to.Server] && !slices.ContainsFunc(d.apps[to.Key], func(r Route) bool { return r.Server == to.Server }) {
			d.apps[to.Key] = append(d.apps[to.Key], to)
		}
	}
}

// FromApp finds the tool that a page means by a name.
func (d *Directory) FromApp(name string) (Route, error) {
	found := d.apps[name]
	if shown := slices.DeleteFunc(slices.Clone(found), func(r Route) bool { return !d.claims.hasShown(AddressOf(r.Server)) }); len(shown) == 1 {
		found = shown
	}
	switch {
	case len(found) == 0:
		return Route{}, ErrUnknown
	case len(found) > 1:
		err := &unclearError{kind: d.kind, name: name}
		for _, to := range found {
			err.forms = append(err.forms, d.seenAs(to))
		}
		return Route{}, err
	case found[0].Held != "":
		return Route{}, &HeldError{d.kind, found[0]}
	case !d.claims.hold(appNames(), name, AddressOf(found[0].Server)):
		return Route{}, fmt.Errorf("%q was a tool of another server's app earlier in this session", foreign.NewName(name))
	}
	return found[0], nil
}
