package proxy

import (
	"context"
	"maps"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Reload has the front and all its sessions work by another configuration, and returns when they do. Servers that are
// started as before go on, with their calls; those that are changed, and those that are new in a toolbox that is open,
// are started. What is left out is offered no longer, and the calls that it has are given 30 s to finish. Clients are
// told which of their lists are other than before. MaxMessage and Store are those that the front was made with.
//
// A toolbox that is served directly may be missing: its clients then see no tools until it is there again.
func (p *Proxy) Reload(cfg *config.Config) {
	p = p.root
	p.reloading.Lock()
	defer p.reloading.Unlock()
	if p.life.Err() != nil {
		return // it is closed
	}
	old := p.view.Load().Commons
	commons, gone := p.commonsFor(cfg, old)

	p.mu.Lock()
	p.view.Store(p.newView(cfg, commons))
	for _, front := range p.fronts {
		front.view.Store(front.newView(cfg, commons))
	}
	sessions := maps.Clone(p.sessions)
	p.mu.Unlock()

	for s, front := range sessions {
		s.reload(front.view.Load())
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

// heirOf gives the server that a shared one is replaced by. One that is shared no longer is replaced by as many as
// there are sessions: it has no heir.
func heirOf(old *toolbox.Server, commons *toolbox.Toolbox) *toolbox.Server {
	if commons == nil {
		return nil
	}
	heir, _ := commons.Server(old.Name)
	return heir
}

// retire ends a toolbox that is no longer in the configuration; the end of ctx cuts short what it still has to do.
func (p *Proxy) retire(ctx context.Context, b *toolbox.Toolbox) {
	if err := b.Retire(ctx); err != nil {
		p.opts.Logger.Warn().Str(logkey.Toolbox, b.Name).AnErr(logkey.Err, err).Msg("a toolbox that was removed did not end")
	}
}

// reload has the session work by what its front serves now. The toolboxes that are open without being asked for since
// then are opened if the client was shown others: else it is done at its first list.
func (s *Session) reload(v *view) {
	s.view.Store(v)
	s.shelf.Reload(v.View)
	if (s.profile.greeted() || s.watches.any()) && len(s.shelf.Unsettled()) > 0 {
		s.work.begin(s.shelf.OpenNew)
	}
	s.work.begin(s.considering.ask)
}
