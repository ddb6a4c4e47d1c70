package proxy

import (
	"fmt"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// ask is a request of a server that the client is to answer, under an id of
// ours, since two servers may use the same.
type ask struct {
	*toolbox.Ask
	id    string // the token of our id, which is also our progress token
	token []byte // the server's progress token, if it gave one
}

// Request passes a server's request to the client.
func (s *session) Request(a *toolbox.Ask, m *wire.Message) {
	s.mu.Lock()
	if !s.legacy || s.closed {
		s.mu.Unlock()
		a.Refuse(wire.CodeMethodNotFound, "the client cannot be asked: its protocol revision has no requests from the server")
		return
	}
	s.lastAsk++
	k := &ask{Ask: a, id: fmt.Sprintf(`"wb-%d"`, s.lastAsk)}
	s.asks[k.id] = k
	s.mu.Unlock()

	edits := make([]wire.Edit, 0, 2)
	id := wire.Edit{Span: m.ID, New: []byte(k.id)}
	token, err := wire.FindPath(m.Raw, m.Params, "_meta", "progressToken")
	if err == nil && token.Present() {
		k.token = append(k.token, m.Bytes(token)...)
		edits = append(edits, wire.Edit{Span: token, New: []byte(k.id)})
	}
	if len(edits) > 0 && edits[0].Span.Start < id.Span.Start {
		edits = append(edits, id)
	} else {
		edits = append([]wire.Edit{id}, edits...)
	}
	b := s.p.buffer()
	defer s.p.release(b)
	*b = wire.Splice(*b, m.Raw, edits...)
	s.send(*b)
}

// Withdraw tells the client that a server's request needs no answer any more.
func (s *session) Withdraw(a *toolbox.Ask, m *wire.Message) {
	s.mu.Lock()
	var k *ask
	for _, x := range s.asks {
		if x.Ask == a {
			k = x
			delete(s.asks, x.id)
		}
	}
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
	s.send(*b)
}

// answer takes the client's answer to a request of a server.
func (s *session) answer(m *wire.Message) {
	s.mu.Lock()
	k := s.asks[string(m.Bytes(m.ID))]
	delete(s.asks, string(m.Bytes(m.ID)))
	s.mu.Unlock()
	if k != nil {
		k.Reply(m.Raw, m.ID)
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
		k.Forward(m.Raw, wire.Edit{Span: token, New: k.token})
	}
}

// Notification passes on what a server says of its own accord.
func (s *session) Notification(srv *toolbox.Server, m *wire.Message) {
	s.mu.Lock()
	mute := s.closed || !s.legacy
	s.mu.Unlock()
	if mute {
		return
	}
	if m.IsMethod("notifications/resources/updated") {
		s.updated(srv, m)
		return
	}
	s.send(m.Raw)
}
