package proxy

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// watches is what a client wants to hear of: the resources that a legacy client subscribed to, and the subscriptions of
// a modern one.
type watches struct {
	account *account.Account   // is charged for them
	lists   func() shelf.Lists // those of a modern client

	mu      sync.Mutex // held while lists is called
	closed  bool
	watched map[string]bool
	listens map[*flight]*subscription
	astray  map[string]bool // uris of subscriptions that lead to no server so far
}

func newWatches(account *account.Account, lists func() shelf.Lists) *watches {
	return &watches{account: account, lists: lists, watched: make(map[string]bool), listens: make(map[*flight]*subscription), astray: make(map[string]bool)}
}

// subscription is a subscriptions/listen of a modern client: a request that stays open while the notifications that it
// named are sent under its id.
type subscription struct {
	tools, prompts, resources bool
	uris                      []string
	tasks                     []task
	size                      int // what the session's account is charged for them
	told                      shelf.Lists
}

// watchSize is what is charged for a resource that a client subscribed to: both the session and the server know its
// uri.
func watchSize(uri string) int { return 2*len(uri) + account.Each }

// add notes what a legacy client wants to hear of; it reports whether that is news.
func (ws *watches) add(uri string) (news bool, err error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	news = !ws.watched[uri]
	if news && (ws.closed || !ws.account.Charge(watchSize(uri))) {
		return false, errMuch
	}
	ws.watched[uri] = true
	return news, nil
}

// drop forgets what a legacy client wants to hear of no longer, by any of its names.
func (ws *watches) drop(names []string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, name := range names {
		if ws.watched[name] {
			delete(ws.watched, name)
			ws.account.Credit(watchSize(name))
		}
	}
}

// listen registers a subscription; end is called when its request has ended. It reports false if that is so already.
func (ws *watches) listen(f *flight, sub *subscription, end func(outcome)) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if !f.atEnd(end) {
		return false
	}
	ws.listens[f] = sub
	return true
}

// end forgets a subscription, and gives it with those of its uris that no other has; nil if it was none.
func (ws *watches) end(f *flight) (sub *subscription, gone []string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	sub = ws.listens[f]
	delete(ws.listens, f)
	if sub != nil {
		ws.account.Credit(sub.size)
		for _, uri := range sub.uris {
			if !ws.hasLocked(uri) {
				delete(ws.astray, uri)
				gone = append(gone, uri)
			}
		}
	}
	return sub, gone
}

// hasLocked reports whether a subscription has a uri.
func (ws *watches) hasLocked(uri string) bool {
	for _, sub := range ws.listens {
		if slices.Contains(sub.uris, uri) {
			return true
		}
	}
	return false
}

// led notes whether a uri of a subscription leads to a server; it reports whether it did not before.
func (ws *watches) led(uri string, somewhere bool) (news bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if !somewhere && ws.hasLocked(uri) {
		ws.astray[uri] = true
		return false
	}
	news = ws.astray[uri]
	delete(ws.astray, uri)
	return news
}

// lost are the uris of subscriptions that lead to no server so far.
func (ws *watches) lost() []string {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return slices.Collect(maps.Keys(ws.astray))
}

// wants reports whether the client wants to hear of a resource, by any of its names.
func (ws *watches) wants(names []string) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return slices.ContainsFunc(names, func(name string) bool { return ws.watched[name] || ws.hasLocked(name) })
}

// watched reports whether a legacy client has subscribed to a uri.
func (ws *watches) subscribed(uri string) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.watched[uri]
}

// listeners are the subscriptions of which one of a kind is true, with what was true.
func (ws *watches) listeners(to func(*subscription) (name string, ok bool)) map[*flight]string {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	found := make(map[*flight]string)
	for f, sub := range ws.listens {
		if name, ok := to(sub); ok {
			found[f] = name
		}
	}
	return found
}

// any reports whether there is a subscription.
func (ws *watches) any() bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return len(ws.listens) > 0
}

// endAll ends all subscriptions gracefully, as the session does.
func (ws *watches) endAll() {
	for f := range ws.listeners(func(*subscription) (string, bool) { return "", true }) {
		f.reply(eras.SubscriptionEnd(f.id))
	}
}

// close forgets what a legacy client wants to hear of, which it gives, and takes nothing more.
func (ws *watches) close() (uris []string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.closed = true
	for uri := range ws.watched {
		ws.account.Credit(watchSize(uri))
		uris = append(uris, uri)
	}
	clear(ws.watched)
	return uris
}

// announce tells the subscriptions which lists are other than they were told before.
func (ws *watches) announce() {
	ws.mu.Lock()
	if len(ws.listens) == 0 {
		ws.mu.Unlock()
		return
	}
	now := ws.lists()
	var news []announcement
	for f, sub := range ws.listens {
		for _, method := range sub.changed(now) {
			news = append(news, announcement{f, method})
		}
	}
	ws.mu.Unlock()
	for _, a := range news {
		a.send()
	}
}

// changed gives the list changes that a subscription asked for, and takes them as told.
func (sub *subscription) changed(now shelf.Lists) (methods []string) {
	for _, l := range []struct {
		wanted bool
		kinds  []toolbox.Kind
	}{
		{sub.tools, []toolbox.Kind{toolbox.Tools}},
		{sub.prompts, []toolbox.Kind{toolbox.Prompts}},
		{sub.resources, []toolbox.Kind{toolbox.Resources, toolbox.Templates}},
	} {
		changed := false
		for _, k := range l.kinds {
			changed = changed || !bytes.Equal(sub.told[k], now[k])
			sub.told[k] = now[k]
		}
		if changed && l.wanted {
			methods = append(methods, shelf.Announces(l.kinds[0]))
		}
	}
	return methods
}

type announcement struct {
	to     *flight
	method string
}

func (a announcement) send() {
	params := wire.NewObject(nil).Raw("_meta", eras.OfSubscription(a.to.id)).End()
	a.to.out.Message(wire.AppendNotification(nil, a.method, params))
}

// tagged gives a notification the id of the subscription that it is sent on.
func tagged(m *wire.Message, edits []wire.Edit, id []byte) []byte {
	edits = append(slices.Clone(edits), eras.WithSubscription(m.Raw, m.Params, id)...)
	slices.SortStableFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
	return wire.Splice(nil, m.Raw, edits...)
}
