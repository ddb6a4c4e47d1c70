package proxy

import "context"

// Prepare opens the toolboxes that are open without being asked for, before the first request of a method that may need
// one of them: unlike on stdio, nothing says that a client over HTTP has listed the tools before, and waiting costs
// nobody else.
func (s *Session) Prepare(ctx context.Context, method string) {
	now := s.view.Load()
	if s.warm.Load() == now {
		return
	}
	switch method {
	case "tools/call", "prompts/get", "resources/read", "resources/subscribe", "completion/complete", "subscriptions/listen":
		if len(s.shelf.View().Marked()) > 0 {
			s.shelf.OpenMarked(ctx)
		}
		if ctx.Err() == nil {
			s.warm.Store(now)
		}
	}
}
