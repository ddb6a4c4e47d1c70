package proxy

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/toolbox"
)

// box is a toolbox of this session: servers of its own, and those that all
// sessions share.
type box struct {
	*toolbox.Toolbox                         // the session's own servers
	content          atomic.Pointer[content] // all its servers
	// listed says that its tools are in tools/list: it was opened by the
	// client, or is marked to be open. settled says that its servers were
	// waited for once; pinned, that the tools of it that are always listed were
	// looked for; dormant, that it was made for these alone and is not opened.
	// All are guarded by the session's mu.
	listed, settled, pinned, dormant bool
}

// content is what is in a toolbox by one configuration. It is replaced by a
// reload and never changed.
type content struct {
	description foreign.Lines
	commons     *toolbox.Toolbox // the shared servers; nil if there are none
	servers     []*toolbox.Server
}

// newBoxLocked makes the session's part of a toolbox.
func (s *Session) newBoxLocked(v *view, cfg *config.Toolbox) *box {
	opts := s.p.opts.Toolbox
	opts.Peer, opts.Principal, opts.Unread = s, s.who, s.line.account()
	now := s.profile.known()
	if now.client != nil {
		opts.Client = *now.client
	}
	b := &box{Toolbox: toolbox.New(part(cfg, false), opts)}
	if now.level != "" {
		b.SetLevel(now.level) // nothing runs yet: it is noted
	}
	b.fill(v, cfg)
	return b
}

// fill notes what is in the toolbox.
func (b *box) fill(v *view, cfg *config.Toolbox) {
	c := &content{description: cfg.Description, commons: v.commons[cfg.Name]}
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
func (b *box) Servers() []*toolbox.Server { return b.content.Load().servers }

// Server finds a server by its name.
func (b *box) Server(name string) (*toolbox.Server, bool) {
	servers := b.Servers()
	i := slices.IndexFunc(servers, func(s *toolbox.Server) bool { return s.Name == name })
	if i < 0 {
		return nil, false
	}
	return servers[i], true
}

// open starts the servers that do not run and waits for all, or for those that
// are named.
func (b *box) open(ctx context.Context, wait time.Duration, names ...string) error {
	commons := b.content.Load().commons
	if commons == nil {
		return b.Open(ctx, wait, names...)
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = commons.Open(ctx, wait, names...) })
	err := b.Open(ctx, wait, names...)
	wg.Wait()
	return err
}

// await waits as open does, but has nothing started or tried again.
func (b *box) await(ctx context.Context, wait time.Duration, names ...string) {
	var wg sync.WaitGroup
	if commons := b.content.Load().commons; commons != nil {
		wg.Go(func() { commons.Await(ctx, wait, names...) })
	}
	b.Await(ctx, wait, names...)
	wg.Wait()
}

// awaitInstall waits for the named server, or for any if none is named, as long as it installs, for which it has a time of its
// own. It reports whether it waited for one.
func (b *box) awaitInstall(ctx context.Context, name string) (waited bool) {
	for _, srv := range b.Servers() {
		if (name == "" || srv.Name == name) && srv.Status().State == toolbox.Installing {
			waited = true
			srv.Settle(ctx)
		}
	}
	return waited
}

// open returns the toolboxes that were opened, in the order of the configuration.
func (s *Session) open() []*box {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openLocked()
}

func (s *Session) openLocked() []*box {
	return slices.DeleteFunc(s.boxesLocked(), func(b *box) bool { return b.dormant })
}

// boxesLocked returns those too that were made for their pinned tools.
func (s *Session) boxesLocked() (all []*box) {
	boxes := s.cfg().Toolboxes
	for i := range boxes {
		if b := s.boxes[boxes[i].Name]; b != nil {
			all = append(all, b)
		}
	}
	return all
}

// box returns the session's toolbox of that name, making it if there is none.
func (s *Session) box(name string) (*box, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.view.Load()
	cfg, ok := v.cfg.Toolbox(name)
	switch {
	case !ok || s.p.direct() && name != s.p.opts.Direct:
		return nil, s.noToolbox(name)
	case s.closed:
		return nil, ErrClosed
	}
	b := s.boxes[name]
	if b == nil {
		b = s.newBoxLocked(v, cfg)
		s.boxes[name] = b
	}
	return b, nil
}

// noToolbox says that there is no toolbox of that name.
func (s *Session) noToolbox(name string) error {
	return fmt.Errorf("toolbox %q not found; %s", foreign.NewName(name), s.available(name))
}

// marked returns the toolboxes that are open without being asked for.
func (s *Session) marked() []string {
	var names []string
	for _, t := range s.cfg().Toolboxes {
		if t.Open && !s.p.direct() || t.Name == s.p.opts.Direct && s.p.direct() {
			names = append(names, t.Name)
		}
	}
	return names
}

// openMarked opens them and waits until their servers are there or late. Later
// it does nothing: a server that is missing then is announced when it is there,
// and nobody is to wait for it at each list.
func (s *Session) openMarked(ctx context.Context) {
	var wg sync.WaitGroup
	for _, name := range s.unsettled() {
		if !s.isMarked(name) {
			wg.Go(func() { s.findPinned(ctx, name) })
		} else if b, err := s.box(name); err == nil {
			// Nothing is announced: the list that waits for this has it.
			wg.Go(func() { _, _ = s.openBox(ctx, b, false) })
		}
	}
	wg.Wait()
}

// openingServers returns the servers of the toolboxes that openMarked opens.
func (s *Session) openingServers() (all []*toolbox.Server) {
	for _, name := range s.unsettled() {
		if !s.isMarked(name) {
			if b := s.dormant(name); b != nil {
				all = append(all, b.Servers()...)
			}
		} else if b, err := s.box(name); err == nil {
			all = append(all, b.Servers()...)
		}
	}
	return all
}

// installs returns the server of absent if that is to be waited for, because it installs; else nil.
func (s *Session) installs(name string) *toolbox.Server {
	if srv := s.absent(name); srv != nil && srv.Status().State == toolbox.Installing {
		return srv
	}
	return nil
}

// absent returns the server of an open toolbox whose exposed names begin as a name does and whose tools are not known because it
// is not ready; nil if there is none.
func (s *Session) absent(name string) *toolbox.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	of, ok := s.spaces.Exposes(name)
	if !ok || s.boxes[of.Toolbox] == nil {
		return nil
	}
	if srv, ok := s.boxes[of.Toolbox].Server(of.Server); ok {
		if st := srv.Status(); st.State != toolbox.Ready && st.Tools == 0 {
			return srv
		}
	}
	return nil
}

// unsettled returns the marked toolboxes that were not opened to the end yet, and those whose pinned tools were not looked for.
func (s *Session) unsettled() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := slices.DeleteFunc(s.marked(), func(name string) bool {
		b := s.boxes[name]
		return b != nil && b.settled
	})
	return append(names, s.unpinnedLocked()...)
}

// openBox opens a toolbox so that its tools are listed, waits for its servers,
// or for those that are named, and, if announce is set, tells the client of its
// changed lists, once. If it said anything of the tools, listed is closed when
// the client has read them.
func (s *Session) openBox(ctx context.Context, b *box, announce bool, names ...string) (listed <-chan struct{}, err error) {
	s.mu.Lock()
	s.opening++
	b.dormant = false
	s.mu.Unlock()
	err = b.open(ctx, s.cfg().OpenTimeout, names...)
	var next chan struct{}
	told := s.update(func() bool {
		s.opening--
		b.listed = true
		b.settled = b.settled || ctx.Err() == nil && len(names) == 0
		if s.boxes[b.Name] != b && !s.closed {
			err = s.noToolbox(b.Name) // a reload has taken it away meanwhile
		}
		next = s.listed
		return announce || s.overdue && s.dueLocked()
	})
	if !told {
		return nil, err
	}
	return next, err
}

// isMarked reports whether a toolbox is listed to clients of both eras.
func (s *Session) isMarked(name string) bool { return slices.Contains(s.marked(), name) }
