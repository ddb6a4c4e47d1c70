package shelf

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Box is a toolbox of one client: servers of its own, and those that all sessions share.
type Box struct {
	*toolbox.Toolbox                         // the client's own servers
	content          atomic.Pointer[content] // all its servers
	// listed says that its tools are in tools/list: it was opened by the client, or is marked to be open. settled says
	// that its servers were waited for once; pinned, that the tools of it that are always listed were looked for;
	// dormant, that it was made for these alone and is not opened. All are guarded by the shelf's mu.
	listed, settled, pinned, dormant bool
}

// content is what is in a toolbox by one configuration. It is replaced by a reload and never changed.
type content struct {
	description foreign.Lines
	commons     *toolbox.Toolbox // the shared servers; nil if there are none
	servers     []*toolbox.Server
}

// fill notes what is in the toolbox.
func (b *Box) fill(v *View, cfg *config.Toolbox) {
	c := &content{description: cfg.Description, commons: v.Commons[cfg.Name]}
	for _, one := range cfg.Servers {
		from := b.Toolbox
		if one.Shared {
			from = c.commons
		}
		if srv, ok := from.Server(one.Name); ok {
			c.servers = append(c.servers, srv)
		}
	}
	b.content.Store(c)
}

// Servers returns all servers, in the order of the configuration.
func (b *Box) Servers() []*toolbox.Server { return b.content.Load().servers }

// Server finds a server by its name.
func (b *Box) Server(name string) (*toolbox.Server, bool) { return toolbox.Named(b.Servers(), name) }

// open starts the servers that do not run and waits for all, or for those that are named.
func (b *Box) open(ctx context.Context, wait time.Duration, names ...string) error {
	return b.steadily(ctx, wait, func(wait time.Duration) error {
		commons := b.content.Load().commons
		if commons == nil {
			return b.Open(ctx, wait, names...)
		}
		var wg sync.WaitGroup
		wg.Go(func() { _ = commons.Open(ctx, wait, names...) })
		err := b.Open(ctx, wait, names...)
		wg.Wait()
		return err
	})
}

// Await waits as open does, but has nothing started or tried again.
func (b *Box) Await(ctx context.Context, wait time.Duration, names ...string) {
	_ = b.steadily(ctx, wait, func(wait time.Duration) error {
		var wg sync.WaitGroup
		if commons := b.content.Load().commons; commons != nil {
			wg.Go(func() { commons.Await(ctx, wait, names...) })
		}
		b.Toolbox.Await(ctx, wait, names...)
		wg.Wait()
		return nil
	})
}

// steadily waits for servers, and again for those that a reload has put in their place meanwhile.
func (b *Box) steadily(ctx context.Context, most time.Duration, await func(time.Duration) error) error {
	for end := time.Now().Add(most); ; {
		before := b.Servers()
		err := await(time.Until(end))
		if err != nil || ctx.Err() != nil || !time.Now().Before(end) || slices.Equal(before, b.Servers()) {
			return err
		}
	}
}

// AwaitInstall waits for the named server, or for any if none is named, as long as it installs, for which it has a time
// of its own. It reports whether it waited for one.
func (b *Box) AwaitInstall(ctx context.Context, name string) (waited bool) {
	for _, srv := range b.Servers() {
		if (name == "" || srv.Name == name) && srv.Status().State == toolbox.Installing {
			waited = true
			toolbox.Settle(ctx, srv)
		}
	}
	return waited
}

// Description says what the toolbox is for.
func (b *Box) Description() foreign.Lines { return b.content.Load().description }

// become makes the toolbox what the view says. It returns what is to be called when no request is sent to the servers
// any more that are not in it now.
func (b *Box) become(v *View) (retire []func()) {
	cfg, _ := v.Cfg.Toolbox(b.Name)
	gone := b.Update(Part(cfg, false))
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

// Part gives a toolbox with its shared servers alone, or with the others.
func Part(t *config.Toolbox, shared bool) config.Toolbox {
	some := *t
	some.Servers = slices.DeleteFunc(slices.Clone(t.Servers), func(s config.Server) bool { return s.Shared != shared })
	return some
}

// NewBox makes a toolbox, of which make makes the client's own part.
func NewBox(v *View, cfg *config.Toolbox, make func(config.Toolbox) *toolbox.Toolbox) *Box {
	b := &Box{Toolbox: make(Part(cfg, false))}
	b.fill(v, cfg)
	return b
}
