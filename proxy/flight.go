package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Outlet is where the messages of one request go: the client's connection on
// stdio, the stream of its own POST over HTTP.
type Outlet interface {
	// Message sends something that belongs to the request and comes before
	// its reply: progress, a question of the server, a log line. The callee
	// copies msg.
	Message(msg []byte)
	// Behind reports whether the client has much of it still to read.
	Behind() bool
	// Finish sends the reply, after which nothing comes; nil means that the
	// request ended without one.
	Finish(reply []byte)
	// From says where the request came from.
	From() Origin
}

// Origin is where a request came from.
type Origin struct {
	Pipe    bool   // the client's own connection to this process, and not a network
	Address string // of a client over HTTP
	Guest   bool   // another program of the same user asks, beside the client
	Script  bool   // a script of the client calls a tool
}

// connection is the outlet of all requests of a stdio client.
type connection struct{ s *Session }

func (c connection) Message(msg []byte) { c.s.send(msg) }
func (c connection) Behind() bool       { return c.s.isBehind(nil) }
func (c connection) From() Origin       { return Origin{Pipe: true} }

func (c connection) Finish(reply []byte) {
	if reply != nil {
		c.s.send(reply)
	}
}

// flightKey tells requests apart. scope is 0 where the client keeps its ids
// unique, else the number of the one exchange that the id belongs to.
type flightKey struct {
	scope uint64
	short [16]byte // the token of the id, if it fits, so that nothing is allocated for it
	long  string   // otherwise
}

func keyOf[token string | []byte](scope uint64, id token) flightKey {
	key := flightKey{scope: scope}
	if len(id) > len(key.short) {
		key.long = string(id)
	} else {
		copy(key.short[:], id)
	}
	return key
}

// flight is one request of the client that is not answered yet: forwarded to a
// server, or worked on here.
type flight struct {
	s       *Session
	out     Outlet
	key     flightKey
	number  uint64 // later ones have higher numbers
	digest  uint64 // of a modern client's request
	id      []byte // the token of the client's id
	token   []byte // of its progress token, if any
	modern  *modern
	tool    bool      // a tools/call: what goes wrong is told to the model
	inner   inner     // what workbench_use_tool was asked to call
	cached  bool      // it is of a method whose results may be kept by modern clients
	tasks   bool      // it is for a tool of a legacy server that may make a task of it
	made    bool      // its result is a task
	alias   bool      // its client knows the skill that it is about by other uris than the server
	granted uint64    // the digest of what a person agreed to, of a modern client
	size    int       // what the session's account is charged for it; guarded by s.mu
	room    [192]byte // for copies of what is short of the request, so that nothing is allocated for them
	kept    int       // how much of room is taken
	over    atomic.Bool
	began   time.Duration // when it was forwarded, as tallies.clock has it; 0 if nobody wants to know

	call      toolbox.Call             // where it is forwarded
	narrator  atomic.Pointer[narrator] // tells the client what it waits for; nil for nobody
	server    atomic.Pointer[toolbox.Server]
	level     string     // of the log lines that a legacy client wants
	record    calls.Call // what is kept of it, and how much
	recording calls.Mode
	span      *span                        // its part of a trace, if there is to be one
	again     *request                     // what is sent again if a modern server asks a legacy client
	repeat    atomic.Pointer[toolbox.Call] // and how it was sent the last time
	asking    atomic.Pointer[round]        // what the client is asked for it, or was the last time
	parked    atomic.Pointer[parked]       // where a legacy server asked a modern client

	ctx    context.Context
	cancel context.CancelFunc // where it is worked on here
}

// keep copies a part of the request, which is valid only until it is forwarded. Only the goroutine that forwards the
// request calls keep.
func (f *flight) keep(part []byte) []byte {
	end := f.kept + len(part)
	if end > len(f.room) {
		return bytes.Clone(part)
	}
	copied := f.room[f.kept:end:end]
	copy(copied, part)
	f.kept = end
	return copied
}

// take registers a request; nil if its id is in use, which is then answered.
func (s *Session) take(c *call) *flight {
	f := &flight{s: s, out: c.out, modern: c.modern}
	f.id = f.keep(c.Bytes(c.ID))
	f.tool, f.cached = c.MethodName == "tools/call", eras.Cacheable(c.MethodName)
	f.key = keyOf(c.scope, f.id)
	f.size = 2*len(f.id) + account.Each
	f.recording = s.p.root.opts.Calls.Mode()
	s.mu.Lock()
	_, twice := s.flights[f.key]
	closed := s.closed
	ok := !twice && !closed && s.account.Charge(f.size)
	if ok {
		s.lastFlight++
		f.number = s.lastFlight
		f.level = s.level
		f.record.Client = s.label
		s.flights[f.key] = f
		s.owed.Add(1)
	}
	s.mu.Unlock()
	if ok && f.records() {
		f.noteAsked(c)
	}
	switch {
	case twice:
		c.out.Finish(errorReply(f.id, &wire.Error{Code: wire.CodeInvalidRequest, Message: "a request with this id is in progress"}))
	case closed:
		c.out.Finish(errorReply(f.id, ErrClosed))
	case !ok:
		c.out.Finish(errorReply(f.id, errMuch))
	default:
		return f
	}
	return nil
}

// errMuch refuses what more would have to be kept for than one client or user may
// have kept.
var errMuch = errors.New("too much is kept for this client, or for its user: have requests answered, end subscriptions or sessions")

// hold charges n more bytes for the request until it ends; it reports false if they
// are not to be kept.
func (f *flight) hold(n int) bool {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if f.over.Load() || !f.s.account.Charge(n) {
		return false
	}
	f.size += n
	return true
}

// own registers a request that is worked on here, under f.ctx.
func (s *Session) own(c *call) *flight {
	f := s.take(c)
	if f != nil {
		f.ctx, f.cancel = context.WithCancel(s.ctx)
		f.noteBegun(c)
	}
	return f
}

// end takes the flight out of the table, counts and records it, with its reply if
// it has one; it reports whether this call did.
func (f *flight) end(o outcome, reply []byte) bool {
	if !f.over.CompareAndSwap(false, true) {
		return false
	}
	f.hush()
	if srv := f.server.Load(); srv != nil {
		f.s.p.root.tallies.add(srv, o, f.began)
		f.s.counted[o].Add(1)
		if f.span != nil {
			f.span.finish(o)
		}
	}
	f.noteEnded(o, reply)
	f.s.mu.Lock()
	delete(f.s.flights, f.key)
	if f.again != nil {
		maps.DeleteFunc(f.s.asks, func(_ string, k *ask) bool { return k.of == nil && k.carrier == f })
	}
	f.s.account.Credit(f.size)
	listens := f.s.listens[f] != nil
	f.s.mu.Unlock()
	if f.cancel != nil {
		f.cancel()
	}
	if r := f.asking.Load(); r != nil {
		r.expiry.Stop()
	}
	if listens {
		f.s.endListen(f)
	}
	return true
}

// finish ends the flight with a reply.
func (f *flight) finish(reply []byte, o outcome) {
	if f.end(o, reply) {
		f.out.Finish(reply)
		f.s.owed.Done()
	}
}

// reply answers with a result.
func (f *flight) reply(result []byte) { f.replyAs(result, answered) }

func (f *flight) replyAs(result []byte, o outcome) {
	b := f.s.p.buffer()
	defer f.s.p.release(b)
	*b = wire.AppendResult(*b, f.id, result)
	f.finish(*b, o)
}

// fail answers with what went wrong: to a tool call as a result that the model
// reads, to other requests as an error.
func (f *flight) fail(err error) {
	if f.tool && !errors.As(err, new(*wire.Error)) {
		f.replyAs(toolError(err.Error(), f.modern != nil), outcomeOf(err))
		return
	}
	f.finish(errorReply(f.id, err), outcomeOf(err))
}

// errorReply is the answer to a request that failed.
func errorReply(id []byte, err error) []byte {
	var bad *wire.Error
	if !errors.As(err, &bad) {
		bad = &wire.Error{Code: wire.CodeInternal, Message: err.Error()}
	}
	return wire.AppendError(nil, id, bad.Code, bad.Message, bad.Data)
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

// abandon gives the request up without an answer: the client cancelled it (raw
// is its notification, if it sent one, and id the span of the id in it) or is
// gone.
func (f *flight) abandon(raw []byte, id wire.Span) {
	if f.end(cancelled, nil) {
		if again := f.repeat.Load(); again != nil {
			again.Cancel(raw, id)
		}
		f.call.Cancel(raw, id)
		f.out.Finish(nil)
		f.s.owed.Done()
	}
}

// Abandon gives up a request whose client is gone, if it is under way.
func (s *Session) Abandon(scope uint64, id []byte) { s.abandon(keyOf(scope, id)) }

func (s *Session) abandon(key flightKey) {
	s.mu.Lock()
	f := s.flights[key]
	s.mu.Unlock()
	if f != nil {
		f.abandon(nil, wire.Span{})
	}
}

// cancelled takes the client's notifications/cancelled.
func (s *Session) cancelled(m *wire.Message, scope uint64) {
	id, err := wire.FindPath(m.Raw, m.Params, "requestId")
	if err != nil || !id.Present() {
		return
	}
	s.mu.Lock()
	f := s.flights[keyOf(scope, m.Bytes(id))]
	s.mu.Unlock()
	if f != nil {
		f.abandon(m.Raw, id)
	}
}

// forward sends the client's request to a server with the given edits, which
// need live only during the call. target is what it asks for, by the server's own
// name.
func (s *Session) forward(c *call, srv *toolbox.Server, target string, edits ...wire.Edit) {
	if f := s.take(c); f != nil {
		f.send(c, srv, target, edits...)
	}
}

// send forwards a request that is registered. A retry of a request that is
// parked resumes it instead.
func (f *flight) send(c *call, srv *toolbox.Server, target string, edits ...wire.Edit) {
	f.began = f.s.p.root.tallies.clock() // before server, by which end knows that it was forwarded
	if t := f.s.p.opts.Tracer; t != nil {
		f.span = f.newSpan(t, c, srv, edits)
	}
	f.noteSent(c, srv, target)
	f.server.Store(srv)
	f.call.Tasks = f.takesTasks(c, srv)
	if c.modern != nil {
		f.digest = f.s.p.seal.digest(c)
		if c.State.Present() && f.resume(c, srv) {
			return
		}
	}
	if f.span != nil {
		c, edits = f.span.carry(c, edits)
	}
	f.call.Raw, f.call.ID, f.call.Params, f.call.Meta = c.Raw, c.ID, c.Params, c.Meta
	f.call.Modern, f.call.LogLevel, f.call.Handler = c.modern != nil, f.level, f
	if c.Token.Present() {
		f.call.Token, f.token = c.Token, f.keep(c.Bytes(c.Token))
	}
	for _, e := range edits {
		f.call.Edit(e.Span, e.New)
	}
	if c.modern == nil && srv.MayBeModern() {
		if !f.hold(len(c.Raw)) {
			f.fail(errMuch)
			return
		}
		f.again = newRequest(c, edits)
	}
	srv.Send(&f.call)
	if f.token != nil && f.call.Waits() {
		f.narrate(srv)
	}
	if c.modern != nil {
		f.s.carryHeld(f, srv)
	}
}

// Progress hands on progress under the client's own token.
func (f *flight) Progress(m *wire.Message, token wire.Span) {
	to := f
	if p := f.parked.Load(); p != nil {
		if to = p.current(); to == nil || to.token == nil {
			return // nobody is waiting at this moment
		}
	}
	to.hush()
	if to.out.Behind() {
		f.server.Load().Dropped()
		return
	}
	b := f.s.p.buffer()
	defer f.s.p.release(b)
	*b = wire.Splice(*b, m.Raw, wire.Edit{Span: token, New: to.token})
	to.out.Message(*b)
}

// Done hands on the reply under the client's own id.
func (f *flight) Done(m *wire.Message, err error) {
	if p := f.parked.Load(); p != nil {
		p.done(m, err)
		return
	}
	f.deliver(m, err)
}

// deliver answers the client with a server's reply, translated where the two
// are of different eras.
func (f *flight) deliver(m *wire.Message, err error) {
	if err != nil {
		f.fail(err)
		return
	}
	if m.Kind == wire.Result {
		m = f.noteTask(m)
		if f.serverIsModern() {
			if m, err = f.nameInputs(m); err != nil {
				f.fail(fmt.Errorf("the question of server %q cannot be handed on: %v", f.server.Load().Name, err))
				return
			}
		}
	}
	if m.Kind == wire.Result {
		m = f.withPlaces(m)
	}
	if f.span != nil {
		f.span.note(m)
	}
	switch {
	case !f.tool || m.Kind != wire.Result || len(m.Raw) <= smallResult || !f.mayShorten():
		f.answer(m)
	case f.hold(len(m.Raw)): // it takes time, for which the server's other replies would wait
		kept := *m
		kept.Raw = bytes.Clone(m.Raw)
		go func() { f.answer(f.shortened(&kept)) }()
	default:
		f.answer(f.shortened(m))
	}
}

// answer gives the client a reply as it is to see it.
func (f *flight) answer(m *wire.Message) {
	if f.granted != 0 {
		f.grant(m)
	}
	modern := f.serverIsModern()
	if modern && f.modern == nil && f.ask(m) {
		return // the server wants more of the client first
	}
	if modern && f.modern == nil && f.call.Tasks && !f.made && m.Kind == wire.Result {
		m = f.madeTask(m)
	}
	b := f.s.p.buffer()
	defer f.s.p.release(b)
	if edits := f.explained(m); edits != nil || f.modern != nil != modern {
		*b = wire.Splice(*b, m.Raw, f.translated(m, modern, edits)...)
	} else {
		*b = wire.Splice(*b, m.Raw, wire.Edit{Span: m.ID, New: f.id})
	}
	f.finish(*b, f.outcomeOfReply(m))
}

// serverIsModern reports whether the request went to a server of revision
// 2026-07-28, the last time that it was sent.
func (f *flight) serverIsModern() bool {
	if again := f.repeat.Load(); again != nil {
		return again.ServerIsModern()
	}
	return f.call.ServerIsModern()
}

// translated gives the edits that make a server's reply the client's: under its
// own id and in the terms of its era, besides others.
func (f *flight) translated(m *wire.Message, modern bool, edits []wire.Edit) []wire.Edit {
	edits = append(edits, wire.Edit{Span: m.ID, New: f.id})
	switch {
	case f.modern != nil == modern:
	case m.Kind == wire.Result && modern:
		edits = append(edits, eras.ResultToLegacy(m.Raw, m.Result, f.cached)...)
	case m.Kind == wire.Result:
		edits = append(edits, eras.ResultToModern(m.Raw, m.Result, f.cached)...)
	case !modern:
		edits = append(edits, eras.ErrorToModern(m.Raw, m.Error)...)
	}
	slices.SortStableFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
	return edits
}
