package toolbox

import (
	"fmt"

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

// LeavesOut reports whether the server has a tool of that name which its filters leave out.
func (s *Server) LeavesOut(tool string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if allowed(s.filters, tool) {
		return false
	}
	for i := range s.whole[Tools] {
		if s.whole[Tools][i].Key.Verbatim() == tool {
			return true
		}
	}
	return false
}
