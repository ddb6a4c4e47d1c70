package proxy

import (
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Request takes a request of a server. A legacy client is sent it; a modern
// one, which cannot be asked, gets it as the answer to the call that the
// server is working on.
func (s *Session) Request(a *toolbox.Ask, m *wire.Message) {
	legacy, closed := s.greeted(), s.Ended()
	if !legacy && s.tasks.ask(a, m) {
		return
	}
	m, err := attributed(a.Server, s.tasks.renamed(a.Server, m))
	if err != nil {
		a.Refuse(wire.CodeInvalidRequest, err.Error())
		return
	}
	carrier, known := s.carrier(a.Server, a.For)
	switch {
	case !legacy && !closed && known && carrier == nil && s.waiting.add(a, m):
	case closed, !legacy && known && carrier == nil:
		a.Refuse(wire.CodeInternal, "the client cannot be asked now")
	case !known:
		a.Refuse(wire.CodeInternal, whoseAsk)
	case legacy:
		s.put(a, m, carrier)
	case !a.Hold(len(m.Raw)):
		a.Refuse(wire.CodeInternal, "too much that this server asked for is unanswered")
	default:
		carrier.park(a, m.Raw)
	}
}

// whoseAsk refuses a question that might be put to the wrong client.
const whoseAsk = "several clients use this server, and it cannot be told which of them is to be asked: " +
	"no call is under way, or several are, or one was given up less than a minute ago; call again while no other call is under way"

// carrier is the request in flight that what a server says belongs to: that of
// the handler, if the server named it, else the newest of those that the server
// works on, nil if it works on none. known is false where that may be another
// client's.
func (s *Session) carrier(srv *toolbox.Server, belongs toolbox.CallHandler) (newest *flight, known bool) {
	if f, ok := belongs.(*flight); ok && f.requests == s.requests {
		return f, true
	}
	works := make(map[any]bool)
	s.requests.each(func(r *request) {
		f := r.work.(*flight)
		if f.server.Load() != srv {
			return
		}
		if newest == nil || f.number > newest.number {
			newest = f
		}
		if p := f.parked.Load(); p != nil {
			works[p] = true
		} else {
			works[f] = true
		}
	})
	// A server goes on with a call whose client is to come back with answers.
	for _, what := range s.states.all() {
		p, ok := what.(*parked)
		if !ok || p.first.server.Load() != srv {
			continue
		}
		if works[p] = true; newest == nil {
			newest = p.first
		}
	}
	return newest, !s.many && s.guests.Load() == 0 || len(works) == 1 && !srv.Strays()
}

// requestOf is the request of a flight, nil of none.
func requestOf(f *flight) *request {
	if f == nil {
		return nil
	}
	return &f.request
}

// put sends a server's request to a legacy client.
func (s *Session) put(a *toolbox.Ask, m *wire.Message, carrier *flight) {
	b := s.requests.buffers.Get()
	defer s.requests.buffers.Put(b)
	to := requestOf(carrier)
	if msg := s.asks.put(*b, a, m, to); msg != nil {
		*b = msg
		s.line.emit(to, msg)
	}
}

// Withdraw takes back a server's request that needs no answer any more. m is the server's own word of that, nil if the
// server is gone.
func (s *Session) Withdraw(a *toolbox.Ask, m *wire.Message) {
	k := s.asks.take(func(k *ask) bool { return k.of == a })
	s.waiting.withdraw(a)
	s.tasks.withdraw(a)
	switch {
	case k == nil || s.Ended():
	case m == nil:
		s.line.emit(k.carrier, k.withdrawal("the server is gone"))
	default:
		id, _ := wire.FindPath(m.Raw, m.Params, "requestId")
		s.line.emit(k.carrier, wire.Splice(nil, m.Raw, wire.Edit{Span: id, New: []byte(k.id)}))
	}
}

// Notification passes on what a server says of its own accord: to a legacy
// client all of it, to a modern one what it asked for.
func (s *Session) Notification(srv *toolbox.Server, m *wire.Message) {
	if s.taskNews(srv, m) {
		return
	}
	m = s.tasks.renamed(srv, m)
	legacy := s.greeted()
	if s.Ended() || !eras.Has(!legacy, string(m.Bytes(m.Method))) {
		return
	}
	if m.IsMethod("notifications/resources/updated") {
		s.updated(srv, m)
		return
	}
	f, known := s.carrier(srv, nil)
	switch {
	case legacy:
		s.line.spare(srv, requestOf(f), noticeToLegacy(srv, m))
	case !m.IsMethod("notifications/message") || f == nil || f.modern == nil || !wants(f.modern.level, m):
	case known:
		s.line.spare(srv, &f.request, m.Raw)
	default:
		srv.Dropped()
	}
}
