package mcpserve

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// A List is one whose changes clients are told of.
type List string

// The lists that a server of this package may have changed.
const (
	Prompts   List = "prompts"
	Resources List = "resources"
)

// maxWatched bounds the resources that one session hears of.
const maxWatched = 1000

// A filter is what one subscription of the modern era wants to hear of.
type filter struct {
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
}

// A listening is a subscription. What there is to tell before it was acknowledged waits.
type listening struct {
	filter
	acknowledged bool
	waiting      [][]byte
}

func (f filter) wants(l List) bool { return l == Prompts && f.Prompts || l == Resources && f.Resources }

// ListChanged tells the client that a list has changed.
func (s *Session) ListChanged(l List) {
	s.tell("notifications/"+string(l)+"/list_changed", "", func(f filter) bool { return f.wants(l) }, s.initialized.Load())
}

// Updated tells the client that a resource has changed, if it wants to hear of that.
func (s *Session) Updated(uri string) {
	s.mu.Lock()
	legacy := s.watched[uri]
	s.mu.Unlock()
	s.tell("notifications/resources/updated", uri, func(f filter) bool { return slices.Contains(f.URIs, uri) }, legacy)
}

// Watched are the resources that the client wants to hear of.
func (s *Session) Watched() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := maps.Clone(s.watched)
	for _, l := range s.listens {
		for _, uri := range l.URIs {
			all[uri] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// tell sends a notification to each subscription that wants it, and to a client of the legacy era as such.
func (s *Session) tell(method, uri string, wants func(filter) bool, legacy bool) {
	message := func(id string) []byte {
		params := wire.NewObject(nil)
		if uri != "" {
			params = params.Text("uri", uri)
		}
		if id != "" {
			params = params.Raw("_meta", eras.OfSubscription([]byte(id)))
		}
		return wire.AppendNotification(nil, method, params.End())
	}
	var all [][]byte
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	for id, l := range s.listens {
		switch msg := message(id); {
		case !wants(l.filter):
		case l.acknowledged:
			all = append(all, msg)
		case len(l.waiting) < maxWatched:
			l.waiting = append(l.waiting, msg)
		}
	}
	s.sending.Add(1)
	s.mu.Unlock()
	defer s.sending.Done()
	if legacy {
		all = append(all, message(""))
	}
	for _, msg := range all {
		s.send(msg)
	}
}

// watch carries out resources/subscribe and resources/unsubscribe of the legacy era.
func (s *Session) watch(m *wire.Message, on bool) {
	uri, ok := m.Text(m.Params, "uri")
	if !ok {
		s.fail(m, wire.CodeInvalidParams, "Invalid params: uri is missing or not a string")
		return
	}
	s.mu.Lock()
	full := on && !s.watched[uri] && len(s.watched) == maxWatched
	switch {
	case full:
	case on:
		s.watched[uri] = true
	default:
		delete(s.watched, uri)
	}
	s.mu.Unlock()
	if full {
		s.fail(m, wire.CodeInvalidRequest, "Invalid Request: too many resources are subscribed to")
		return
	}
	s.server.Watches()
	s.send(wire.AppendResult(nil, m.Bytes(m.ID), []byte("{}")))
}

// listen opens a subscription. The server agrees to what it can tell of.
func (s *Session) listen(m *wire.Message) {
	id := m.Bytes(m.ID)
	var f filter
	if wanted := m.Get(m.Params, "notifications"); s.server.Watches != nil && wanted != nil && json.Unmarshal(wanted, &f) != nil {
		s.fail(m, wire.CodeInvalidParams, "Invalid params: notifications must say what to send")
		return
	}
	l := &listening{filter: f}
	s.mu.Lock()
	taken := s.calls[string(id)] != nil || s.listens[string(id)] != nil || len(s.listens) == maxListens || len(f.URIs) > maxWatched
	if !taken {
		s.listens[string(id)] = l
	}
	s.mu.Unlock()
	if taken {
		s.fail(m, wire.CodeInvalidRequest, "Invalid Request: the id is in use, or too much is subscribed to")
		return
	}
	if len(f.URIs) > 0 {
		s.server.Watches()
	}
	params := wire.NewObject(nil).Raw("_meta", eras.OfSubscription(id)).Raw("notifications", wire.MustEncode(f)).End()
	s.send(wire.AppendNotification(nil, "notifications/subscriptions/acknowledged", params))
	for {
		s.mu.Lock()
		waiting := l.waiting
		l.waiting, l.acknowledged = nil, len(waiting) == 0
		s.mu.Unlock()
		if len(waiting) == 0 {
			return
		}
		for _, msg := range waiting {
			s.send(msg)
		}
	}
}
