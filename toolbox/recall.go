package toolbox

import (
	"sync"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/catalogue"
)

// Recall fills the lists of the servers with what was last seen of them, whichever client that was for, and starts
// nothing. It is for toolboxes that are not opened; their catalogue is listed once for all of them.
func Recall(toolboxes ...*Toolbox) {
	recall := Recalling()
	for _, t := range toolboxes {
		recall(t)
	}
}

// Recalling gives Recall for one toolbox after the other.
func Recalling() func(*Toolbox) {
	seen := make(listings)
	return func(t *Toolbox) {
		if t.opts.Catalogue == nil {
			return
		}
		list := seen.of(t.opts.Catalogue)
		t.eachServer(func(s *Server) {
			if s.at.now().State == Stopped {
				s.memory.recall(list.Newest(s.memory.key().Server))
			}
		})
	}
}

// Forget drops the lists of the toolbox's servers, all but the tools that are not offered, of which it is still known
// why.
func (t *Toolbox) Forget() {
	for _, s := range t.Servers() {
		s.lists.Forget()
	}
}

// listings are one of each catalogue, for all servers that are asked for at one time.
type listings map[*catalogue.Catalogue]*catalogue.Listing

func (l listings) of(c *catalogue.Catalogue) *catalogue.Listing {
	if l[c] == nil {
		l[c] = c.List()
	}
	return l[c]
}

// RecallOwn fills the lists of the servers that are not started yet with what they last were for such a client as this,
// and starts nothing. Servers in this process are there at once and need no past.
func (t *Toolbox) RecallOwn() {
	if t.opts.Catalogue == nil {
		return
	}
	t.eachServer(func(s *Server) {
		if s.cfg.Transport != config.TransportBuiltin && s.at.now().State == Stopped {
			s.memory.recall(t.opts.Catalogue.Get(s.memory.key()))
		}
	})
}

func (t *Toolbox) eachServer(f func(*Server)) {
	var all sync.WaitGroup
	for _, s := range t.Servers() {
		all.Go(func() { f(s) })
	}
	all.Wait()
}
