package proxy

import (
	"bytes"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// era is one of the two ways the protocol works.
type era int

const (
	legacyEra era = iota // revisions up to 2025-11-25: a session, lists that may change
	modernEra            // 2026-07-28: lists never vary as a side effect of a call
)

// routes is what the client sees at one moment, for both eras. It is made anew
// when something changes and never changed after.
type routes struct {
	tools    *naming.Directory
	prompts  *naming.Directory
	mirrored map[naming.Identity]*mcp.Tool // tools whose arguments HTTP headers repeat
	places   *naming.Places                // of resources and their templates
	lists    [2]map[toolbox.Kind][]byte    // the JSON arrays
}

// build makes the routes from what the servers offer now.
func (s *Session) build() *routes {
	r := &routes{
		mirrored: make(map[naming.Identity]*mcp.Tool),
	}
	boxes, all := s.openLocked(), s.boxesLocked()
	tools := gather(boxes, toolbox.Tools)
	for _, b := range all {
		if b.dormant {
			tools = append(tools, s.pinned(b)...)
		}
	}
	r.tools = s.directory(toolbox.Tools, tools, boxes)
	r.prompts = s.directory(toolbox.Prompts, gather(boxes, toolbox.Prompts), boxes)
	r.mirror(tools)
	ofApps, apps := naming.Pages(gather(boxes, toolbox.Tools))
	var located []naming.Identity
	for _, it := range slices.Concat(gather(boxes, toolbox.Resources), gather(boxes, toolbox.Templates)) {
		located = append(located, naming.Identity{Server: it.Server, Key: it.Key.Verbatim()})
	}
	var groups [][]naming.Identity
	for srv := range s.skills {
		groups = append(groups, s.skillURIsLocked(srv)...)
	}
	r.places = naming.NewPlaces(s.claims, ofApps, located, groups)
	r.tools.OfApps(apps)
	s.sharePages.Store(len(apps) > 1)
	for e := range r.lists {
		list := func(k toolbox.Kind, boxes []*box, names map[naming.Identity]string) []byte {
			var items []toolbox.Item
			for _, b := range boxes {
				items = append(items, s.offered(b, k, era(e))...)
			}
			return s.render(r.places, k, items, names)
		}
		r.lists[e] = map[toolbox.Kind][]byte{
			toolbox.Tools:     list(toolbox.Tools, all, r.tools.Shown),
			toolbox.Prompts:   list(toolbox.Prompts, boxes, r.prompts.Shown),
			toolbox.Resources: list(toolbox.Resources, boxes, r.places.Aliases),
			toolbox.Templates: list(toolbox.Templates, boxes, r.places.Aliases),
		}
	}
	return r
}

// gather collects a list of all servers of all boxes, in order.
func gather(boxes []*box, k toolbox.Kind) []toolbox.Item {
	var all []toolbox.Item
	for _, b := range boxes {
		for _, srv := range b.Servers() {
			all = append(all, srv.Items(k)...)
		}
	}
	return all
}

// offered gives what an era sees of a list of a toolbox.
func (s *Session) offered(b *box, k toolbox.Kind, e era) []toolbox.Item {
	switch {
	case !b.dormant && s.shows(b, k, e):
		return gather([]*box{b}, k)
	case k == toolbox.Tools:
		return s.pinned(b)
	}
	return nil
}

// shows reports whether a list of a toolbox is part of what an era sees.
func (s *Session) shows(b *box, k toolbox.Kind, e era) bool {
	mode := s.cfg().ToolMode
	switch {
	case k == toolbox.Tools && mode == config.ToolModeSearch && !s.p.direct():
		return false
	case s.isMarked(b.Name):
		return true
	case e == modernEra || !b.listed:
		return false
	}
	return k != toolbox.Tools || mode != config.ToolModeProxy
}

// directory makes the directory of a list: of what is offered, and after that of what is held back.
func (s *Session) directory(k toolbox.Kind, items []toolbox.Item, boxes []*box) *naming.Directory {
	marked := s.marked()
	to := make([]naming.Route, 0, len(items))
	add := func(it *toolbox.Item, held string) {
		b := s.boxes[it.Server.Toolbox]
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
	return naming.NewDirectory(k, s.spaces, s.claims, to, s.plain)
}

// tasksOf reports whether a legacy server's tool may make tasks of calls, and whether it must.
func tasksOf(it *toolbox.Item) (may, must bool) {
	if !bytes.Contains(it.Raw, []byte(`"taskSupport"`)) || it.Server.IsModern() {
		return false, false
	}
	return eras.TaskSupport(it.Raw)
}

// meant says who is meant by the name of a tool or prompt.
func (s *Session) meant(k toolbox.Kind, w naming.Want) (naming.Route, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k == toolbox.Prompts {
		return s.routes.prompts.Meant(w)
	}
	return s.routes.tools.Meant(w)
}

// giveLocked notes that the client is given the names of a list, and those by which tools of a toolbox are called, if
// one is named, before it is.
func (s *Session) giveLocked(k toolbox.Kind, box string) {
	if !s.routes.give(k, box) {
		s.routes = s.build()
		s.routes.give(k, box)
	}
}

func (r *routes) give(k toolbox.Kind, box string) bool {
	switch k {
	case toolbox.Tools:
		given := r.places.GivePages()
		return r.tools.Give(box) && given
	case toolbox.Prompts:
		return r.prompts.Give("")
	default:
		return r.places.Give()
	}
}

// refresh makes the routes anew from what the servers offer now.
func (s *Session) refresh() {
	// While a toolbox is being opened its news are told together, at the end.
	s.update(func() bool { return s.opening == 0 })
}

// plain reports whether the names of a server's items are left as they are,
// where that is unambiguous.
func (s *Session) plain(srv *toolbox.Server) bool {
	if s.p.direct() {
		return true
	}
	cfg, ok := s.cfg().Toolbox(srv.Toolbox)
	return ok && cfg.Prefix == config.PrefixNone
}

// mirror notes the tools whose schema has arguments repeated in HTTP headers.
func (r *routes) mirror(tools []toolbox.Item) {
	for _, it := range tools {
		if !bytes.Contains(it.Raw, []byte(`"x-mcp-header"`)) {
			continue
		}
		schema, err := wire.FindPath(it.Raw, wire.Whole(it.Raw), "inputSchema")
		if err == nil && schema.Present() {
			r.mirrored[naming.Identity{Server: it.Server, Key: it.Key.Verbatim()}] = &mcp.Tool{RawInputSchema: it.Raw[schema.Start:schema.End]}
		}
	}
}

// Mirrored gives the tool of a name, a JSON string, if HTTP headers repeat some
// of its arguments, else nil.
func (s *Session) Mirrored(name []byte) *mcp.Tool {
	text, _ := wire.Unquote(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	to, _ := s.routes.tools.Meant(naming.Want{Tool: text})
	return s.routes.mirrored[to.Identity()]
}

// render makes the JSON array of one list: the items' own bytes, with the name
// replaced where the client sees another.
func (s *Session) render(p *naming.Places, k toolbox.Kind, items []toolbox.Item, names map[naming.Identity]string) []byte {
	out := []byte{'['}
	if k == toolbox.Tools {
		for _, t := range s.view.Load().meta {
			out = append(comma(out), t.Definition...)
		}
	}
	seen := make(map[naming.Identity]bool)
	for _, it := range items {
		id := naming.Identity{Server: it.Server, Key: it.Key.Verbatim()}
		if seen[id] {
			continue
		}
		seen[id] = true
		out = comma(out)
		var edits []wire.Edit
		if name, ok := names[id]; ok && name != it.Key.Verbatim() {
			edits = append(edits, wire.Edit{Span: it.KeySpan, New: wire.AppendQuote(nil, name)})
		}
		if k == toolbox.Tools && it.Server.LargeResults().Do == config.LargePreview {
			edits = append(edits, withoutOutputSchema(&it)...)
			slices.SortFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
		}
		if k == toolbox.Tools {
			if pages := p.PageEdits(it.Server, it.Raw, wire.Whole(it.Raw)); pages != nil {
				edits = append(edits, pages...)
				slices.SortFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
			}
		}
		if edits != nil {
			out = wire.Splice(out, it.Raw, edits...)
		} else {
			out = append(out, it.Raw...)
		}
	}
	return append(out, ']')
}

func comma(list []byte) []byte {
	if list[len(list)-1] != '[' {
		list = append(list, ',')
	}
	return list
}

// update makes the routes anew after change, which is called with the session's
// lock held, and, if that says so, tells a legacy client which of its lists are
// other than when it last heard of them. It reports whether it said anything of
// the tools.
func (s *Session) update(change func() (announce bool)) (told bool) {
	s.mu.Lock()
	announce := change()
	s.routes = s.build()
	var methods []string
	if announce && s.greeted() && !s.closed {
		methods = s.newsLocked()
	}
	news := s.announceLocked()
	s.mu.Unlock()
	for _, a := range news {
		a.send()
	}
	for _, method := range methods {
		s.tell(method)
		told = told || method == toolsChanged
	}
	return told
}

const (
	toolsChanged     = "notifications/tools/list_changed"
	promptsChanged   = "notifications/prompts/list_changed"
	resourcesChanged = "notifications/resources/list_changed"
)

// newsLocked says which lists to announce, and takes them as announced.
func (s *Session) newsLocked() (methods []string) {
	for _, k := range []toolbox.Kind{toolbox.Tools, toolbox.Resources, toolbox.Templates, toolbox.Prompts} {
		now := s.routes.lists[legacyEra][k]
		if bytes.Equal(s.told[k], now) {
			continue
		}
		s.told[k] = now
		method := toolsChanged
		switch k {
		case toolbox.Resources, toolbox.Templates:
			method = resourcesChanged
		case toolbox.Prompts:
			method = promptsChanged
		}
		if !slices.Contains(methods, method) {
			methods = append(methods, method)
		}
	}
	return methods
}

// tell sends a notification of ours without params.
func (s *Session) tell(method string) {
	b := s.requests.buffers.Get()
	defer s.requests.buffers.Put(b)
	*b = append(append(append(*b, `{"jsonrpc":"2.0","method":"`...), method...), `"}`...)
	s.line.send(*b)
}

// Changed is the toolbox's word that a list of a server is other than before.
func (s *Session) Changed(srv *toolbox.Server, k toolbox.Kind) {
	s.update(func() bool {
		if k == toolbox.Skills {
			return false // they are searched, and no client is told of them
		}
		if b := s.boxes[srv.Toolbox]; b != nil && b.listed {
			return s.dueLocked() // no part of an opening, whose end may tell nothing
		}
		return s.opening == 0
	})
}

// list answers a request for a list. The toolboxes that are open without being
// asked for are opened first, so that the list is whole from the beginning.
func (s *Session) list(c *call, k toolbox.Kind) {
	e := legacyEra
	if c.modern != nil {
		e = modernEra
	}
	f := s.own(c)
	if f == nil {
		return
	}
	if len(s.unsettled()) == 0 {
		s.replyList(f, k, e)
		return
	}
	f.serve(func() {
		s.openMarked(f.ctx)
		s.replyList(f, k, e)
	})
}

func (s *Session) replyList(f *flight, k toolbox.Kind, e era) {
	s.mu.Lock()
	s.giveLocked(k, "")
	items := s.routes.lists[e][k]
	if e == legacyEra {
		s.told[k] = items
	}
	s.mu.Unlock()
	b := s.requests.buffers.Get()
	defer s.requests.buffers.Put(b)
	*b = append(*b, '{')
	if e == modernEra {
		*b = append(*b, `"resultType":"complete","ttlMs":0,"cacheScope":"private",`...)
	}
	*b = append(append(append(append(*b, '"'), k...), `":`...), items...)
	*b = append(*b, '}')
	f.reply(*b)
	if k == toolbox.Tools {
		s.wasListed()
	}
}

// wasListed lets the results go that wait for the client to read its tools.
func (s *Session) wasListed() {
	s.mu.Lock()
	close(s.listed)
	s.listed = make(chan struct{})
	ignores := s.profile.known().habit.Ignores
	s.mu.Unlock()
	if ignores {
		// It may have come round to it.
		s.profile.seen(func(h *habits.Habit) { h.Ignores = false })
	}
}
