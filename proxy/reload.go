package proxy

import (
	"context"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Reload has the front and all its sessions work by another configuration, and
// returns when they do. Servers that are started as before go on, with their
// calls; those that are changed, and those that are new in a toolbox that is
// open, are started. What is left out is offered no longer, and the calls that
// it has are given 30 s to finish. Clients are told which of their lists are
// other than before. MaxMessage and Store are those that the front was made with.
//
// A toolbox that is served directly may be missing: its clients then see no
// tools until it is there again.
func (p *Proxy) Reload(cfg *config.Config) {
	p = p.root
	p.reloading.Lock()
	defer p.reloading.Unlock()
	if p.life.Err() != nil {
		return // it is closed
	}
	old := p.view.Load().commons
	commons, gone := p.commonsFor(cfg, old)

	p.mu.Lock()
	p.view.Store(p.newView(cfg, commons))
	for _, front := range p.fronts {
		front.view.Store(front.newView(cfg, commons))
	}
	sessions := p.liveLocked()
	p.mu.Unlock()

	for _, s := range sessions {
		s.reload(s.p.view.Load())
	}
	for _, srv := range gone {
		srv.Retire(heirOf(srv, commons[srv.Toolbox]))
	}
	for name, b := range old {
		if commons[name] == nil {
			p.work.Go(func() { p.retire(p.life, b) })
		}
	}
}

// heirOf gives the server that a shared one is replaced by. One that is shared no
// longer is replaced by as many as there are sessions: it has no heir.
func heirOf(old *toolbox.Server, commons *toolbox.Toolbox) *toolbox.Server {
	if commons == nil {
		return nil
	}
	heir, _ := commons.Server(old.Name)
	return heir
}

// retire ends a toolbox that is in the configuration no longer; the end of ctx
// cuts short what it still has to do.
func (p *Proxy) retire(ctx context.Context, b *toolbox.Toolbox) {
	if err := b.Retire(ctx); err != nil {
		p.opts.Logger.Warn().Str(logkey.Toolbox, b.Name).AnErr(logkey.Err, err).Msg("a toolbox that was removed did not end")
	}
}

// reload has the session work by what its front serves now.
func (s *Session) reload(v *view) {
	settled := make(chan struct{})
	defer close(settled)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.view.Store(v)
	s.spaces = v.spaces.With(s.spaces)
	s.opening++ // what changes is told at the end, together
	var staying []*box
	for name, b := range s.boxes {
		if _, ok := v.cfg.Toolbox(name); ok {
			b.pinned = false // others may be
			staying = append(staying, b)
			continue
		}
		delete(s.boxes, name)
		s.work.begin(func(ctx context.Context) {
			<-settled // until then the routes lead there
			s.p.retire(ctx, b.Toolbox)
		})
	}
	s.mu.Unlock()

	var gone []func()
	for _, b := range staying {
		gone = append(gone, b.become(v)...)
	}
	s.update(func() bool {
		s.opening--
		return s.dueLocked()
	})
	for _, retire := range gone {
		retire()
	}
	s.openNew()
	s.work.begin(s.considering.ask)
}

// dueLocked reports whether the news of a reload are to be told now, and notes
// it if they wait for the end of an opening.
func (s *Session) dueLocked() bool {
	s.overdue = s.opening > 0
	return !s.overdue
}

// become makes the toolbox what the view says. It returns what is to be called
// when no request is sent to the servers any more that are not in it now.
func (b *box) become(v *view) (retire []func()) {
	cfg, _ := v.cfg.Toolbox(b.Name)
	gone := b.Update(part(cfg, false))
	b.fill(v, cfg)
	if commons := b.content.Load().commons; commons != nil && b.Opened() && !commons.Opened() {
		_ = commons.Open(context.Background(), 0) // it waits for nothing
	}
	for _, srv := range gone {
		heir, _ := b.Server(srv.Name)
		retire = append(retire, func() { srv.Retire(heir) })
	}
	return retire
}

// openNew opens the toolboxes that are open without being asked for since the
// reload, if the client was shown others: else it is done at its first list.
func (s *Session) openNew() {
	s.mu.Lock()
	shown := s.greeted() || len(s.listens) > 0
	s.mu.Unlock()
	if shown && len(s.unsettled()) > 0 {
		s.work.begin(func(ctx context.Context) {
			s.openMarked(ctx)
			s.update(s.dueLocked)
		})
	}
}
