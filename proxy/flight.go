package proxy

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// forwarding is what the requests of one client need that go to servers.
type forwarding struct {
	tallies *tallies
	counted *people      // what became of the calls of the user
	tracer  trace.Tracer // nil traces nothing
	asks    *asks
	states  *states
	waiting *waiting
	tasks   *tasks
	shelf   *results.Shelf // large results
	links   func() bool    // reports whether the client knows links to resources in results
	logger  zerolog.Logger
	// rename gives a result of a server with the uris by which the client knows what is the server's.
	rename func(f *flight, m *wire.Message) *wire.Message
}

// flight is one request of the client that is worked on: forwarded to a server, or answered here.
type flight struct {
	request
	by *forwarding

	server   atomic.Pointer[toolbox.Server]
	call     toolbox.Call                 // where it is forwarded
	repeat   atomic.Pointer[toolbox.Call] // how it was sent the last time, if a modern server asked a legacy client
	narrator atomic.Pointer[narrator]     // tells the client what it waits for; nil for nobody
	patience patience                     // the progress of that
	asking   atomic.Pointer[round]        // what the client is asked for it, or was the last time
	parked   atomic.Pointer[parked]       // where a legacy server asked a modern client
	again    *repeatable                  // what is sent again if a modern server asks a legacy client
	span     *span                        // its part of a trace, if there is to be one
	record   record                       // what is kept of it
	inner    inner                        // what workbench_use_tool was asked to call
	level    string                       // of the log lines that a legacy client wants
	began    time.Duration                // when it was forwarded, as tallies.clock has it; 0 if nobody wants to know
	digest   uint64                       // of a modern client's request
	granted  uint64                       // the digest of what a person agreed to, of a modern client

	cached bool // it is of a method whose results may be kept by modern clients
	asks   bool // it is of a method whose results may ask a modern client
	tasks  bool // it is for a tool of a legacy server that may make a task of it
	made   bool // its result is a task

	declined bool // its user did not agree to visit a page that its server wants visited first
	alias    bool // its client knows the skill that it is about by other uris than the server
}

// ended implements work: the request is counted and recorded.
func (f *flight) ended(o outcome, reply []byte) {
	f.hush()
	srv := f.server.Load()
	if srv != nil {
		f.by.tallies.add(srv, o, f.began)
		f.by.counted.ended[o].Add(1)
		if f.span != nil {
			f.span.finish(o)
		}
	}
	f.record.ended(o, srv, reply)
	if r := f.asking.Load(); r != nil {
		r.end(reply != nil)
	}
}

// giveUp implements work.
func (f *flight) giveUp(raw []byte, id wire.Span) {
	if p := f.parked.Load(); p != nil {
		p.end(nobodyAnswers, raw, id)
		return
	}
	if again := f.repeat.Load(); again != nil {
		again.Cancel(raw, id)
	}
	f.call.Cancel(raw, id)
}

// send forwards the request to a server with the given edits, which need live only during the call. target is what it
// asks for, by the server's own name. A retry of a request that is parked resumes it instead. A request that was given up
// while it waited is not sent.
func (f *flight) send(c *call, srv *toolbox.Server, target string, edits ...wire.Edit) {
	if f.over.Load() {
		return
	}
	f.began = f.by.tallies.clock() // before server, by which ended knows that it was forwarded
	if t := f.by.tracer; t != nil {
		f.span = newSpan(t, &f.request, c, srv, edits)
	}
	f.record.sent(c, srv, target, f.span)
	f.server.Store(srv)
	f.call.Tasks = f.takesTasks(c, srv)
	if c.terms.AsksInResults() {
		f.digest, f.declined = f.by.states.digest(c), declines(c)
		if c.State.Present() && f.resume(c, srv) {
			return
		}
	}
	if f.span != nil {
		c, edits = f.span.carry(c, edits)
	}
	f.call.Raw, f.call.ID, f.call.Params, f.call.Meta = c.Raw, c.ID, c.Params, c.Meta
	f.call.Era, f.call.LogLevel, f.call.Handler = c.terms.Era, f.level, f
	if c.Token.Present() {
		f.call.Token, f.token = c.Token, f.keep(c.Bytes(c.Token))
	}
	for _, e := range edits {
		f.call.Edit(e.Span, e.New)
	}
	if !c.terms.AsksInResults() && srv.Era().MayAskInResults() {
		if !f.hold(len(c.Raw)) {
			f.fail(errMuch)
			return
		}
		f.again = newRepeatable(c, edits)
	}
	srv.Send(&f.call)
	if f.token != nil && f.call.Waits() {
		f.narrate(srv)
	}
	if c.terms.AsksInResults() && f.asks {
		for _, h := range f.by.waiting.take(func(h held) bool { return h.ask.Server == srv }) {
			if !f.park(h) && !f.by.waiting.add(h) { // it waits for the next call
				h.ask.Refuse(wire.CodeInternal, notNow)
			}
		}
	}
}

// narrate has the client told where the servers stand, if it gave a progress token, until the server of the request has
// taken it or it is answered.
func (f *flight) narrate(servers ...*toolbox.Server) {
	if f.token == nil {
		return
	}
	if n := f.narrator.Load(); n != nil {
		n.of(servers)
		return
	}
	n := newNarrator(f.out, f.token, &f.patience, f.call.IsSent, servers)
	f.narrator.Store(n)
	if f.over.Load() { // it ended meanwhile and did not find the narrator
		n.end()
	}
}

// hush ends the telling. It is called before the request is answered, and when its server tells of it itself.
func (f *flight) hush() {
	if n := f.narrator.Load(); n != nil {
		n.end()
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
		f.server.Load().Counts().Dropped.Add(1)
		return
	}
	b := f.requests.buffers.Get()
	defer f.requests.buffers.Put(b)
	own := wire.Edit{Span: token, New: to.token}
	if f.again != nil {
		*b = wire.Splice(*b, m.Raw, f.again.onward(m, own)...)
	} else {
		*b = wire.Splice(*b, m.Raw, own)
	}
	to.out.Message(*b)
}

// Done hands on the reply under the client's own id.
func (f *flight) Done(m *wire.Message, err error) {
	if p := f.settle(); p != nil {
		p.done(m, err)
		return
	}
	if m == nil {
		f.by.asks.abandon(&f.request)
	}
	f.deliver(m, err)
}

// deliver answers the client with a server's reply, translated where the two are of different eras.
func (f *flight) deliver(m *wire.Message, err error) {
	if err != nil {
		f.fail(err)
		return
	}
	if m.Kind == wire.Result {
		m = f.noteTask(m)
	}
	if m.Kind == wire.Failure || f.terms.AsksInResults() { // else what is asked in a result is put in questions
		srv := f.server.Load()
		if m, err = attributed(srv, m); err != nil {
			f.fail(unpassed(srv, err))
			return
		}
	}
	if m, err = f.visited(m); err != nil {
		f.fail(err)
		return
	}
	if m.Kind == wire.Result {
		m = f.by.rename(f, m)
	}
	if f.span != nil {
		f.span.note(m)
	}
	switch {
	case !f.tool || m.Kind != wire.Result || len(m.Raw) <= smallResult || !f.mayShorten():
		f.answer(m)
	case f.hold(len(m.Raw)): // it takes time, for which the server's other replies would wait
		kept := m.Clone()
		f.serve(func() { f.answer(f.shortened(kept)) })
	default:
		f.answer(f.shortened(m))
	}
}

// answer gives the client a reply as it is to see it.
func (f *flight) answer(m *wire.Message) {
	if f.granted != 0 && wantsInput(m) { // the next request with the server's state needs no consent
		f.by.states.grant(f.granted)
	}
	from := f.serverEra()
	if from.AsksInResults() && !f.terms.AsksInResults() && f.ask(m) {
		return // the server wants more of the client first
	}
	if from.DecidesTasks() && !f.terms.DecidesTasks() && f.call.Tasks && !f.made && m.Kind == wire.Result {
		m = f.by.tasks.made(f.server.Load(), m)
	}
	b := f.requests.buffers.Get()
	defer f.requests.buffers.Put(b)
	var reply []byte
	if edits := f.inner.explained(m); edits != nil || from != f.terms.Era {
		reply = m.Splice(b, f.translated(m, from, edits)...)
	} else {
		reply = m.Splice(b, wire.Edit{Span: m.ID, New: f.id})
	}
	f.finish(reply, outcomeOfReply(m, f.tool))
}

// wantsInput reports whether a reply says that its server wants more input of the client.
func wantsInput(m *wire.Message) bool {
	if m.Kind != wire.Result {
		return false
	}
	kind, _ := m.Text(m.Result, "resultType")
	return kind == "input_required"
}

// serverEra is the era of the server that the request went to, the last time that it was sent.
func (f *flight) serverEra() eras.Era {
	if again := f.repeat.Load(); again != nil {
		return again.ServerEra()
	}
	return f.call.ServerEra()
}

// translated gives the edits that make a server's reply the client's: under its own id and in the terms of its era,
// besides others.
func (f *flight) translated(m *wire.Message, from eras.Era, edits []wire.Edit) []wire.Edit {
	edits = append(edits, wire.Edit{Span: m.ID, New: f.id})
	edits = append(edits, from.Reply(f.terms.Era, m, f.cached)...)
	slices.SortStableFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
	return edits
}

// makesTasks reports whether the request may be answered with a task, and where the result then has it: a server with a
// handshake makes one where the request says so, one of revision 2026-07-28 of its own accord, if both sides have
// declared the extension.
func (f *flight) makesTasks() (at string, may bool) {
	switch {
	case !f.serverEra().DecidesTasks():
		return "task", f.call.Tasks
	case !eras.HasExtension(f.server.Load().Capabilities(), eras.Tasks):
		return "", false
	case !f.terms.DecidesTasks():
		return "", f.call.Tasks
	}
	return "", f.terms.has(eras.Tasks)
}

// takesTasks reports whether a task is an answer to a request: a client with a handshake asks for one; a modern client
// takes one from a tool of a legacy server that may make them.
func (f *flight) takesTasks(c *call, srv *toolbox.Server) bool {
	if !c.terms.DecidesTasks() {
		return c.Task.Present()
	}
	return f.tasks && c.terms.has(eras.Tasks) && eras.MakesTasks(srv.Capabilities())
}

// noteTask remembers the task that a result announces, and returns the result with the ids of tasks that the client
// sees, in the terms of the client's era.
func (f *flight) noteTask(m *wire.Message) *wire.Message {
	at, may := f.makesTasks()
	srv := f.server.Load()
	f.made = may && f.by.tasks.learnIn(srv, m, at)
	m = f.by.tasks.renamed(srv, m)
	switch decides := f.serverEra().DecidesTasks(); {
	case !f.made || f.terms.DecidesTasks() == decides:
		return m
	case decides:
		return withResult(m, eras.CreatedToLegacy(m.Raw, m.Result))
	}
	task, _ := wire.FindPath(m.Raw, m.Result, at)
	return withResult(m, eras.CreatedToModern(m.Raw, m.Result, task))
}
