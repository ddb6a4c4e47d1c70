package toolbox

import (
	"fmt"
	"iter"
	"path"
	"slices"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/find"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/offered"
)

// Search gives the toolbox's servers as they are searched: with the tools, prompts and skills that are known of them,
// from this run or the one before, and with what is said of them. It starts nothing.
func Search(servers []*Server, description fmt.Stringer) []find.Server {
	out := make([]find.Server, len(servers))
	for i, s := range servers {
		out[i] = find.Server{Toolbox: s.Toolbox, Name: s.Name, Description: description.String()}
		for _, kind := range []struct {
			kind  Kind
			label string
		}{{Tools, ""}, {Prompts, "prompt"}} {
			for _, it := range s.lists.Items(kind.kind) {
				out[i].Entries = append(out[i].Entries, searched(&it, kind.label))
			}
		}
		for _, it := range s.Items(Skills) {
			name, description := AboutSkill(&it)
			out[i].Entries = append(out[i].Entries, find.Entry{Kind: "skill", URI: it.Key.Verbatim(), Name: name, Description: description})
		}
	}
	return out
}

// searched gives the parts of an item that are searched. The schemas are those of the list, not copies.
func searched(it *offered.Item, kind string) find.Entry {
	e := find.Entry{Kind: kind, Name: it.Key.Verbatim()}
	var at [4]wire.Span
	if wire.Find(it.Raw, wire.Whole(it.Raw), []string{"title", "description", "inputSchema", "outputSchema"}, at[:]) != nil {
		return e
	}
	e.Title, _ = wire.Unquote(it.Raw[at[0].Start:at[0].End])
	e.Description, _ = wire.Unquote(it.Raw[at[1].Start:at[1].End])
	e.Schema, e.Output = it.Raw[at[2].Start:at[2].End], it.Raw[at[3].Start:at[3].End]
	return e
}

// AboutSkill gives what the list of a server says of a skill. Its name is that of its manifest, else the folder in its
// uri.
func AboutSkill(it *Item) (name, description string) {
	name, _ = wire.Text(it.Raw, wire.Whole(it.Raw), "frontmatter", "name")
	description, _ = wire.Text(it.Raw, wire.Whole(it.Raw), "frontmatter", "description")
	if name == "" {
		name = path.Base(path.Dir(it.Key.Verbatim()))
	}
	return name, description
}

// Exclusion is a tool that a server has, or had when it was last seen, and that is not offered.
type Exclusion struct {
	Server *Server
	Tool   string // as the server names it
	Why    string
}

// Excluded gives those of the tools, named as servers name them, that the servers are known to have and that are not
// offered. Of disabled servers it reads what was seen of them.
func Excluded(servers []*Server, tools ...string) iter.Seq[Exclusion] {
	return func(yield func(Exclusion) bool) {
		seen := make(listings)
		for _, s := range servers {
			had := lastTools(s, seen)
			for _, tool := range tools {
				why := s.lists.LeftOut(Tools, tool)
				if slices.ContainsFunc(had, func(it offered.Item) bool { return it.Key.Verbatim() == tool }) {
					why = `the server has "disabled": true in the configuration`
				}
				if why != "" && !yield(Exclusion{s, tool, why}) {
					return
				}
			}
		}
	}
}

// lastTools gives the tools that a disabled server had when it was last seen.
func lastTools(s *Server, seen listings) []offered.Item {
	if s.memory.catalogue == nil || s.at.now().State != Disabled {
		return nil
	}
	e := seen.of(s.memory.catalogue).Newest(s.memory.key().Server)
	if e == nil {
		return nil
	}
	return offered.Shown(offered.Kept(e.Lists[string(Tools)], Tools, account.Lists))
}
