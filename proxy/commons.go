package proxy

import (
	"errors"
	"maps"
	"slices"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// commons is the client side of the servers that all sessions share. What such a server says goes to the session that
// it can be attributed to; what cannot is refused or dropped, never given to another.
type commons struct{ p *Proxy }

// commonsFor gives the toolboxes of the shared servers of a configuration, by name: those of old, made what cfg says,
// and new ones. The servers that are left out or replaced in the former are returned.
func (p *Proxy) commonsFor(cfg *config.Config, old map[string]*toolbox.Toolbox) (boxes map[string]*toolbox.Toolbox, gone []*toolbox.Server) {
	boxes = make(map[string]*toolbox.Toolbox)
	for i := range cfg.Toolboxes {
		part := shelf.Part(&cfg.Toolboxes[i], true)
		switch b := old[part.Name]; {
		case b != nil:
			gone = append(gone, b.Update(part)...)
			boxes[part.Name] = b
		case len(part.Servers) > 0:
			opts := p.opts.Toolbox
			opts.Peer = commons{p}
			opts.Client = toolbox.Client{Capabilities: []byte(`{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}}`)}
			boxes[part.Name] = toolbox.New(part, opts)
		}
	}
	return boxes, gone
}

// concerned returns the session that a message of a server is for: that of the call which it belongs to or of the task,
// if the server named one, else the one session that has requests under way there; nil if that cannot be known.
func (c commons) concerned(srv *toolbox.Server, m *wire.Message, belongs toolbox.CallHandler) (found *Session) {
	sessions := c.p.live()
	first := func(is func(*Session) bool) *Session {
		if i := slices.IndexFunc(sessions, is); i >= 0 {
			return sessions[i]
		}
		return nil
	}
	if f, ok := belongs.(*flight); ok {
		return first(func(s *Session) bool { return f.requests == s.requests })
	}
	if places := taskPlaces(m.Raw, m.Params); len(places) > 0 {
		id, _ := wire.Unquote(m.Bytes(places[0]))
		return first(func(s *Session) bool { _, known := s.tasks.shownAs(srv, id); return known })
	}
	if srv.Counts().Strays() {
		return nil
	}
	for _, s := range sessions {
		if f, _ := s.peer.carrier(srv, nil, anyFlight); f == nil {
			continue
		}
		if found != nil {
			return nil
		}
		found = s
	}
	return found
}

// Notification gives resource updates to the sessions that watch the resource, and all else to the session that it
// concerns, if it is one.
func (c commons) Notification(srv *toolbox.Server, m *wire.Message, belongs toolbox.CallHandler) {
	if m.IsMethod("notifications/resources/updated") {
		uri, ok := m.Text(m.Params, "uri")
		if !ok {
			return
		}
		for _, s := range c.p.live() {
			if s.resourceDesk.hears(srv, uri) {
				s.peer.Notification(srv, m, belongs)
			}
		}
		return
	}
	if s := c.concerned(srv, m, belongs); s != nil {
		s.peer.Notification(srv, m, belongs)
	}
}

// Request gives a server's question to the session that it concerns.
func (c commons) Request(a *toolbox.Ask, m *wire.Message) {
	s := c.concerned(a.Server, m, a.For)
	if s == nil {
		a.Refuse(wire.CodeInternal, whoseAsk)
		return
	}
	// The server was told what workbench offers for all: a legacy client may have declared less. A modern one has said it
	// with the request that the question belongs to.
	if k := s.profile.known(); k.client != nil && k.era.HasHandshake() && eras.Asks(string(m.Bytes(m.Method))) {
		if why := notOffered(k.client.CapabilitiesObject(), m); why != "" {
			a.Refuse(wire.CodeMethodNotFound, why)
			return
		}
	}
	s.peer.Request(a, m)
}

// Withdraw takes a question back from whoever has it.
func (c commons) Withdraw(a *toolbox.Ask, m *wire.Message) {
	for _, s := range c.p.live() {
		s.peer.Withdraw(a, m)
	}
}

// Changed concerns everybody.
func (c commons) Changed(srv *toolbox.Server, k toolbox.Kind) {
	for _, s := range c.p.live() {
		s.peer.Changed(srv, k)
	}
}

// isShared reports whether a server serves several sessions, so that one of them may not set it up for itself. It does so
// for as long as it lives, also where a reload has just left it out.
func isShared(srv *toolbox.Server) bool {
	_, shared := srv.Peer().(commons)
	return shared
}

// live returns the sessions that are not closed, also of other fronts with the same shared servers.
func (p *Proxy) live() []*Session {
	p.root.mu.Lock()
	defer p.root.mu.Unlock()
	return slices.Collect(maps.Keys(p.root.sessions))
}

// Close ends the shared servers. The sessions are closed by those who made them, and before.
func (p *Proxy) Close() error {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	p.quit()
	var errs []error
	for _, b := range p.view.Load().Commons {
		errs = append(errs, b.Close())
	}
	p.work.Wait()
	return errors.Join(errs...)
}

// watched reports whether any session wants to hear of a resource of a server.
func (p *Proxy) watched(srv *toolbox.Server, own string) bool {
	return slices.ContainsFunc(p.live(), func(s *Session) bool { return s.resourceDesk.hears(srv, own) })
}
