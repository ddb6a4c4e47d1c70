package proxy

import (
	"slices"
	"sync/atomic"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// peer is a session as its servers see it: it takes what they ask and say of their own accord.
type peer struct {
	many   bool         // of Client
	guests atomic.Int32 // requests of guests that are under way

	profile  *profile
	work     *background
	requests *requests
	asks     *asks
	states   *states
	waiting  *waiting
	tasks    *tasks
	taskDesk *taskDesk
	shelf    *shelf.Shelf
	watches  *watches
	line     *line
}

// Changed is the toolbox's word that a list of a server is other than before.
func (p *peer) Changed(srv *toolbox.Server, k toolbox.Kind) { p.shelf.Changed(srv, k) }

// Request takes a request of a server. A legacy client is sent it; a modern one, which cannot be asked, gets it as the
// answer to the call that the server is working on.
func (p *peer) Request(a *toolbox.Ask, m *wire.Message) {
	legacy, closed := p.profile.greeted(), p.work.ended()
	if !legacy && p.tasks.ask(a, m) {
		return
	}
	m = p.tasks.renamed(a.Server, m)
	carrier, known := p.carrier(a.Server, a.For, mayAsk)
	switch {
	case closed:
		a.Refuse(wire.CodeInternal, notNow)
	case !known:
		a.Refuse(wire.CodeInternal, whoseAsk)
	case legacy:
		p.put(a, m, carrier)
	default:
		h, ok := hold(a, m)
		switch {
		case !ok:
		case carrier != nil:
			if !carrier.park(h) {
				a.Refuse(wire.CodeInternal, nobodyAnswers)
			}
		case !p.waiting.add(h):
			a.Refuse(wire.CodeInternal, notNow)
		}
	}
}

// notNow refuses a question that no request of the client can carry, manyAsks one that is too much to keep, and
// nobodyAnswers one whose client or call is over.
const (
	notNow        = "the client cannot be asked now"
	manyAsks      = "too many questions of this server are unanswered"
	nobodyAnswers = "nobody will answer: the call that the question belongs to is over, or its client is gone"
)

// whoseAsk refuses a question that might be put to the wrong client.
const whoseAsk = "several clients use this server, and workbench cannot tell which one to ask: " +
	"no call is under way, or several are, or one was given up less than a minute ago; call again while no other call is under way"

// anyFlight and mayAsk are what of a client's requests may carry: what is said, and what the client is asked.
func anyFlight(*flight) bool { return true }
func mayAsk(f *flight) bool  { return !f.terms.AsksInResults() || f.asks }

// carrier is the request in flight that what a server says belongs to: that of the handler, if the server named it,
// else the newest of those that the server works on and that fit, nil if it works on none. known is false where that may
// be another client's.
func (p *peer) carrier(srv *toolbox.Server, belongs toolbox.CallHandler, fits func(*flight) bool) (newest *flight, known bool) {
	if f, ok := belongs.(*flight); ok && f.requests == p.requests {
		return f, true
	}
	works := make(map[any]bool)
	p.requests.each(func(r *request) {
		f := r.work.(*flight)
		parked := f.parked.Load()
		if !f.server.Load().LeadsTo(srv) || parked == nil && !f.call.IsSent() || parked == replied {
			return
		}
		if fits(f) && (newest == nil || f.number > newest.number) {
			newest = f
		}
		if parked != nil {
			works[parked] = true
		} else {
			works[f] = true
		}
	})
	// A server goes on with a call whose client is to come back with answers.
	for _, parked := range p.states.parked() {
		if !parked.first.server.Load().LeadsTo(srv) {
			continue
		}
		if works[parked] = true; newest == nil {
			newest = parked.first
		}
	}
	return newest, !p.many && p.guests.Load() == 0 || len(works) == 1 && !srv.Counts().Strays()
}

// requestOf is the request of a flight, nil of none.
func requestOf(f *flight) *request {
	if f == nil {
		return nil
	}
	return &f.request
}

// put sends a server's request to a legacy client.
func (p *peer) put(a *toolbox.Ask, m *wire.Message, carrier *flight) {
	b := p.requests.buffers.Get()
	defer p.requests.buffers.Put(b)
	to := requestOf(carrier)
	if msg := p.asks.put(*b, a, m, to); msg != nil {
		*b = msg
		p.line.emit(to, msg)
	}
}

// Withdraw takes back a server's request that needs no answer any more. m is the server's own word of that, nil if the
// server is gone.
func (p *peer) Withdraw(a *toolbox.Ask, m *wire.Message) {
	taken := p.asks.take(func(k *ask) bool { return k.of == a })
	p.waiting.take(func(h held) bool { return h.ask == a })
	p.tasks.withdraw(a)
	for _, parked := range p.states.parked() {
		parked.withdraw(a)
	}
	for _, k := range taken {
		switch {
		case p.work.ended():
		case m == nil:
			p.line.emit(k.carrier, k.withdrawal("the server is gone"))
		default:
			id, _ := wire.FindPath(m.Raw, m.Params, "requestId")
			p.line.emit(k.carrier, wire.Splice(nil, m.Raw, wire.Edit{Span: id, New: []byte(k.id)}))
		}
	}
}

// Notification passes on what a server says of its own accord: to a legacy client all of it, to a modern one what it
// asked for.
func (p *peer) Notification(srv *toolbox.Server, m *wire.Message, belongs toolbox.CallHandler) {
	if p.taskNews(srv, m) {
		return
	}
	m = p.tasks.renamed(srv, m)
	legacy := p.profile.greeted()
	if p.work.ended() || !p.profile.known().era.Has(string(m.Bytes(m.Method))) {
		return
	}
	if m.IsMethod("notifications/resources/updated") {
		p.updated(srv, m)
		return
	}
	fits := func(f *flight) bool { return legacy || m.IsMethod("notifications/message") && wants(f.terms.level, m) }
	f, known := p.carrier(srv, belongs, fits)
	if f != nil {
		if parked := f.parked.Load(); parked != nil {
			f = parked.current() // the request that came again for it
		}
	}
	switch {
	case legacy:
		p.line.spare(srv, requestOf(f), noticeToLegacy(srv, m))
	case f == nil || !fits(f):
	case known:
		p.line.spare(srv, &f.request, m.Raw)
	default:
		srv.Counts().Dropped.Add(1)
	}
}

// updated passes on that a resource changed, under the uri that the client knows it by.
func (p *peer) updated(srv *toolbox.Server, m *wire.Message) {
	span, err := wire.FindPath(m.Raw, m.Params, "uri")
	uri, ok := wire.Unquote(m.Bytes(span))
	if err != nil || !ok {
		return
	}
	places := p.shelf.Routes().Places
	names := places.NamesOf(srv, uri)
	alias, name := names[0], names[len(names)-1]
	if _, listed := places.Alias(srv, uri); listed && !p.watches.subscribed(name) || p.watches.subscribed(alias) {
		name = alias
	}
	to := p.watches.listeners(func(sub *subscription) (found string, ok bool) {
		for _, name := range names {
			if slices.Contains(sub.uris, name) {
				found, ok = name, true
			}
		}
		return found, ok
	})
	known := func(name string) []wire.Edit { return []wire.Edit{{Span: span, New: wire.AppendQuote(nil, name)}} }
	if p.profile.greeted() {
		p.line.news(srv, nil, noticeToLegacy(srv, m, known(name)...))
	}
	for f, name := range to {
		p.line.news(srv, &f.request, tagged(m, known(name), f.id))
	}
}
