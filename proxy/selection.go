package proxy

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/offered"
)

// maxPatterns is how many tools, servers and patterns an open may ask for.
const maxPatterns = 100

// selection picks tools by what a model calls them: a tool, a server, a server and a tool, an exposed name, or a
// pattern of these.
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
	for _, name := range []string{it.Server.Name, it.Key.Verbatim(), it.Server.Name + "/" + it.Key.Verbatim(), exposed} {
		if pattern == name || strings.Contains(pattern, "*") && offered.Matches(pattern, name) {
			return true
		}
	}
	return false
}

// missed gives the patterns that no tool fits.
func (s *selection) missed() (missed []string) {
	for _, p := range s.patterns {
		if !slices.Contains(s.found, p) {
			missed = append(missed, foreign.NewName(p).String())
		}
	}
	return missed
}
