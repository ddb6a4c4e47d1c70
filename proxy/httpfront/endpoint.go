package httpfront

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/reqbody"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
)

// bodyTime is how long a client may take to send the body of a request.
const bodyTime = 15 * time.Second

// endpoint speaks MCP: at /mcp, and at /mcp/{toolbox}.
type endpoint struct {
	root *proxy.Proxy
	*door
	pace    *pace
	clients *clients
	maxBody int
	life    pulse
	buffers wire.Buffers
	scopes  atomic.Uint64 // the last one given to an exchange
}

// serve serves a request to the endpoint of a toolbox, or with "" of all.
func (e *endpoint) serve(w http.ResponseWriter, r *http.Request, toolbox string) {
	c, err := e.authorize(r)
	if err != nil {
		err.write(w, r)
		return
	}
	v := visit{c, e.root.For(&c.Principal, toolbox), visitorOf(r).address}
	if v.front == nil {
		refuseToolbox(toolbox).write(w, r)
		return
	}
	switch r.Method {
	case http.MethodPost:
		err = e.post(w, r, v)
	case http.MethodGet:
		err = e.listen(w, r, v)
	case http.MethodDelete:
		err = e.delete(w, r, v)
	default:
		err = refuseMethod("POST, GET, DELETE")
	}
	if err != nil {
		err.write(w, r)
	}
}

func refuseToolbox(name string) *refusal {
	return refuse(http.StatusNotFound, fmt.Sprintf("there is no toolbox %q here", foreign.NewName(name)))
}

// post serves a POST: one message.
func (e *endpoint) post(w http.ResponseWriter, r *http.Request, v visit) *refusal {
	if no := checkPost(r); no != nil {
		return no
	}
	p := newPost(v, &e.buffers)
	defer p.handled()
	if no := e.readBody(w, r, v.Name, p.body); no != nil {
		return no
	}
	no := e.receive(w, r, p)
	if no != nil {
		no.read = true
		if no.id == nil {
			no.id = p.id // without it some clients would wait for an answer to the request
		}
	}
	return no
}

// receive serves the message in the body of p.
func (e *endpoint) receive(w http.ResponseWriter, r *http.Request, p *post) *refusal {
	x := &p.exchange
	*p.body = wire.Unmarked(*p.body)
	err := wire.Scan(*p.body, &x.Message)
	if err != nil {
		err = wire.Forgive(*p.body, &x.Message, err)
		*p.body = x.Raw
	}
	if err == nil && bytes.ContainsAny(*p.body, "\r\n") {
		// Further on, a message is one line.
		*p.body = wire.Compact((*p.body)[:0], *p.body)
		_ = wire.Scan(*p.body, &x.Message)
	}
	if err == nil {
		if x.Kind == wire.Request {
			p.id, p.closing = bytes.Clone(x.Bytes(x.ID)), e.clients.isClosing // the body is for use again
		}
		err = x.read(r.Header)
	}
	if err == nil && isCall(&x.Request) {
		if no := e.pace.take(p.Name); no != nil {
			return no
		}
	}
	switch {
	case err != nil:
		if c, no := e.clients.find(r, &p.visit, false); no == nil {
			c.Misanswered(err)
			e.clients.release(c)
		}
		return refuseMessage(err)
	case x.stateless:
		return e.postStateless(w, r, p, x)
	case x.Kind == wire.Request && x.MethodName == "initialize":
		return e.initialize(w, r, p)
	}
	return e.postLegacy(w, r, p, x)
}

// isCall reports whether a message is one of which a user may make so many.
func isCall(r *incoming.Request) bool {
	return r.Kind == wire.Request && r.MethodName == "tools/call"
}

// checkPost refuses what is no message in a form that is understood.
func checkPost(r *http.Request) *refusal {
	kinds := r.Header["Content-Type"]
	var kind string
	if len(kinds) == 1 {
		kind = kinds[0]
		if kind != "application/json" {
			kind, _, _ = mime.ParseMediaType(kind)
		}
	}
	switch {
	case kind != "application/json":
		return refuse(http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
	case r.Header["Content-Encoding"] != nil:
		return refuse(http.StatusUnsupportedMediaType, "the body must not be encoded; leave out the header Content-Encoding")
	case !accepts(r.Header["Accept"], "application/json", "text/event-stream"):
		return refuse(http.StatusNotAcceptable, "the header Accept must list both application/json and text/event-stream")
	}
	return nil
}

// readBody reads the whole body, which a user sends, into buf, within the limits of size and time.
func (e *endpoint) readBody(w http.ResponseWriter, r *http.Request, user string, buf *[]byte) *refusal {
	body, err := reqbody.Read(w, r, user, (*buf)[:0], e.maxBody, bodyTime)
	switch *buf = body; {
	case err == nil:
		return nil
	case err.Status == http.StatusRequestEntityTooLarge:
		return refuse(err.Status, "the message is too long (workbench serve --max-body allows more)")
	case err.Status == http.StatusTooManyRequests:
		return refuse(err.Status, err.Error()).later("1")
	}
	return refuse(err.Status, err.Error())
}

// respond writes the response to p.
func (e *endpoint) respond(w http.ResponseWriter, r *http.Request, p *post) response {
	return p.respond(w, r, &e.life, func() bool { return !p.listens || e.stays(r.Context(), &p.caller) })
}

// postStateless serves a message of revision 2026-07-28, which is an exchange of its own: no session, and closing the
// response cancels it.
func (e *endpoint) postStateless(w http.ResponseWriter, r *http.Request, p *post, x *exchange) *refusal {
	if no := x.checkStateless(); no != nil {
		return no
	}
	if x.Kind == wire.Notification {
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	c, no := e.clients.share(&p.visit)
	if no != nil {
		return no
	}
	defer e.clients.release(c)
	c.Prepare(r.Context(), x.MethodName)
	if x.MethodName == "tools/call" {
		if tool := c.Mirrored(x.Bytes(x.Name)); tool != nil {
			if no := x.checkMirrored(tool); no != nil {
				return no
			}
		}
	}
	p.listens, p.debt = x.MethodName == "subscriptions/listen", c.debt
	scope := e.scopes.Add(1)
	c.Handle(&x.Request, p, scope)
	p.handled()
	switch e.respond(w, r, p) {
	case responseBroken:
		c.Abandon(scope, p.id)
	case responseNone:
		return unanswered(w, c)
	}
	return nil
}

// initialize serves the message that begins a session of the legacy era.
func (e *endpoint) initialize(w http.ResponseWriter, r *http.Request, p *post) *refusal {
	c, no := e.clients.begin(&p.visit)
	if no != nil {
		return no
	}
	c.Handle(&p.exchange.Request, p, 0) // answers before it returns
	p.streams = c.streams
	switch {
	case c.Revision() == "":
		e.clients.forget(c)
	case !e.clients.register(c):
		e.clients.forget(c)
		return refuseClosing()
	default:
		defer e.clients.release(c)
		w.Header().Set(mcp.HeaderSessionID, c.id)
	}
	e.respond(w, r, p)
	return nil
}

// postLegacy serves a message that belongs to a session. That its client goes away does not cancel it: it may come back
// for the rest of the stream.
func (e *endpoint) postLegacy(w http.ResponseWriter, r *http.Request, p *post, x *exchange) *refusal {
	c, no := e.clients.find(r, &p.visit, x.Kind == wire.Request)
	if no != nil {
		return no
	}
	defer e.clients.release(c)
	if x.Kind != wire.Request {
		c.Handle(&x.Request, p, 0)
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	// Clients of earlier revisions would take the empty event for a message.
	p.streams, p.debt, p.prime = c.streams, c.debt, c.Revision() >= mcp.ProtocolVersion20251125
	c.Prepare(context.WithoutCancel(r.Context()), x.MethodName)
	c.Handle(&x.Request, p, 0)
	p.handled()
	if e.respond(w, r, p) == responseNone {
		return unanswered(w, c)
	}
	return nil
}

// unknown ends the words for a request that has no reply. What was let in may have been carried out, so that nothing of
// the answer has a client or a proxy make the request again.
const unknown = "; whether the request was carried out is unknown"

// unanswered serves the end of a request that has no reply: cancelled by its client, which waits for none, or by the
// end of the session.
func unanswered(w http.ResponseWriter, c *client) *refusal {
	if c.Ended() {
		return refuse(http.StatusNotFound, "the session ended before the request was answered"+unknown)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	return nil
}

// listen serves a GET: the stream of what belongs to no request, or, with the id of an event, the rest of the stream
// that it was part of.
func (e *endpoint) listen(w http.ResponseWriter, r *http.Request, v visit) *refusal {
	if eras.Of(r.Header.Get(mcp.HeaderProtocolVersion)).IsStateless() {
		return refuseMethod("POST")
	}
	if !accepts(r.Header["Accept"], "text/event-stream") {
		return refuse(http.StatusNotAcceptable, "the header Accept must list text/event-stream")
	}
	c, no := e.clients.find(r, &v, true)
	if no != nil {
		return no
	}
	defer e.clients.release(c)
	st, rd := c.streams.standing, newReader()
	after := st.unread()
	if id := strings.TrimSpace(r.Header.Get(mcp.HeaderLastEventID)); id != "" {
		var err error
		if st, after, err = c.streams.resume(id); err != nil {
			return refuse(http.StatusBadRequest, "Last-Event-ID: "+err.Error())
		}
	}
	st.attach(rd, after)
	st.serve(r.Context(), w, rd, e.life.every, func() bool { return e.stays(r.Context(), &v.caller) })
	return nil
}

// delete serves a DELETE: the end of a session.
func (e *endpoint) delete(w http.ResponseWriter, r *http.Request, v visit) *refusal {
	if eras.Of(r.Header.Get(mcp.HeaderProtocolVersion)).IsStateless() {
		return refuseMethod("POST")
	}
	c, no := e.clients.find(r, &v, false)
	if no != nil {
		return no
	}
	defer e.clients.release(c)
	if e.clients.take(c) {
		go e.clients.close(gone(), c) // the client need not wait for the servers
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
