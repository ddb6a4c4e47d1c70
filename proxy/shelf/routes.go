package shelf

import (
	"bytes"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Lists are the JSON arrays of what a client sees.
type Lists map[toolbox.Kind][]byte

// Routes is what the client sees at one moment, in all eras. It is made anew when something changes and never changed
// after.
type Routes struct {
	Tools    *naming.Directory
	prompts  *naming.Directory
	mirrored map[naming.Identity]*mcp.Tool // tools whose arguments HTTP headers repeat
	Places   *naming.Places                // of resources and their templates
	// SharePages says that several servers have apps, so that the pages which results name may be one for another.
	SharePages bool
	Steady     Lists // of clients whose lists do not change as a side effect of a call
	Changing   Lists // of those that see them change, who are of the legacy era
	spaces     *naming.Spaces
}

// stock is what routes are made from.
type stock struct {
	*View
	spaces *naming.Spaces // of this configuration and those before it
	claims *naming.Claims
	all    []*Box              // in the order of the configuration
	skills [][]naming.Identity // what lies in each skill
}

// build makes the routes from what the servers offer now.
func (st *stock) build() *Routes {
	r := &Routes{spaces: st.spaces, mirrored: make(map[naming.Identity]*mcp.Tool)}
	boxes := opened(st.all)
	tools := gather(boxes, toolbox.Tools)
	ofApps, apps := naming.Pages(tools)
	for _, b := range st.all {
		if b.dormant {
			tools = append(tools, st.pinned(b)...)
		}
	}
	r.Tools = st.directory(toolbox.Tools, tools, boxes)
	r.prompts = st.directory(toolbox.Prompts, gather(boxes, toolbox.Prompts), boxes)
	r.mirror(tools)
	var located []naming.Identity
	for _, it := range slices.Concat(gather(boxes, toolbox.Resources), gather(boxes, toolbox.Templates)) {
		located = append(located, naming.Identity{Server: it.Server, Key: it.Key.Verbatim()})
	}
	r.Places = naming.NewPlaces(st.claims, ofApps, located, st.skills)
	r.Tools.OfApps(apps)
	r.SharePages = len(apps) > 1
	lists := func(changing bool) Lists {
		list := func(k toolbox.Kind, boxes []*Box, names map[naming.Identity]string) []byte {
			var items []toolbox.Item
			for _, b := range boxes {
				items = append(items, st.offered(b, k, changing)...)
			}
			return st.Texts.Of(st.render(r.Places, k, items, names, changing))
		}
		return Lists{
			toolbox.Tools:     list(toolbox.Tools, st.all, r.Tools.Shown),
			toolbox.Prompts:   list(toolbox.Prompts, boxes, r.prompts.Shown),
			toolbox.Resources: list(toolbox.Resources, boxes, r.Places.Aliases),
			toolbox.Templates: list(toolbox.Templates, boxes, r.Places.Aliases),
		}
	}
	r.Steady, r.Changing = lists(false), lists(true)
	return r
}

// opened leaves out the boxes that were made for their pinned tools.
func opened(all []*Box) []*Box {
	return slices.DeleteFunc(slices.Clone(all), func(b *Box) bool { return b.dormant })
}

// gather collects a list of all servers of all boxes, in order.
func gather(boxes []*Box, k toolbox.Kind) []toolbox.Item {
	var all []toolbox.Item
	for _, b := range boxes {
		for _, srv := range b.Servers() {
			all = append(all, srv.Items(k)...)
		}
	}
	return all
}

// directory makes the directory of a list: of what is offered, and after that of what is held back.
func (st *stock) directory(k toolbox.Kind, items []toolbox.Item, boxes []*Box) *naming.Directory {
	marked := st.Marked()
	byName := make(map[string]*Box, len(st.all))
	for _, b := range st.all {
		byName[b.Name] = b
	}
	to := make([]naming.Route, 0, len(items))
	add := func(it *toolbox.Item, held string) {
		b := byName[it.Server.Toolbox]
		may, must := tasksOf(it)
		to = append(to, naming.Route{
			Tasks: may, MustTask: must,
			Server: it.Server, Key: it.Key.Verbatim(), Name: it.Token(), Arguments: it.Arguments(), Held: held,
			Added:   !slices.Contains(marked, it.Server.Toolbox) && b.listed,
			Dormant: b.dormant,
		})
	}
	for i := range items {
		add(&items[i], "")
	}
	for _, b := range boxes {
		for _, srv := range b.Servers() {
			for _, h := range srv.Held(k) {
				add(&h.Item, h.Why)
			}
		}
	}
	return naming.NewDirectory(k, st.spaces, st.claims, to, st.plain)
}

// tasksOf reports whether a legacy server's tool may make tasks of calls, and whether it must.
func tasksOf(it *toolbox.Item) (may, must bool) {
	if !bytes.Contains(it.Raw, []byte(`"taskSupport"`)) || it.Server.Era().DecidesTasks() {
		return false, false
	}
	return eras.TaskSupport(it.Raw)
}

// Directory is that of a list, tools or prompts.
func (r *Routes) Directory(k toolbox.Kind) *naming.Directory {
	if k == toolbox.Prompts {
		return r.prompts
	}
	return r.Tools
}

// Whole says whose a tool is, if its name does.
func (r *Routes) Whole(w naming.Want) naming.Want { return r.spaces.Whole(w) }

// Locate finds the server that a uri leads to, of all that are open, and the uri it knows it by.
func (r *Routes) Locate(uri string, all []*toolbox.Server) (srv *toolbox.Server, own string, err error) {
	if naming.IsAlias(uri) {
		for _, srv := range all {
			if own, ok := naming.OwnURI(naming.AddressOf(srv), uri); ok {
				return srv, own, nil
			}
		}
		return nil, "", naming.ErrUnknown
	}
	srv, err = r.Places.Find(uri, all)
	return srv, uri, err
}

// give notes that the client is given the names of a list, and those by which tools of a toolbox are called, if one is
// named, before it is. It reports false if the routes are to be made anew for that.
func (r *Routes) give(k toolbox.Kind, box string) bool {
	switch k {
	case toolbox.Tools:
		given := r.Places.GivePages()
		return r.Tools.Give(box) && given
	case toolbox.Prompts:
		return r.prompts.Give("")
	default:
		return r.Places.Give()
	}
}

// mirror notes the tools whose schema has arguments repeated in HTTP headers.
func (r *Routes) mirror(tools []toolbox.Item) {
	for _, it := range tools {
		if !bytes.Contains(it.Raw, []byte(`"x-mcp-header"`)) {
			continue
		}
		if schema := wire.Get(it.Raw, wire.Whole(it.Raw), "inputSchema"); schema != nil {
			r.mirrored[naming.Identity{Server: it.Server, Key: it.Key.Verbatim()}] = &mcp.Tool{RawInputSchema: schema}
		}
	}
}

// Mirrored gives the tool of a name if HTTP headers repeat some of its arguments, else nil.
func (r *Routes) Mirrored(name string) *mcp.Tool {
	to, _ := r.Tools.Meant(naming.Want{Tool: name})
	return r.mirrored[to.Identity()]
}

// render makes the JSON array of one list: the items' own bytes, with the name replaced where the client sees another.
func (st *stock) render(p *naming.Places, k toolbox.Kind, items []toolbox.Item, names map[naming.Identity]string, legacy bool) []byte {
	out := []byte{'['}
	if k == toolbox.Tools {
		for _, t := range st.Meta {
			out = append(wire.Comma(out), t.Definition...)
		}
	}
	seen := make(map[naming.Identity]bool)
	for _, it := range items {
		id := naming.Identity{Server: it.Server, Key: it.Key.Verbatim()}
		if seen[id] {
			continue
		}
		seen[id] = true
		out = wire.Comma(out)
		var edits []wire.Edit
		if name, ok := names[id]; ok && name != it.Key.Verbatim() {
			edits = append(edits, wire.Edit{Span: it.KeySpan, New: wire.AppendQuote(nil, name)})
		}
		if k == toolbox.Tools {
			if it.Server.LargeResults().Do == config.LargePreview {
				// A client that knows the schema of structured content would refuse a preview, which has none.
				edits = append(edits, eras.Without(it.Raw, wire.Whole(it.Raw), "outputSchema")...)
			} else if legacy && it.AnyOutput {
				edits = append(edits, eras.OutputToLegacy(it.Raw)...)
			}
			if legacy {
				edits = append(edits, it.ToLegacy...)
			}
			edits = append(edits, p.PageEdits(it.Server, it.Raw, wire.Whole(it.Raw))...)
			slices.SortFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
		}
		if edits != nil {
			out = wire.Splice(out, it.Raw, edits...)
		} else {
			out = append(out, it.Raw...)
		}
	}
	return append(out, ']')
}
