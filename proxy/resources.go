package proxy

import (
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// resourceDesk answers a client's requests for resources, and for being told when they change.
type resourceDesk struct {
	desk    *desk
	shelf   *shelf.Shelf
	watches *watches
	tasks   *tasks
	watched func(srv *toolbox.Server, own string) bool // reports whether any client wants to hear of a resource of a server
}

// close gives back what the client has subscribed to at servers that outlive the session.
func (r *resourceDesk) close(outlives func(*toolbox.Server) bool) {
	for _, uri := range r.watches.close() {
		if srv, _, err := r.shelf.Routes().Locate(uri, r.shelf.Servers()); err == nil && outlives(srv) {
			r.watch(uri, false)
		}
	}
}

// answer forwards a request that names a uri.
func (r *resourceDesk) answer(c *call) {
	watch := c.MethodName != "resources/read"
	uri, ok := wire.Unquote(c.Bytes(c.URI))
	switch {
	case !c.terms.Has(c.MethodName):
		c.fail(&wire.Error{Code: wire.CodeMethodNotFound, Message: c.MethodName + " was replaced by subscriptions/listen in revision 2026-07-28"})
		return
	case !ok:
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.uri is missing or not a string"})
		return
	}
	if isKept(uri) && !watch {
		readKept(r.desk, c, uri)
		return
	}
	era, span := c.terms.Era, c.URI
	method := c.MethodName
	lead(r.desk, r.shelf, c, uri, watch, func() (destination, error) {
		at, err := toResource(r.shelf, uri, span, era)
		switch {
		case err != nil:
		case watch:
			return r.toWatch(at, uri, method)
		default:
			showPage(r.shelf, at.srv, at.key)
		}
		return at, err
	})
}

// toWatch notes that the client wants to hear of a resource, or does so no longer, and gives where the request for that
// goes.
func (r *resourceDesk) toWatch(at destination, uri, method string) (destination, error) {
	on, news := method == "resources/subscribe", false
	if on {
		var err error
		if news, err = r.watches.add(uri); err != nil {
			return destination{}, err
		}
	} else {
		// The client may have subscribed when the uri led there by itself.
		r.watches.drop(r.shelf.Routes().Places.NamesOf(at.srv, at.key))
	}
	wanted := on || r.watched(at.srv, at.key) // by any client of the server
	at.srv.Watch(at.key, wanted)
	if !on && wanted {
		return destination{}, nil
	}
	at.after = func() {
		if !on || !r.watches.subscribed(uri) { // else nothing has come in between
			r.rewatch(at.srv, at.key, on)
		}
	}
	if news {
		at.failed = func(o outcome) { r.unwatch(at, uri, o) }
	}
	if !at.srv.Era().Has(method) {
		at.after()
		return destination{failed: at.failed}, nil
	}
	return at, nil
}

// unwatch forgets a subscription that its server did not agree to. One that may have it none the less is told.
func (r *resourceDesk) unwatch(at destination, uri string, o outcome) {
	r.watches.drop([]string{uri})
	if r.watched(at.srv, at.key) {
		return
	}
	at.srv.Watch(at.key, false)
	if o == lost || o == cancelled {
		tellWatch(at.srv, at.key, false)
	}
}

// rewatch has a server that was told to tell of a resource, or to do so no longer, do otherwise, if clients have come to
// want that in between.
func (r *resourceDesk) rewatch(srv *toolbox.Server, own string, told bool) {
	if now := r.watched(srv, own); now != told {
		srv.Watch(own, now)
		tellWatch(srv, own, now)
	}
}

// tellWatch tells a server that has subscriptions of single resources of one.
func tellWatch(srv *toolbox.Server, own string, on bool) {
	method := "resources/subscribe"
	if !on {
		method = "resources/unsubscribe"
	}
	if srv.Era().Has(method) {
		srv.Tell(method, wire.NewObject(nil).Text("uri", own).End()) // one without subscriptions refuses
	}
}

// hears reports whether the client wants to hear of changes of a resource.
func (r *resourceDesk) hears(srv *toolbox.Server, own string) bool {
	return r.watches.wants(r.shelf.Routes().Places.NamesOf(srv, own))
}

// getPrompt forwards a request for a prompt by its exposed name.
func getPrompt(d *desk, sh *shelf.Shelf, c *call) {
	name, ok := wire.Unquote(c.Bytes(c.Name))
	if !ok {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.name is missing or not a string"})
		return
	}
	span := c.Name
	lead(d, sh, c, name, false, func() (destination, error) { return toPrompt(sh, name, span) })
}

// complete forwards a request for completions to the server of the prompt or template that it refers to.
func complete(d *desk, sh *shelf.Shelf, c *call) {
	var out [2]wire.Span
	if !c.Name.Present() || wire.Find(c.Raw, c.Name, []string{"name", "uri"}, out[:]) != nil {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.ref is missing or not a reference"})
		return
	}
	if name, ok := wire.Unquote(c.Bytes(out[0])); ok {
		lead(d, sh, c, name, false, func() (destination, error) { return toPrompt(sh, name, out[0]) })
		return
	}
	uri, _ := wire.Unquote(c.Bytes(out[1]))
	era := c.terms.Era
	lead(d, sh, c, uri, false, func() (destination, error) { return toResource(sh, uri, out[1], era) })
}

// A destination is where a request goes, and what of it the server knows by another name.
type destination struct {
	srv    *toolbox.Server // nil if no server needs to be asked
	key    string          // what is asked for, by the server's own name
	prompt bool            // what is asked for is a prompt
	edits  []wire.Edit
	after  func()        // unless it is nil, is called when the request was sent
	failed func(outcome) // unless it is nil, is called when the request is not made, or ends without a result
}

// refuse takes note that the request is not made.
func (at *destination) refuse() { at.ended(refused) }

// ended takes note of the end of the request.
func (at *destination) ended(o outcome) {
	if at.failed != nil && o != answered {
		at.failed(o)
	}
}

// toPrompt is where the prompt of an exposed name is, which stands at a place of the request.
func toPrompt(sh *shelf.Shelf, name string, at wire.Span) (destination, error) {
	to, err := sh.Routes().Directory(toolbox.Prompts).Meant(naming.Want{Tool: name})
	if err != nil {
		return destination{}, notMeant(sh, toolbox.Prompts, name, err)
	}
	return destination{srv: to.Server, key: to.Key, prompt: true, edits: []wire.Edit{{Span: at, New: to.Name}}}, nil
}

// toResource is where the resource of a uri is, which stands at a place of the request of a client of an era.
func toResource(sh *shelf.Shelf, uri string, at wire.Span, era eras.Era) (destination, error) {
	srv, own, err := sh.Routes().Locate(uri, sh.Servers())
	if err != nil {
		return destination{}, noResource(uri, err, era)
	}
	to := destination{srv: srv, key: own}
	if own != uri {
		to.edits = []wire.Edit{{Span: at, New: wire.AppendQuote(nil, own)}}
	}
	return to, nil
}

// lead sends a request to where it belongs, or refuses it, under the name that the client used. A client need not have
// listed what it names: while toolboxes open that are open without being asked for, what leads nowhere waits for them,
// and a full name has its toolbox opened. One that is to keep its place goes on after those that wait.
func lead(d *desk, sh *shelf.Shelf, c *call, name string, inOrder bool, to func() (destination, error)) {
	var at destination
	var err error
	var b *shelf.Box // to be opened
	var srv *toolbox.Server
	waits := inOrder && d.turns.waited(marked)
	if inOrder {
		b, srv = d.unopened(sh, name)
	}
	if !waits && b == nil {
		at, err = to()
		waits = err != nil && len(sh.Unsettled()) > 0
		if err != nil && !waits { // it may have come just now
			at, err = to()
		}
		if err != nil {
			b, srv = d.unopened(sh, name)
		}
	}
	switch {
	case waits:
		f := d.ownAndNarrate(c)
		if f == nil {
			return
		}
		f.record.target(name)
		later := c.own()
		d.awaitMarked(f, sh, func(done func()) {
			defer done()
			at, err := to()
			if b, srv := d.unopened(sh, name); err != nil && b != nil {
				wait, opened := d.turns.take(of(srv))
				defer opened()
				done() // that takes long
				wait()
				at, err = f.opening(sh, b, srv, to)
			}
			f.lead(later, at, err)
		})
	case b != nil:
		d.inTurn(c, srv, func(f *flight, later *call) {
			f.record.target(name)
			at, err := f.opening(sh, b, srv, to)
			f.lead(later, at, err)
		})
	case err != nil:
		d.refuse(c, name, err)
	case at.srv != nil && d.turns.waited(of(at.srv)):
		whose := at
		if !d.inTurn(c, whose.srv, func(f *flight, later *call) { f.forward(later, whose) }) {
			whose.refuse()
		}
	default:
		d.forward(c, at)
	}
}

// opening opens the toolbox that a request needs, unless who came before has, and gives where the request belongs then.
func (f *flight) opening(sh *shelf.Shelf, b *shelf.Box, srv *toolbox.Server, to func() (destination, error)) (destination, error) {
	f.narrate(srv)
	if !b.Opened() {
		if _, err := sh.Open(f.ctx, b, true, srv.Name); err != nil {
			return destination{}, err
		}
	}
	return to()
}

// lead sends a request that has waited to where it belongs.
func (f *flight) lead(c *call, at destination, err error) {
	if err != nil {
		f.fail(err)
		return
	}
	f.forward(c, at)
}
