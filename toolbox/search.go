package toolbox

import (
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/find"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Search gives the toolbox's servers as they are searched: with the tools and prompts that are known of them, from this run or
// the one before, and with what is said of them. It starts nothing.
func Search(servers []*Server, description fmt.Stringer) []find.Server {
	out := make([]find.Server, len(servers))
	for i, s := range servers {
		out[i] = find.Server{Toolbox: s.Toolbox, Name: s.Name, Description: description.String()}
		for _, kind := range []struct {
			kind  Kind
			label string
		}{{Tools, ""}, {Prompts, "prompt"}} {
			for _, it := range s.Items(kind.kind) {
				out[i].Entries = append(out[i].Entries, searched(&it, kind.label))
			}
		}
	}
	return out
}

// searched gives the parts of an item that are searched. The schema is that of the list, not a copy.
func searched(it *Item, kind string) find.Entry {
	e := find.Entry{Kind: kind, Name: it.Key.Verbatim()}
	var at [3]wire.Span
	if wire.Find(it.Raw, wire.Span{Start: 0, End: len(it.Raw)}, []string{"title", "description", "inputSchema"}, at[:]) != nil {
		return e
	}
	e.Title, _ = wire.Unquote(it.Raw[at[0].Start:at[0].End])
	e.Description, _ = wire.Unquote(it.Raw[at[1].Start:at[1].End])
	e.Schema = it.Raw[at[2].Start:at[2].End]
	return e
}

// Excluded says why a tool that the server has, or had when it was last seen, is not offered; "" if it is, or if the server is
// not known to have it. The tool is named as the server names it.
func (s *Server) Excluded(tool string) string {
	s.mu.Lock()
	disabled := s.status.State == Disabled
	why := ""
	for i := range s.whole[Tools] {
		it := &s.whole[Tools][i]
		switch {
		case it.Key.Verbatim() != tool:
		case !allowed(s.filters, tool):
			why = "toolFilters leave it out"
		case s.readOnly && !it.onlyReads():
			why = `the server has "readOnly": true in the configuration, and the tool does not say that it only reads`
		}
	}
	for i := range s.held[Tools] {
		if it := &s.held[Tools][i]; it.Key.Verbatim() == tool {
			why = "it is held back: " + it.Why
		}
	}
	s.mu.Unlock()
	if disabled && s.hadTool(tool) {
		why = `the server has "disabled": true in the configuration`
	}
	return why
}

// hadTool reports whether the server had a tool when it was last seen, whatever it is now.
func (s *Server) hadTool(tool string) bool {
	if s.box.opts.Catalogue == nil {
		return false
	}
	e := s.box.opts.Catalogue.List().Newest(s.key().Server)
	if e == nil {
		return false
	}
	return slices.ContainsFunc(s.itemsOf(e, Tools, account.Lists), func(it Item) bool { return it.Key.Verbatim() == tool })
}
