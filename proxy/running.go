package proxy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Running is a server of an open toolbox.
type Running struct {
	Session string // "" if sessions share the server
	User    string // whose session it is
	*toolbox.Server
}

// Running finds the servers of a name in open toolboxes, or with a toolbox in those of that name.
func (p *Proxy) Running(box, name string) (all []Running) {
	add := func(session, user string, b *toolbox.Toolbox) {
		if box != "" && b.Name != box {
			return
		}
		for _, srv := range b.Servers() {
			known := slices.ContainsFunc(all, func(one Running) bool { return one.Server == srv })
			if srv.Name == name && !known && (session == "" || !isShared(srv)) {
				all = append(all, Running{session, user, srv})
			}
		}
	}
	sessions := p.root.live()
	slices.SortFunc(sessions, func(a, b *Session) int { return a.since.Compare(b.since) })
	for _, s := range sessions {
		for _, b := range s.shelf.Opened() {
			add(s.number, s.who.Name, b.Toolbox)
		}
	}
	for _, b := range p.root.view.Load().Commons {
		if b.Opened() {
			add("", "", b)
		}
	}
	return all
}

// Restart has a server started anew that somebody has open; for who may act for others, wherever it is open. It reports
// false if that is nowhere, and the error says why it is not started.
func (p *Proxy) Restart(who principal.Principal, toolbox, server string) (found bool, err error) {
	shared := false
	for _, srv := range p.Running(toolbox, server) {
		if who.Admin || who.May(toolbox) && srv.Session != "" && srv.User == who.Name {
			found = true
			err = errors.Join(err, srv.Restart())
		}
		shared = shared || who.May(toolbox) && srv.Session == ""
	}
	if !found && shared {
		return false, fmt.Errorf("%s/%s is shared by all users, and only those with admin rights may restart it", toolbox, foreign.NewName(server))
	}
	return found, err
}

// Host finds the session that has a ready server, and the server; nil if there is none.
func (p *Proxy) Host(box, server string) (*Session, *toolbox.Server) {
	for _, s := range p.live() {
		b := s.shelf.Find(box)
		if b == nil || !b.Opened() || s.shelf.View().Direct != "" {
			continue
		}
		if srv, ok := b.Server(server); ok && srv.Status().State == toolbox.Ready {
			return s, srv
		}
	}
	return nil, nil
}

// Visit says that a guest asks until over is called: during that a question of a server may not be the client's.
func (s *Session) Visit() (over func()) {
	s.peer.guests.Add(1)
	return func() { s.peer.guests.Add(-1) }
}

// AnswerOfGuest hands on what a guest answers to a question that it was sent; it reports whether there is one.
func (p *Proxy) AnswerOfGuest(m *wire.Message) bool {
	for _, s := range p.live() {
		if k := s.asks.find(m.Bytes(m.ID)); k != nil && k.carrier != nil && k.carrier.out.From().Guest {
			s.asks.answer(m)
			return true
		}
	}
	return false
}
