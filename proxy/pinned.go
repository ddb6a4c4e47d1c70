package proxy

import (
	"context"
	"slices"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Pinned tools are listed whether their toolboxes are open or not. Of a server that was seen before they are known without
// starting it: its toolbox is made and stays dormant until one of its tools is called. One that was never seen is started once,
// at the first list.

// pinned gives the pinned tools of a toolbox.
func (s *Session) pinned(b *box) (items []toolbox.Item) {
	for _, p := range s.cfg().Pinned {
		srv, ok := b.Server(p.Server)
		if p.Toolbox != b.Name || !ok || s.p.direct() {
			continue
		}
		for _, it := range srv.Items(toolbox.Tools) {
			if own, _ := wire.Unquote(it.Token()); own == p.Tool || it.Key.Verbatim() == p.Tool {
				items = append(items, it)
			}
		}
	}
	return items
}

// unpinnedLocked gives the toolboxes whose pinned tools were not looked for.
func (s *Session) unpinnedLocked() (names []string) {
	cfg := s.cfg()
	for _, p := range cfg.Pinned {
		_, ok := cfg.Toolbox(p.Toolbox)
		b := s.boxes[p.Toolbox]
		if ok && !s.p.direct() && (b == nil || !b.pinned) && !s.isMarked(p.Toolbox) && !slices.Contains(names, p.Toolbox) {
			names = append(names, p.Toolbox)
		}
	}
	return names
}

// findPinned looks for the pinned tools of a toolbox: in what is known of its servers, else by starting them.
func (s *Session) findPinned(ctx context.Context, name string) {
	b := s.dormant(name)
	if b == nil {
		return
	}
	if !b.Opened() {
		b.RecallOwn()
		if commons := b.content.Load().commons; commons != nil && !commons.Opened() {
			commons.RecallOwn()
		}
	}
	var unknown []string
	for _, p := range s.cfg().Pinned {
		if srv, ok := b.Server(p.Server); ok && p.Toolbox == name && srv.Status().Seen.IsZero() && len(srv.Items(toolbox.Tools)) == 0 {
			unknown = append(unknown, p.Server)
		}
	}
	if unknown != nil {
		s.wake(ctx, b, false, unknown...) // the list that waits for this has it
	}
	s.update(func() bool {
		b.pinned = b.pinned || ctx.Err() == nil
		return false
	})
}

// dormant gives the toolbox of a name, which it makes if there is none; nil if it cannot be.
func (s *Session) dormant(name string) *box {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.view.Load()
	cfg, ok := v.cfg.Toolbox(name)
	if b := s.boxes[name]; b != nil || !ok || s.closed {
		return b
	}
	b := s.newBoxLocked(v, cfg)
	b.dormant = true
	s.boxes[name] = b
	return b
}

// wake has the servers of a toolbox started without listing its tools, and waits for those that are named. What is pinned may
// be other than it was known to be, which a client is told if announce is set.
func (s *Session) wake(ctx context.Context, b *box, announce bool, servers ...string) {
	s.mu.Lock()
	s.opening++
	b.dormant = false
	s.mu.Unlock()
	_ = b.open(ctx, s.cfg().OpenTimeout, servers...) // it fails only when the session ends
	s.update(func() bool {
		s.opening--
		return announce && s.opening == 0 || s.overdue && s.dueLocked()
	})
}

// wakeAndCall calls a tool whose toolbox is dormant.
func (s *Session) wakeAndCall(c *call, name string, srv *toolbox.Server) {
	f := s.own(c)
	if f == nil {
		return
	}
	later := c.own()
	f.serve(func() {
		if b, err := s.box(srv.Toolbox); err == nil {
			s.wake(f.ctx, b, true, srv.Name)
		}
		to, err := s.meant(toolbox.Tools, naming.Want{Tool: name})
		if err != nil {
			f.fail(s.notMeant(toolbox.Tools, name, err))
			return
		}
		s.callAs(f, later, to)
	})
}
