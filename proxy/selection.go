package proxy

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/offered"
)

// maxPatterns is how many tools, servers and patterns an open may ask for.
const maxPatterns = 100

// mostCorrected is for how many of the names in an open that no tool has the likest is looked for: each is compared with
// all tools.
const mostCorrected = 3

// selection picks tools by what a model calls them: a tool, a server, a server and a tool (with the toolbox before
// them or without), an exposed name, or a pattern of these.
type selection struct {
	patterns []string // none: all tools
	found    []string // those that some tool fits
}

// of gives those of a server's tools that were asked for.
func (s *selection) of(tools []toolbox.Item, exposed map[naming.Identity]string) []toolbox.Item {
	if s.patterns == nil {
		return tools
	}
	var picked []toolbox.Item
	for _, it := range tools {
		fits := false
		for _, p := range s.patterns {
			if picks(p, &it, exposed[naming.Identity{Server: it.Server, Key: it.Key.Verbatim()}]) {
				s.found = append(s.found, p)
				fits = true
			}
		}
		if fits {
			picked = append(picked, it)
		}
	}
	return picked
}

// picks reports whether a pattern fits a tool.
func picks(pattern string, it *toolbox.Item, exposed string) bool {
	full := it.Server.Name + "/" + it.Key.Verbatim()
	for _, name := range []string{it.Server.Name, it.Key.Verbatim(), full, it.Server.Toolbox + "/" + full, exposed} {
		if pattern == name || strings.Contains(pattern, "*") && offered.Matches(pattern, name) {
			return true
		}
	}
	return false
}

// missed gives the patterns that no tool fits, and names of tools and servers of the toolbox that are like the first few
// of them.
func (s *selection) missed(b *shelf.Box) (missed, near []string) {
	var known []string
	for _, p := range s.patterns {
		if slices.Contains(s.found, p) {
			continue
		}
		if missed == nil {
			known = namesIn(b)
		}
		if len(missed) < mostCorrected {
			for _, name := range nearest.Names(p, known, 1) {
				near = append(near, foreign.NewName(name).String())
			}
		}
		missed = append(missed, foreign.NewName(p).String())
	}
	slices.Sort(near)
	return missed, slices.Compact(near)
}

// namesIn gives the names of the servers of a toolbox that have tools, and of these.
func namesIn(b *shelf.Box) (names []string) {
	for _, srv := range b.Servers() {
		for i, it := range srv.Items(toolbox.Tools) {
			if i == 0 {
				names = append(names, srv.Name)
			}
			names = append(names, it.Key.Verbatim())
		}
	}
	return names
}
