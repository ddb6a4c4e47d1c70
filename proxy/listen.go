package proxy

import (
	"maps"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// maxWatched bounds the resources of one subscription.
const maxWatched = 1000

// listen opens a subscription: first the acknowledgement, then what changes.
func (r *resourceDesk) listen(c *call) {
	if !c.terms.Has(c.MethodName) {
		c.fail(&wire.Error{Code: wire.CodeMethodNotFound, Message: "subscriptions/listen belongs to revision 2026-07-28; this session was opened with initialize"})
		return
	}
	sub, err := readSubscription(c, r.tasks)
	if err != nil {
		c.fail(err)
		return
	}
	for _, uri := range sub.uris {
		sub.size += watchSize(uri)
	}
	for _, t := range sub.tasks {
		sub.size += watchSize(t.shown)
	}
	if !r.watches.account.Charge(sub.size) {
		c.fail(errMuch)
		return
	}
	f := r.desk.own(c)
	if f == nil {
		r.watches.account.Credit(sub.size)
		return
	}
	sub.told = maps.Clone(r.watches.lists()) // before the client can read its lists anew, relying on what it is told then
	f.out.Message(sub.acknowledgement(f.id))
	sub.watchTasks(true) // before the subscription can end, which takes that back
	if !r.watches.listen(f, sub, func(outcome) { r.endListen(f) }) {
		sub.watchTasks(false)
		r.watches.account.Credit(sub.size)
		return
	}
	for _, uri := range sub.uris {
		r.watches.led(uri, r.watch(uri, true))
	}
	r.find()             // what may have come just now
	r.watches.announce() // what has changed since the acknowledgement
}

// watchTasks has the servers of the tasks tell of them, or no longer.
func (sub *subscription) watchTasks(on bool) {
	for _, t := range sub.tasks {
		t.server.WatchTask(t.id, on)
	}
}

// endListen forgets a subscription; its resources are unwatched if no other has them.
func (r *resourceDesk) endListen(f *flight) {
	sub, gone := r.watches.end(f)
	for _, uri := range gone {
		r.watch(uri, false)
	}
	if sub != nil {
		sub.watchTasks(false)
	}
}

// find has the servers tell of resources that led nowhere when the client subscribed to them, such as those of
// toolboxes that have opened since.
func (r *resourceDesk) find() {
	for _, uri := range r.watches.lost() {
		if _, _, err := r.shelf.Routes().Locate(uri, r.shelf.Servers()); err == nil && r.watches.led(uri, true) {
			r.watch(uri, true)
		}
	}
}

// watch has the server of a resource tell of its changes, or no longer; it reports whether there is one.
func (r *resourceDesk) watch(uri string, on bool) bool {
	srv, own, err := r.shelf.Routes().Locate(uri, r.shelf.Servers())
	if err != nil {
		return false
	}
	if !on && r.watched(srv, own) {
		return true // another client of the server wants it
	}
	srv.Watch(own, on)
	tellWatch(srv, own, on)
	r.rewatch(srv, own, on)
	return true
}

// acknowledgement is the first message of a subscription: what it will be told.
func (sub *subscription) acknowledgement(id []byte) []byte {
	filter := map[string]any{}
	for name, on := range map[string]bool{"toolsListChanged": sub.tools, "promptsListChanged": sub.prompts, "resourcesListChanged": sub.resources} {
		if on {
			filter[name] = true
		}
	}
	if len(sub.uris) > 0 {
		filter["resourceSubscriptions"] = sub.uris
	}
	if len(sub.tasks) > 0 {
		var ids []string
		for _, t := range sub.tasks {
			ids = append(ids, t.shown)
		}
		filter["taskIds"] = ids
	}
	params := wire.NewObject(nil).Raw("_meta", eras.OfSubscription(id)).Raw("notifications", wire.MustEncode(filter)).End()
	return wire.AppendNotification(nil, "notifications/subscriptions/acknowledged", params)
}

// readSubscription reads what the client wants to hear of. Of tasks that it has not, it hears nothing.
func readSubscription(c *call, has *tasks) (*subscription, error) {
	filter, err := wire.FindPath(c.Raw, c.Params, "notifications")
	if err != nil {
		return nil, err
	}
	if !filter.Present() || c.Raw[filter.Start] != '{' {
		return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: "params.notifications is missing or not an object"}
	}
	var out [5]wire.Span
	members := []string{"toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions", "taskIds"}
	if err := wire.Find(c.Raw, filter, members, out[:]); err != nil {
		return nil, err
	}
	if out[4].Present() && !c.terms.has(eras.Tasks) {
		return nil, eras.Lacks(eras.Tasks)
	}
	is := func(i int) bool { return string(c.Bytes(out[i])) == "true" }
	sub := &subscription{tools: is(0), prompts: is(1), resources: is(2)}
	for e := range wire.Elements(c.Raw, out[3]) {
		if uri, ok := wire.Unquote(c.Bytes(e)); ok && len(sub.uris) < maxWatched {
			sub.uris = append(sub.uris, uri)
		}
	}
	for e := range wire.Elements(c.Raw, out[4]) {
		id, _ := wire.Unquote(c.Bytes(e))
		if t, ok := has.find(id); ok && len(sub.tasks) < maxWatched {
			sub.tasks = append(sub.tasks, t)
		}
	}
	return sub, nil
}
