package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// aliasScheme begins the uris under which a resource is reached whose plain
// uri leads to another server.
const aliasScheme = "workbench://"

func aliasURI(srv *toolbox.Server, uri string) string {
	return aliasScheme + url.PathEscape(srv.Toolbox) + "/" + url.PathEscape(srv.Name) + "/" + uri
}

// resource forwards a request that names a uri.
func (s *session) resource(c *call) {
	watch := c.method != "resources/read"
	uri, ok := wire.Unquote(c.Bytes(c.uri))
	switch {
	case watch && c.modern != nil:
		c.fail(&wire.Error{Code: wire.CodeMethodNotFound, Message: c.method + " was replaced by subscriptions/listen in revision 2026-07-28"})
		return
	case !ok:
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.uri is missing or not a string"})
		return
	}
	srv, own, several := s.locate(uri)
	if watch {
		if srv != nil {
			on := c.method == "resources/subscribe"
			wanted, err := s.watchFor(srv, uri, own, on)
			if err != nil {
				c.fail(err)
				return
			}
			srv.Watch(own, wanted)
			if srv.IsModern() || !on && s.p.watched(srv, own) {
				c.out.finish(wire.AppendResult(nil, c.Bytes(c.ID), []byte("{}")))
				return
			}
		}
	}
	switch {
	case srv != nil && own == uri:
		s.forward(c, srv)
	case srv != nil:
		s.forward(c, srv, wire.Edit{Span: c.uri, New: wire.AppendQuote(nil, own)})
	case len(several) > 0:
		s.tryRead(c, several)
	default:
		c.fail(noResource(uri, c.modern != nil))
	}
}

// watchFor notes what a legacy client wants to hear of; it reports whether any
// client of the server still does.
func (s *session) watchFor(srv *toolbox.Server, uri, own string, on bool) (wanted bool, err error) {
	s.mu.Lock()
	switch had := s.watched[uri]; {
	case on && !had && (s.closed || !s.account.Charge(watchSize(uri))):
		err = errMuch
	case on:
		s.watched[uri] = true
	case had:
		delete(s.watched, uri)
		s.account.Credit(watchSize(uri))
	}
	s.mu.Unlock()
	return on || s.p.watched(srv, own), err
}

// watchSize is what is charged for a resource that a client subscribed to: both the
// session and the server know its uri.
func watchSize(uri string) int { return 2*len(uri) + account.Each }

// watched reports whether any session wants to hear of a resource of a server.
func (p *Proxy) watched(srv *toolbox.Server, own string) bool {
	return slices.ContainsFunc(p.live(), func(s *session) bool { return s.watches(srv, own) })
}

func noResource(uri string, modern bool) error {
	code := eras.NoResource
	if modern {
		code = wire.CodeInvalidParams
	}
	shown := foreign.NewText(uri) // the specification wants it in the data
	data := append(wire.AppendQuote([]byte(`{"uri":`), shown.String()), '}')
	return &wire.Error{Code: code, Message: fmt.Sprintf("Resource not found: %s: no open toolbox has a server with it", shown), Data: data}
}

// locate finds the server that a uri leads to and the uri it knows it by. A
// uri that no list has goes to the server whose template it fits or, if there
// is just one with resources, to that; of more, several is to be tried.
func (s *session) locate(uri string) (srv *toolbox.Server, own string, several []*toolbox.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if srv := s.routes.resources[uri]; srv != nil {
		return srv, uri, nil
	}
	boxes := s.openLocked()
	if strings.HasPrefix(uri, aliasScheme) {
		for _, b := range boxes {
			for _, srv := range b.Servers() {
				if own, ok := strings.CutPrefix(uri, aliasURI(srv, "")); ok {
					return srv, own, nil
				}
			}
		}
	}
	for _, it := range gather(boxes, toolbox.Templates) {
		if fits(it.Key.Verbatim(), uri) {
			return it.Server, uri, nil
		}
	}
	for _, b := range boxes {
		for _, srv := range b.Servers() {
			if srv.Offers(toolbox.Resources) {
				several = append(several, srv)
			}
		}
	}
	if len(several) == 1 {
		return several[0], uri, nil
	}
	return nil, "", several
}

// fits reports whether a uri begins as a template (RFC 6570) does. It need not
// be exact: the server it leads to decides.
func fits(template, uri string) bool {
	literal, _, found := strings.Cut(template, "{")
	return found && literal != "" && strings.HasPrefix(uri, literal)
}

// tryRead asks one server after the other for a resource that none lists.
// Reading changes nothing, so asking twice does no harm.
func (s *session) tryRead(c *call, servers []*toolbox.Server) {
	f := s.own(c)
	if f == nil {
		return
	}
	method, params := c.method, append([]byte(nil), c.Bytes(c.Params)...)
	uri, _ := wire.Unquote(c.Bytes(c.uri))
	go func() {
		for _, srv := range servers {
			result, err := srv.Request(f.ctx, method, params)
			if err == nil {
				f.replyFrom(srv, result)
				return
			}
			var rpc *toolbox.RPCError
			if !errors.As(err, &rpc) && ended(f.ctx) {
				break
			}
		}
		f.fail(noResource(uri, f.modern != nil))
	}()
}

func ended(ctx context.Context) bool { return ctx.Err() != nil }

// getPrompt forwards a request for a prompt by its exposed name.
func (s *session) getPrompt(c *call) {
	name, ok := wire.Unquote(c.Bytes(c.name))
	if !ok {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.name is missing or not a string"})
		return
	}
	to, err := s.meant(toolbox.Prompts, want{tool: name})
	if err != nil {
		c.fail(s.notMeant(toolbox.Prompts, name, err))
		return
	}
	s.forward(c, to.server, wire.Edit{Span: c.name, New: to.name})
}

// complete forwards a request for completions to the server of the prompt or
// template that it refers to.
func (s *session) complete(c *call) {
	var out [2]wire.Span
	if !c.name.Present() || wire.Find(c.Raw, c.name, []string{"name", "uri"}, out[:]) != nil {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.ref is missing or not a reference"})
		return
	}
	if name, ok := wire.Unquote(c.Bytes(out[0])); ok {
		to, err := s.meant(toolbox.Prompts, want{tool: name})
		if err != nil {
			c.fail(s.notMeant(toolbox.Prompts, name, err))
			return
		}
		s.forward(c, to.server, wire.Edit{Span: out[0], New: to.name})
		return
	}
	uri, _ := wire.Unquote(c.Bytes(out[1]))
	srv, own, _ := s.locate(uri)
	if srv == nil {
		c.fail(noResource(uri, c.modern != nil))
		return
	}
	s.forward(c, srv, wire.Edit{Span: out[1], New: wire.AppendQuote(nil, own)})
}
