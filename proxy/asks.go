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
	of     *toolbox.Ask          // the server's request; nil where the server asked in a result
	answer func(m *wire.Message) // takes the client's response
	id     string                // the token of our id, which is also our progress token
	token  []byte                // the server's progress token, if it gave one
}

// maxHeld is how many requests of a server wait for a call that can carry them.
const maxHeld = 16

// Request takes a request of a server. A legacy client is sent it; a modern
// one, which cannot be asked, gets it as the answer to the call that the
// server is working on.
func (s *session) Request(a *toolbox.Ask, m *wire.Message) {
	m = s.withTasks(a.Server, m)
	carrier := s.carrier(a.Server)
	s.mu.Lock()
	legacy, closed := s.legacy, s.closed
	if !legacy && !closed && carrier == nil {
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
	case legacy:
		s.put(a, m, carrier)
	case !a.Hold(len(m.Raw)):
		a.Refuse(wire.CodeInternal, "too much that this server asked for is unanswered")
	default:
		carrier.park(a, m.Raw)
	}
}

// carrier is the request in flight that a server works on, the newest of
// several; what the server says belongs to it as far as anyone can tell.
func (s *session) carrier(srv *toolbox.Server) *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	var newest *flight
	for _, f := range s.flights {
		if f.server.Load() == srv && (newest == nil || f.number > newest.number) {
			newest = f
		}
	}
	return newest
}

// put sends a server's request to a legacy client.
func (s *session) put(a *toolbox.Ask, m *wire.Message, carrier *flight) {
	token, err := wire.FindPath(m.Raw, m.Params, "_meta", "progressToken")
	tracked := err == nil && token.Present()
	if tracked && !a.Hold(token.End-token.Start) {
		a.Refuse(wire.CodeInternal, "too much that this server asked for is unanswered")
		return
	}
	k := &ask{of: a, answer: func(m *wire.Message) { a.Reply(m.Raw, m.ID) }}
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
func (s *session) enter(k *ask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastAsk++
	k.id = fmt.Sprintf(`"wb-%d"`, s.lastAsk)
	s.asks[k.id] = k
}

// emit sends a message of a server with the request it belongs to, or, if it
// belongs to none, on its own.
func (s *session) emit(carrier *flight, msg []byte) {
	if carrier != nil {
		carrier.out.message(msg)
		return
	}
	s.send(msg)
}

// Withdraw takes back a server's request that needs no answer any more.
func (s *session) Withdraw(a *toolbox.Ask, m *wire.Message) {
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
	s.emit(s.carrier(a.Server), *b)
}

// answer takes the client's response to a request of a server.
func (s *session) answer(m *wire.Message) {
	s.mu.Lock()
	k := s.asks[string(m.Bytes(m.ID))]
	delete(s.asks, string(m.Bytes(m.ID)))
	s.mu.Unlock()
	if k != nil {
		k.answer(m)
	}
}

// clientProgress passes the client's progress on a server's request.
func (s *session) clientProgress(m *wire.Message) {
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
func (s *session) Notification(srv *toolbox.Server, m *wire.Message) {
	m = s.withTasks(srv, m)
	s.mu.Lock()
	closed, legacy := s.closed, s.legacy
	s.mu.Unlock()
	switch {
	case closed || !eras.Has(!legacy, string(m.Bytes(m.Method))):
	case m.IsMethod("notifications/resources/updated"):
		s.updated(srv, m)
	case legacy:
		s.spare(srv, s.carrier(srv), noticeToLegacy(srv, m))
	case m.IsMethod("notifications/message"):
		if f := s.carrier(srv); f != nil && f.modern != nil && wants(f.modern.level, m) {
			s.spare(srv, f, m.Raw)
		}
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
