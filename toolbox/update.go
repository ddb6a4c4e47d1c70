package toolbox

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/toolbox/offered"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// drainTime is how long the calls under way at a server that is retired may take to finish.
const drainTime = 30 * time.Second

// Update makes the toolbox what cfg says. A server that is started as before goes on, with its calls, under the new
// filters and bounds; any other is made anew, with the lists of the one before it, and started if the toolbox is open.
// What is watched at a server is watched at the next of its name, also if that is added by a later Update. The servers
// that are left out or replaced are returned. They go on serving who still asks them, and are each to be given to
// Retire when new requests no longer go to them. Name and options of the toolbox stay.
func (t *Toolbox) Update(cfg config.Toolbox) (gone []*Server) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := make(map[string]*Server, len(t.servers))
	for _, s := range t.servers {
		old[s.Name], t.watched[s.Name] = s, s.watches
	}
	servers := make([]*Server, 0, len(cfg.Servers))
	for _, c := range cfg.Servers {
		s := old[c.Name]
		if s != nil && s.cfg.StartsLike(&c) {
			s.adjust(c)
			delete(old, c.Name)
		} else {
			s = newServer(t.Name, &t.surroundings, c, t.level).after(s)
			if before := t.watched[c.Name]; before != nil {
				s.watches.inherit(before)
			}
			if t.opened {
				t.begin(s)
			}
		}
		delete(t.watched, c.Name)
		servers = append(servers, s)
	}
	for _, s := range t.servers {
		if old[s.Name] != nil {
			gone = append(gone, s)
		}
	}
	t.servers = servers
	return gone
}

// Retire ends a toolbox that is no longer in the configuration, as [Server.Retire] ends its servers, and waits for it.
// The end of ctx cuts short what is under way. Close need not follow.
func (t *Toolbox) Retire(ctx context.Context) error {
	for _, s := range t.Update(config.Toolbox{}) {
		s.Retire(nil)
	}
	t.tasks.End()
	stop := context.AfterFunc(ctx, func() { t.cancel(ErrClosed) })
	defer stop()
	t.tasks.Wait()
	return t.Close()
}

// after gives a server the lists of the one in whose place it is, so that its tools can be called while it starts.
func (s *Server) after(old *Server) *Server {
	if old == nil || s.cfg.Disabled || s.cfg.Problem != nil {
		return s
	}
	s.lists.Inherit(old.lists)
	s.hello.Store(old.hello.Load())
	return s
}

// adjust has a server, which may be running, follow what is settled without a start: its filters, its bounds, and where
// its problem stands in the file.
func (s *Server) adjust(cfg config.Server) {
	s.bounds.Store(newBounds(cfg, s.box.opts.IdleTimeout))
	select {
	case s.rebound <- struct{}{}:
	default:
	}
	s.lists.Adjust(offered.RulesOf(&cfg))
	s.at.failsFor(cfg.Problem)
	if c := s.at.live(); c != nil {
		c.Calls.Adjust()
	}
	s.pump()
}

// Retire ends a server that Update returned, and does not wait for it. It takes no more requests: those that come
// nevertheless go to heir, the server in its place, or fail if that is nil, and so do those that wait for it to start.
// Those that were sent are given 30 s to finish before it is stopped.
func (s *Server) Retire(heir *Server) {
	if heir != nil {
		s.heir.Store(heir)
		s.sender.heir.Store(heir.sender)
	}
	c := s.at.retire()
	s.pump()
	if c == nil {
		s.quit(ErrRetired)
		return
	}
	if !s.box.tasks.Begin(func() { s.quit(drained(c, s.life)) }) {
		s.quit(ErrRetired)
	}
}

// drained waits for the calls that a connection has, within bounds, and says why it is to end then.
func drained(c *rpc.Conn, life context.Context) error {
	late := time.NewTimer(drainTime)
	defer late.Stop()
	select {
	case <-c.Calls.Drain():
	case <-c.Link().Done():
	case <-late.C:
		return errors.New("it was removed from the configuration or changed there, and the request was not finished " + drainTime.String() + " later")
	case <-life.Done():
	}
	return ErrRetired
}
