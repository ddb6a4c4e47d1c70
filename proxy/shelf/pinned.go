package shelf

import (
	"context"

	"github.com/mcp-workbench/workbench/toolbox"
)

// Pinned tools are listed whether their toolboxes are open or not. Of a server that was seen before they are known
// without starting it: its toolbox is made and stays dormant until one of its tools is called. One that was never seen
// is started once, at the first list.

// findPinned looks for the pinned tools of a toolbox: in what is known of its servers, else by starting them.
func findPinned(ctx context.Context, sh *Shelf, name string) {
	b := dormant(sh, name)
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
	for _, p := range sh.View().Cfg.Pinned {
		if srv, ok := b.Server(p.Server); ok && p.Toolbox == name && srv.Status().Seen.IsZero() && len(srv.Items(toolbox.Tools)) == 0 {
			unknown = append(unknown, p.Server)
		}
	}
	if unknown != nil {
		sh.Wake(ctx, b, false, unknown...) // the list that waits for this has it
	}
	sh.update(func() bool {
		b.pinned = b.pinned || ctx.Err() == nil
		return false
	})
}

// dormant gives the toolbox of a name, which it makes if there is none; nil if it cannot be.
func dormant(sh *Shelf, name string) *Box {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	v := sh.View()
	cfg, ok := v.Cfg.Toolbox(name)
	if b := sh.boxes[name]; b != nil || !ok || sh.closed {
		return b
	}
	b := NewBox(v, cfg, sh.opts.New)
	b.dormant = true
	sh.boxes[name] = b
	return b
}

// Wake has the servers of a toolbox started without listing its tools, and waits for those that are named. What is
// pinned may be other than it was known to be, which a client is told if announce is set.
func (sh *Shelf) Wake(ctx context.Context, b *Box, announce bool, servers ...string) {
	begin(sh, b)
	_ = b.open(ctx, sh.View().Cfg.OpenTimeout, servers...) // it fails only when the session ends
	sh.update(func() bool {
		sh.opening.under--
		return announce && sh.opening.under == 0 || sh.opening.overdue && sh.opening.due()
	})
}
