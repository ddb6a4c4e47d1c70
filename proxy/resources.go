package proxy

import (
	"context"

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
	begin   func(func(context.Context))
	watched func(srv *toolbox.Server, own string) bool // reports whether any client wants to hear of a resource of a server
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
	srv, own, err := r.shelf.Routes().Locate(uri, r.shelf.Servers())
	if err != nil {
		r.desk.refuse(c, uri, noResource(uri, err, c.terms.Era))
		return
	}
	if watch {
		on := c.MethodName == "resources/subscribe"
		wanted, err := r.watchFor(srv, uri, own, on)
		if err != nil {
			c.fail(err)
			return
		}
		srv.Watch(own, wanted)
		if !srv.Era().Has(c.MethodName) || !on && r.watched(srv, own) {
			c.out.Finish(wire.AppendResult(nil, c.Bytes(c.ID), []byte("{}")))
			return
		}
	} else {
		showPage(r.shelf, srv, own)
	}
	if own == uri {
		r.desk.forward(c, srv, own)
		return
	}
	r.desk.forward(c, srv, own, wire.Edit{Span: c.URI, New: wire.AppendQuote(nil, own)})
}

// watchFor notes what a legacy client wants to hear of; it reports whether any
// client of the server still does.
func (r *resourceDesk) watchFor(srv *toolbox.Server, uri, own string, on bool) (wanted bool, err error) {
	if on {
		err = r.watches.add(uri)
	} else {
		// It may have subscribed when the uri led there by itself.
		r.watches.drop(r.shelf.Routes().Places.NamesOf(srv, own))
	}
	return on || r.watched(srv, own), err
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
	to, err := sh.Routes().Meant(toolbox.Prompts, naming.Want{Tool: name})
	if err != nil {
		d.refuse(c, name, notMeant(sh, toolbox.Prompts, name, err))
		return
	}
	d.forward(c, to.Server, to.Key, wire.Edit{Span: c.Name, New: to.Name})
}

// complete forwards a request for completions to the server of the prompt or
// template that it refers to.
func complete(d *desk, sh *shelf.Shelf, c *call) {
	var out [2]wire.Span
	if !c.Name.Present() || wire.Find(c.Raw, c.Name, []string{"name", "uri"}, out[:]) != nil {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.ref is missing or not a reference"})
		return
	}
	if name, ok := wire.Unquote(c.Bytes(out[0])); ok {
		to, err := sh.Routes().Meant(toolbox.Prompts, naming.Want{Tool: name})
		if err != nil {
			c.fail(notMeant(sh, toolbox.Prompts, name, err))
			return
		}
		d.forward(c, to.Server, to.Key, wire.Edit{Span: out[0], New: to.Name})
		return
	}
	uri, _ := wire.Unquote(c.Bytes(out[1]))
	srv, own, err := sh.Routes().Locate(uri, sh.Servers())
	if err != nil {
		c.fail(noResource(uri, err, c.terms.Era))
		return
	}
	d.forward(c, srv, own, wire.Edit{Span: out[1], New: wire.AppendQuote(nil, own)})
}
