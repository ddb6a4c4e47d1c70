package proxy

import (
	"errors"
	"fmt"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// resource forwards a request that names a uri.
func (s *Session) resource(c *call) {
	watch := c.MethodName != "resources/read"
	uri, ok := wire.Unquote(c.Bytes(c.URI))
	switch {
	case watch && c.modern != nil:
		c.fail(&wire.Error{Code: wire.CodeMethodNotFound, Message: c.MethodName + " was replaced by subscriptions/listen in revision 2026-07-28"})
		return
	case !ok:
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.uri is missing or not a string"})
		return
	}
	if isKept(uri) && !watch {
		s.readKept(c, uri)
		return
	}
	srv, own, err := locate(s.shelf, uri)
	if err != nil {
		s.desk.refuse(c, uri, noResource(uri, err, c.modern != nil))
		return
	}
	if watch {
		on := c.MethodName == "resources/subscribe"
		wanted, err := s.watchFor(srv, uri, own, on)
		if err != nil {
			c.fail(err)
			return
		}
		srv.Watch(own, wanted)
		if srv.IsModern() || !on && s.watched(srv, own) {
			c.out.Finish(wire.AppendResult(nil, c.Bytes(c.ID), []byte("{}")))
			return
		}
	} else {
		s.showPage(srv, own)
	}
	if own == uri {
		s.desk.forward(c, srv, own)
		return
	}
	s.desk.forward(c, srv, own, wire.Edit{Span: c.URI, New: wire.AppendQuote(nil, own)})
}

// watchFor notes what a legacy client wants to hear of; it reports whether any
// client of the server still does.
func (s *Session) watchFor(srv *toolbox.Server, uri, own string, on bool) (wanted bool, err error) {
	if on {
		err = s.watches.add(uri)
	} else {
		// It may have subscribed when the uri led there by itself.
		s.watches.drop(s.shelf.Routes().Places.NamesOf(srv, own))
	}
	return on || s.watched(srv, own), err
}

// hears reports whether the client wants to hear of changes of a resource.
func (s *Session) hears(srv *toolbox.Server, own string) bool {
	return s.watches.wants(s.shelf.Routes().Places.NamesOf(srv, own))
}

// noResource words why a uri leads to no server.
func noResource(uri string, why error, modern bool) error {
	if errors.Is(why, naming.ErrUnknown) {
		why = errors.New("no open toolbox has a server with it")
	}
	code := eras.NoResource
	if modern {
		code = wire.CodeInvalidParams
	}
	shown := foreign.NewText(uri) // the specification wants it in the data
	data := append(wire.AppendQuote([]byte(`{"uri":`), shown.String()), '}')
	return &wire.Error{Code: code, Message: fmt.Sprintf("Resource not found: %s: %v", shown, why), Data: data}
}

// getPrompt forwards a request for a prompt by its exposed name.
func (s *Session) getPrompt(c *call) {
	name, ok := wire.Unquote(c.Bytes(c.Name))
	if !ok {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.name is missing or not a string"})
		return
	}
	to, err := s.shelf.Routes().Meant(toolbox.Prompts, naming.Want{Tool: name})
	if err != nil {
		s.desk.refuse(c, name, s.notMeant(toolbox.Prompts, name, err))
		return
	}
	s.desk.forward(c, to.Server, to.Key, wire.Edit{Span: c.Name, New: to.Name})
}

// complete forwards a request for completions to the server of the prompt or
// template that it refers to.
func (s *Session) complete(c *call) {
	var out [2]wire.Span
	if !c.Name.Present() || wire.Find(c.Raw, c.Name, []string{"name", "uri"}, out[:]) != nil {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.ref is missing or not a reference"})
		return
	}
	if name, ok := wire.Unquote(c.Bytes(out[0])); ok {
		to, err := s.shelf.Routes().Meant(toolbox.Prompts, naming.Want{Tool: name})
		if err != nil {
			c.fail(s.notMeant(toolbox.Prompts, name, err))
			return
		}
		s.desk.forward(c, to.Server, to.Key, wire.Edit{Span: out[0], New: to.Name})
		return
	}
	uri, _ := wire.Unquote(c.Bytes(out[1]))
	srv, own, err := locate(s.shelf, uri)
	if err != nil {
		c.fail(noResource(uri, err, c.modern != nil))
		return
	}
	s.desk.forward(c, srv, own, wire.Edit{Span: out[1], New: wire.AppendQuote(nil, own)})
}

// locate finds the server that a uri leads to and the uri it knows it by.
func locate(sh *shelf.Shelf, uri string) (srv *toolbox.Server, own string, err error) {
	return sh.Routes().Locate(uri, sh.Servers())
}
