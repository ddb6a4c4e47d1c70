package proxy

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// ask is a request put to a legacy client on behalf of a server, under an id
// of ours, since two servers may use the same.
type ask struct {
	of      *toolbox.Ask          // the server's request; nil where the server asked in a result
	answer  func(m *wire.Message) // takes the client's response
	carrier *flight               // the request of the client that it belongs to, if any
	id      string                // the token of our id, which is also our progress token
	token   []byte                // the server's progress token, if it gave one
}

// maxHeld is how many requests of a server wait for a call that can carry them.
const maxHeld = 16

// Request takes a request of a server. A legacy client is sent it; a modern
// one, which cannot be asked, gets it as the answer to the call that the
// server is working on.
func (s *Session) Request(a *toolbox.Ask, m *wire.Message) {
	if s.askInTask(a, m) {
		return
	}
	m, err := attributed(a.Server, s.withTasks(a.Server, m))
	if err != nil {
		a.Refuse(wire.CodeInvalidRequest, err.Error())
		return
	}
	carrier, known := s.carrier(a.Server, a.For)
	s.mu.Lock()
	legacy, closed := s.legacy, s.closed
	if !legacy && !closed && known && carrier == nil {
		if len(s.held) < maxHeld && a.Hold(len(m.Raw)) {
			s.held = append(s.held, held{a, bytes.Clone(m.Raw)})
			s.mu.Unlock()
			return
		}
		closed = true
	}
	s.mu.Unlock()
	switch {
	case closed:
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
	if f, ok := belongs.(*flight); ok && f.s == s {
		return f, true
	}
	works := make(map[any]bool)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.flights {
		if f.server.Load() != srv {
			continue
		}
		if newest == nil || f.number > newest.number {
			newest = f
		}
		if p := f.parked.Load(); p != nil {
			works[p] = true
		} else {
			works[f] = true
		}
	}
	// A server goes on with a call whose client is to come back with answers.
	for _, p := range s.parks {
		if p.first.server.Load() != srv {
			continue
		}
		if works[p] = true; newest == nil {
			newest = p.first
		}
	}
	return newest, !s.many && s.hosts == 0 || len(works) == 1 && !srv.Strays()
}

// put sends a server's request to a legacy client.
func (s *Session) put(a *toolbox.Ask, m *wire.Message, carrier *flight) {
	token, err := wire.FindPath(m.Raw, m.Params, "_meta", "progressToken")
	tracked := err == nil && token.Present()
	if tracked && !a.Hold(token.End-token.Start) {
		a.Refuse(wire.CodeInternal, "too much that this server asked for is unanswered")
		return
	}
	k := &ask{of: a, carrier: carrier, answer: func(m *wire.Message) { a.Reply(m.Raw, m.ID) }}
	s.enter(k)
	edits := []wire.Edit{{Span: m.ID, New: []byte(k.id)}}
	if tracked {
		k.token = bytes.Clone(m.Bytes(token))
		edits = append(edits, wire.Edit{Span: token, New: []byte(k.id)})
		slices.SortFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
	}
	b := s.p.buffer()
	defer s.p.release(b)
	*b = wire.Splice(*b, m.Raw, edits...)
	s.emit(carrier, *b)
}

// enter registers an ask and gives it its id.
func (s *Session) enter(k *ask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastAsk++
	k.id = fmt.Sprintf(`"wb-%d"`, s.lastAsk)
	s.asks[k.id] = k
}

// emit sends a message of a server with the request it belongs to, or, if it
// belongs to none, on its own.
func (s *Session) emit(carrier *flight, msg []byte) {
	if carrier != nil && !carrier.over.Load() {
		carrier.out.Message(msg)
		return
	}
	s.send(msg)
}

// Withdraw takes back a server's request that needs no answer any more.
func (s *Session) Withdraw(a *toolbox.Ask, m *wire.Message) {
	s.mu.Lock()
	var k *ask
	for _, x := range s.asks {
		if x.of == a {
			k = x
			delete(s.asks, x.id)
		}
	}
	s.held = slices.DeleteFunc(s.held, func(h held) bool { return h.ask == a })
	closed := s.closed
	s.mu.Unlock()
	s.tasks.withdraw(a)
	if k == nil || closed {
		return
	}
	b := s.p.buffer()
	defer s.p.release(b)
	if m == nil {
		*b = fmt.Appendf(*b, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"the server is gone"}}`, k.id)
	} else {
		id, _ := wire.FindPath(m.Raw, m.Params, "requestId")
		*b = wire.Splice(*b, m.Raw, wire.Edit{Span: id, New: []byte(k.id)})
	}
	s.emit(k.carrier, *b)
}

// answer takes the client's response to a request of a server.
func (s *Session) answer(m *wire.Message) {
	s.mu.Lock()
	k := s.asks[string(m.Bytes(m.ID))]
	delete(s.asks, string(m.Bytes(m.ID)))
	s.mu.Unlock()
	if k != nil {
		k.answer(m)
	}
}

// clientProgress passes the client's progress on a server's request.
func (s *Session) clientProgress(m *wire.Message) {
	token, err := wire.FindPath(m.Raw, m.Params, "progressToken")
	if err != nil || !token.Present() {
		return
	}
	s.mu.Lock()
	k := s.asks[string(m.Bytes(token))]
	s.mu.Unlock()
	if k != nil && k.token != nil {
		k.of.Forward(m.Raw, wire.Edit{Span: token, New: k.token})
	}
}

// Notification passes on what a server says of its own accord: to a legacy
// client all of it, to a modern one what it asked for.
func (s *Session) Notification(srv *toolbox.Server, m *wire.Message) {
	if s.taskNews(srv, m) {
		return
	}
	m = s.withTasks(srv, m)
	s.mu.Lock()
	closed, legacy := s.closed, s.legacy
	s.mu.Unlock()
	if closed || !eras.Has(!legacy, string(m.Bytes(m.Method))) {
		return
	}
	if m.IsMethod("notifications/resources/updated") {
		s.updated(srv, m)
		return
	}
	f, known := s.carrier(srv, nil)
	switch {
	case legacy:
		s.spare(srv, f, noticeToLegacy(srv, m))
	case !m.IsMethod("notifications/message") || f == nil || f.modern == nil || !wants(f.modern.level, m):
	case known:
		s.spare(srv, f, m.Raw)
	default:
		srv.Dropped()
	}
}

// noticeToLegacy gives a server's notification as a legacy client is to see it.
func noticeToLegacy(srv *toolbox.Server, m *wire.Message, edits ...wire.Edit) []byte {
	if srv.IsModern() {
		edits = append(edits, eras.NoticeToLegacy(m.Raw, m.Params)...)
		slices.SortStableFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
	}
	if len(edits) == 0 {
		return m.Raw
	}
	return wire.Splice(nil, m.Raw, edits...)
}

// levels are the log levels in rising order.
func levels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// wants reports whether a log message is of the level asked for or above.
func wants(level string, m *wire.Message) bool {
	span, err := wire.FindPath(m.Raw, m.Params, "level")
	if err != nil || level == "" {
		return false
	}
	got, _ := wire.Unquote(m.Bytes(span))
	return slices.Index(levels(), got) >= slices.Index(levels(), level)
}
