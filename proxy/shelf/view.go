package shelf

import (
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/alike"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// View is what a client is served by one configuration. It is replaced by a reload and never changed.
type View struct {
	Cfg     *config.Config
	Direct  string // the one toolbox that is served, without meta tools; "" if all are
	Denies  bool   // there is no toolbox because the user may use none
	Spaces  *naming.Spaces
	Meta    []meta.Tool
	Commons map[string]*toolbox.Toolbox // the servers that sessions share, by toolbox
	Texts   *alike.Pool                 // has the lists once that several clients see
}

// Available says which toolboxes there are, the likest to name first said.
func (v *View) Available(name string) string {
	if v.Denies {
		return meta.Denied
	}
	return meta.Available(v.Cfg, name)
}

// IsGone reports whether the one toolbox that is served is no longer in the configuration.
func (v *View) IsGone() bool {
	_, ok := v.Cfg.Toolbox(v.Direct)
	return v.Direct != "" && !ok
}

// NoToolbox says that there is no toolbox of that name.
func (v *View) NoToolbox(name string) error {
	return fmt.Errorf("toolbox %q not found; %s", foreign.NewName(name), v.Available(name))
}

// HasMeta reports whether a name is one that a tool of workbench's own answers to, of those that the client has.
func (v *View) HasMeta(name string) bool {
	name = meta.Canonical(name)
	return slices.ContainsFunc(v.Meta, func(t meta.Tool) bool { return t.Name == name })
}

// Marked returns the toolboxes that are open without being asked for.
func (v *View) Marked() []string {
	var names []string
	for _, t := range v.Cfg.Toolboxes {
		if t.Open && v.Direct == "" || t.Name == v.Direct && v.Direct != "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// isMarked reports whether a toolbox is listed to clients of both eras.
func (v *View) isMarked(name string) bool { return slices.Contains(v.Marked(), name) }

// plain reports whether the names of a server's items are left as they are, where that is unambiguous.
func (v *View) plain(srv *toolbox.Server) bool {
	if v.Direct != "" {
		return true
	}
	cfg, ok := v.Cfg.Toolbox(srv.Toolbox)
	return ok && cfg.Prefix == config.PrefixNone
}

// pinned gives the pinned tools of a toolbox.
func (v *View) pinned(b *Box) (items []toolbox.Item) {
	for _, p := range v.Cfg.Pinned {
		srv, ok := b.Server(p.Server)
		if p.Toolbox != b.Name || !ok || v.Direct != "" {
			continue
		}
		for _, it := range srv.Items(toolbox.Tools) {
			if own, _ := wire.Unquote(it.Token()); own == p.Tool || it.Key.Verbatim() == p.Tool {
				items = append(items, it)
			}
		}
	}
	return items
}

// offered gives what clients see of a list of a toolbox; changing says whether that may change for them.
func (v *View) offered(b *Box, k toolbox.Kind, changing bool) []toolbox.Item {
	switch {
	case !b.dormant && v.shows(b, k, changing):
		return gather([]*Box{b}, k)
	case k == toolbox.Tools:
		return v.pinned(b)
	}
	return nil
}

// shows reports whether a list of a toolbox is part of what clients see.
func (v *View) shows(b *Box, k toolbox.Kind, changing bool) bool {
	mode := v.Cfg.ToolMode
	switch {
	case k == toolbox.Tools && mode == config.ToolModeSearch && v.Direct == "":
		return false
	case v.isMarked(b.Name):
		return true
	case !changing || !b.listed:
		return false
	}
	return k != toolbox.Tools || mode != config.ToolModeProxy
}

// boxes gives those that there are, in the order of the configuration, with those that were made for their pinned
// tools.
func (v *View) boxes(of map[string]*Box) (all []*Box) {
	for i := range v.Cfg.Toolboxes {
		if b := of[v.Cfg.Toolboxes[i].Name]; b != nil {
			all = append(all, b)
		}
	}
	return all
}

// unpinned gives the toolboxes whose pinned tools were not looked for.
func (v *View) unpinned(of map[string]*Box) (names []string) {
	for _, p := range v.Cfg.Pinned {
		_, ok := v.Cfg.Toolbox(p.Toolbox)
		b := of[p.Toolbox]
		if ok && v.Direct == "" && (b == nil || !b.pinned) && !v.isMarked(p.Toolbox) && !slices.Contains(names, p.Toolbox) {
			names = append(names, p.Toolbox)
		}
	}
	return names
}
