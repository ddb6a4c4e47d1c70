package proxy

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// list answers a request for a list. The toolboxes that are open without being asked for are opened first, so that the
// list is whole from the beginning.
func (s *Session) list(c *call, k toolbox.Kind) {
	f := s.desk.own(c)
	if f == nil {
		return
	}
	for _, b := range s.shelf.Opened() {
		for _, srv := range b.Servers() {
			srv.Refresh(k) // the client is told if there is news
		}
	}
	hand := s.shelf.Hand(k, f.terms.Era)
	if len(s.shelf.Unsettled()) == 0 {
		s.replyList(f, k, hand)
		return
	}
	f.serve(func() { s.replyList(f, k, hand) })
}

func (s *Session) replyList(f *flight, k toolbox.Kind, hand func(context.Context) []byte) {
	items := hand(f.ctx)
	b := s.requests.buffers.Get()
	defer s.requests.buffers.Put(b)
	*b = append(append(append(append(*b, f.terms.Result(true)...), '"'), k...), `":`...)
	*b = append(append(*b, items...), '}')
	f.reply(*b)
	if k != toolbox.Tools {
		return
	}
	s.shelf.Listed()
	if s.profile.known().habit.Ignores {
		// The client may have learned to read its list again.
		s.profile.seen(func(h *habits.Habit) { h.Ignores = false })
	}
}

// tellChanged tells the client that lists are other than before: by the methods of notifications a legacy client, on
// its subscriptions a modern one.
func (s *Session) tellChanged(methods []string) {
	s.resourceDesk.find()
	s.watches.announce()
	for _, method := range methods {
		b := s.requests.buffers.Get()
		*b = wire.AppendNotification(*b, method, nil)
		s.line.send(*b)
		s.requests.buffers.Put(b)
	}
}

// Mirrored gives the tool of a name, a JSON string, if HTTP headers repeat some of its arguments, else nil.
func (s *Session) Mirrored(name []byte) *mcp.Tool {
	text, _ := wire.Unquote(name)
	return s.shelf.Routes().Mirrored(text)
}
