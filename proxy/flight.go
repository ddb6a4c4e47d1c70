package proxy

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// flight is one request of the client that is not answered yet: forwarded to a
// server, or worked on here.
type flight struct {
	s      *session
	id     []byte // the token of the client's id
	token  []byte // of its progress token, if any
	modern bool
	tool   bool // a tools/call: what goes wrong is told to the model
	over   atomic.Bool

	call   toolbox.Call // where it is forwarded
	ctx    context.Context
	cancel context.CancelFunc // where it is worked on here
}

// take registers a request; nil if its id is in use, which is then answered.
func (s *session) take(c *call) *flight {
	f := &flight{s: s, id: bytes.Clone(c.Bytes(c.ID)), modern: c.modern, tool: c.method == "tools/call"}
	s.mu.Lock()
	_, twice := s.flights[string(f.id)]
	ok := !twice && !s.closed
	if ok {
		s.flights[string(f.id)] = f
		s.owed.Add(1)
	}
	s.mu.Unlock()
	if twice {
		s.fail(f.id, &wire.Error{Code: wire.CodeInvalidRequest, Message: "a request with this id is in progress"})
	}
	if !ok {
		return nil
	}
	return f
}

// own registers a request that is worked on here, under f.ctx.
func (s *session) own(c *call) *flight {
	f := s.take(c)
	if f != nil {
		f.ctx, f.cancel = context.WithCancel(s.ctx)
	}
	return f
}

// end takes the flight out of the table; it reports whether this call did.
func (f *flight) end() bool {
	if !f.over.CompareAndSwap(false, true) {
		return false
	}
	f.s.mu.Lock()
	delete(f.s.flights, string(f.id))
	f.s.mu.Unlock()
	if f.cancel != nil {
		f.cancel()
	}
	return true
}

// reply answers with a result.
func (f *flight) reply(result []byte) {
	if !f.end() {
		return
	}
	defer f.s.owed.Done()
	b := f.s.p.buffer()
	defer f.s.p.release(b)
	*b = wire.AppendResult(*b, f.id, result)
	f.s.send(*b)
}

// fail answers with what went wrong: to a tool call as a result that the model
// reads, to other requests as an error.
func (f *flight) fail(err error) {
	if f.tool && !errors.As(err, new(*wire.Error)) {
		f.reply(toolError(err.Error(), f.modern))
		return
	}
	if f.end() {
		defer f.s.owed.Done()
		f.s.fail(f.id, err)
	}
}

// abandon gives the request up without an answer: the client cancelled it, or
// is gone.
func (f *flight) abandon() {
	if f.end() {
		f.call.Cancel(nil, wire.Span{})
		f.s.owed.Done()
	}
}

// cancelled takes the client's notifications/cancelled.
func (s *session) cancelled(m *wire.Message) {
	id, err := wire.FindPath(m.Raw, m.Params, "requestId")
	if err != nil || !id.Present() {
		return
	}
	s.mu.Lock()
	f := s.flights[string(m.Bytes(id))]
	s.mu.Unlock()
	if f != nil && f.end() {
		f.call.Cancel(m.Raw, id)
		s.owed.Done()
	}
}

// forward sends the client's request to a server with the given edits, which
// need live only during the call.
func (s *session) forward(c *call, srv *toolbox.Server, edits ...wire.Edit) {
	if f := s.take(c); f != nil {
		f.send(c, srv, edits...)
	}
}

// send forwards a request that is registered.
func (f *flight) send(c *call, srv *toolbox.Server, edits ...wire.Edit) {
	f.call.Raw, f.call.ID, f.call.Handler = c.Raw, c.ID, f
	if c.token.Present() {
		f.call.Token, f.token = c.token, bytes.Clone(c.Bytes(c.token))
	}
	for _, e := range edits {
		f.call.Edit(e.Span, e.New)
	}
	srv.Send(&f.call)
}

// toolError is the result of a tool call that failed here, as text that the
// model reads.
func toolError(text string, modern bool) []byte {
	b := []byte{'{'}
	if modern {
		b = append(b, `"resultType":"complete",`...)
	}
	b = append(b, `"content":[{"type":"text","text":`...)
	b = wire.AppendQuote(b, text)
	return append(b, `}],"isError":true}`...)
}

// Progress hands on progress under the client's own token.
func (f *flight) Progress(m *wire.Message, token wire.Span) {
	b := f.s.p.buffer()
	defer f.s.p.release(b)
	*b = wire.Splice(*b, m.Raw, wire.Edit{Span: token, New: f.token})
	f.s.send(*b)
}

// Done hands on the reply under the client's own id.
func (f *flight) Done(m *wire.Message, err error) {
	if err != nil {
		f.fail(err)
		return
	}
	if !f.end() {
		return
	}
	defer f.s.owed.Done()
	b := f.s.p.buffer()
	defer f.s.p.release(b)
	id := wire.Edit{Span: m.ID, New: f.id}
	if !f.modern || m.Kind != wire.Result {
		*b = wire.Splice(*b, m.Raw, id)
	} else {
		*b = spliceModern(*b, m, id)
	}
	f.s.send(*b)
}

// spliceModern makes the result of a legacy server one of revision 2026-07-28,
// which must say its type.
func spliceModern(dst []byte, m *wire.Message, id wire.Edit) []byte {
	kind, err := wire.FindPath(m.Raw, m.Result, "resultType")
	if err != nil || kind.Present() || m.Raw[m.Result.Start] != '{' {
		return wire.Splice(dst, m.Raw, id)
	}
	text := []byte(`"resultType":"complete",`)
	if isEmptyObject(m.Bytes(m.Result)) {
		text = text[:len(text)-1]
	}
	insert := wire.Edit{Span: wire.At(m.Result.Start + 1), New: text}
	if id.Span.Start < m.Result.Start {
		return wire.Splice(dst, m.Raw, id, insert)
	}
	return wire.Splice(dst, m.Raw, insert, id)
}

func isEmptyObject(b []byte) bool {
	return len(bytes.TrimSpace(b[1:len(b)-1])) == 0
}
