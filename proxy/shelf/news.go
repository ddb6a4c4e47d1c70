package shelf

import (
	"bytes"
	"context"
	"slices"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// The notifications of changed lists.
const (
	ToolsChanged     = "notifications/tools/list_changed"
	PromptsChanged   = "notifications/prompts/list_changed"
	ResourcesChanged = "notifications/resources/list_changed"
)

// Announces gives the notification of changes of a list.
func Announces(k toolbox.Kind) string {
	switch k {
	case toolbox.Resources, toolbox.Templates:
		return ResourcesChanged
	case toolbox.Prompts:
		return PromptsChanged
	}
	return ToolsChanged
}

// buildLocked makes the routes from what the servers offer now.
func (sh *Shelf) buildLocked() {
	st := stock{View: sh.View(), spaces: sh.spaces, claims: sh.claims, all: sh.View().boxes(sh.boxes), skills: sh.skills.groups()}
	sh.routes.Store(st.build())
}

// update makes the routes anew after change, which is called with the lock held, and, if that says so, tells a legacy
// client which of its lists are other than when it last heard of them. It reports whether the client is to read its
// tools: it was told to, or is about to be given them.
func (sh *Shelf) update(change func() (announce bool)) (told bool) {
	sh.mu.Lock()
	announce := change()
	sh.buildLocked()
	var methods []string
	awaited := sh.opening.lists
	if announce && sh.opts.Legacy() && !sh.closed {
		methods = sh.told.news(sh.Routes().Changing, awaited)
		told = slices.Contains(methods, ToolsChanged) || awaited[toolbox.Tools] > 0
	}
	sh.mu.Unlock()
	sh.opts.Changed(methods)
	return told
}

// announced are the lists that a legacy client knows or was told to read.
type announced Lists

// news says which lists to announce, and takes them as announced. What is new of one that the client awaits comes with
// it.
func (a announced) news(now Lists, awaited map[toolbox.Kind]int) (methods []string) {
	for _, k := range []toolbox.Kind{toolbox.Tools, toolbox.Resources, toolbox.Templates, toolbox.Prompts} {
		if awaited[k] > 0 || bytes.Equal(a[k], now[k]) {
			continue
		}
		a[k] = now[k]
		if method := Announces(k); !slices.Contains(methods, method) {
			methods = append(methods, method)
		}
	}
	return methods
}

// openings are the opens under way: their list changes are told once, at the end.
type openings struct {
	under   int
	overdue bool                 // those of a reload are told with them
	lists   map[toolbox.Kind]int // how many the client has asked for and not been given, of those that change
}

// begin notes that a toolbox is being opened.
func begin(sh *Shelf, b *Box) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.opening.under++
	b.dormant = false
}

// due reports whether the news of a reload are to be told now, and notes it if they wait for the end of an opening.
func (o *openings) due() bool {
	o.overdue = o.under > 0
	return !o.overdue
}

// Refresh makes the routes anew from what the servers offer now.
func (sh *Shelf) Refresh() {
	// While a toolbox is being opened its news are told together, at the end.
	sh.update(func() bool { return sh.opening.under == 0 })
}

// Changed is the toolbox's word that a list of a server is other than before.
func (sh *Shelf) Changed(srv *toolbox.Server, k toolbox.Kind) {
	sh.update(func() bool {
		if k == toolbox.Skills {
			return false // they are searched, and no client is told of them
		}
		if b := sh.boxes[srv.Toolbox]; b != nil && b.listed {
			return sh.opening.due() // no part of an opening, whose end may tell nothing
		}
		return sh.opening.under == 0
	})
}

// Hand gives a list to the client, which has asked for it: the list that hand returns, once the toolboxes have opened
// that open without being asked for, has all that is new until then, and no news of it are told meanwhile. Where ctx
// ends before, the client may not have been given it.
func (sh *Shelf) Hand(k toolbox.Kind, e eras.Era) (hand func(ctx context.Context) []byte) {
	awaited := 0
	if e.ListsMayChange() {
		awaited = 1
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.opening.lists[k] += awaited
	return func(ctx context.Context) []byte {
		sh.OpenMarked(ctx)
		left := ctx.Err() != nil
		if left {
			defer sh.update(sh.opening.due)
		}
		sh.mu.Lock()
		defer sh.mu.Unlock()
		sh.opening.lists[k] -= awaited
		sh.giveLocked(k, "")
		if awaited == 0 {
			return sh.Routes().Steady[k]
		}
		items := sh.Routes().Changing[k]
		if !left {
			sh.told[k] = items
		}
		return items
	}
}

// HandBox gives the exposed names of all tools, for an answer that tells of those of a toolbox.
func (sh *Shelf) HandBox(box string) (exposed map[naming.Identity]string) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.giveLocked(toolbox.Tools, box)
	return sh.Routes().Tools.Shown
}

// giveLocked notes that the client is given the names of a list, and those by which tools of a toolbox are called, if
// one is named, before it is.
func (sh *Shelf) giveLocked(k toolbox.Kind, box string) {
	if !sh.Routes().give(k, box) {
		sh.buildLocked()
		sh.Routes().give(k, box)
	}
}

// Listed notes that the client has read its tools.
func (sh *Shelf) Listed() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	close(sh.listed)
	sh.listed = make(chan struct{})
}

// Shows reports whether a toolbox's tools are in the list that an era sees.
func (sh *Shelf) Shows(b *Box, changing bool) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.View().shows(b, toolbox.Tools, changing)
}
