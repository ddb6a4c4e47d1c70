package proxy

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/offered"
)

// maxPatterns is how many tools, servers and patterns an open may ask for.
const maxPatterns = 100

// mostCorrected is for how many of those that no tool fits the likest name is looked for, among all tools.
const mostCorrected = 3

// selection picks tools by what a model calls them: a tool, a server, a server and a tool (with the toolbox before
// them or without), an exposed name, or a pattern of these.
type selection struct {
	patterns []string // none: all tools
	found    []string // those that some tool fits
	known    []string // the names of all tools and their servers
}

// of gives those of a server's tools that were asked for.
func (s *selection) of(tools []toolbox.Item, exposed map[naming.Identity]string) []toolbox.Item {
	if s.patterns == nil {
		return tools
	}
	var picked []toolbox.Item
	for _, it := range tools {
		s.known = append(s.known, it.Key.Verbatim(), it.Server.Name)
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

// missed gives the patterns that no tool fits, and names of tools or servers that are like the first few of them.
func (s *selection) missed() (missed, near []string) {
	slices.Sort(s.known)
	known := slices.Compact(s.known)
	for _, p := range s.patterns {
		if slices.Contains(s.found, p) {
			continue
		}
		if len(missed) < mostCorrected {
			near = append(near, nearest.Names(p, known, 1)...)
		}
		missed = append(missed, foreign.NewName(p).String())
	}
	return missed, near
}
