package proxy

import (
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/find"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// finder searches what the toolboxes of a session offer: those that are open as they are, the others as they were last
// seen. Its index is made at the first search and again when something of it has changed.
type finder struct {
	desk     *desk
	shelf    *shelf.Shelf
	indexes  *find.Shared // that all sessions search
	meanings Meanings
	seen     func(config.Toolbox) *toolbox.Toolbox // makes a toolbox that is not to be opened, to tell what was seen of its servers

	mu      sync.Mutex
	routes  *shelf.Routes // at the time when the index was made: they are made anew with each change; nil if there is none
	index   *find.Index
	servers []*toolbox.Server // by their numbers in the index
	expiry  *time.Timer
}

// searchable gives the index of all toolboxes, or of one.
func (k *finder) searchable(only string) (*find.Index, []*toolbox.Server) {
	if only != "" {
		servers, searched := k.known(only)
		return k.indexes.Of(searched), servers
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.shelf.Routes()
	if k.routes != now {
		servers, searched := k.known("")
		k.routes, k.index, k.servers = now, k.indexes.Of(searched), servers
	}
	if k.expiry == nil {
		k.expiry = time.AfterFunc(keepIndex, k.forget)
	}
	k.expiry.Reset(keepIndex)
	return k.index, k.servers
}

// known gives the servers of all toolboxes, or of one, and what is known of them.
func (k *finder) known(only string) (servers []*toolbox.Server, searched iter.Seq[find.Server]) {
	v := k.shelf.View()
	opened := make(map[string]*shelf.Box)
	for _, b := range k.shelf.Opened() {
		opened[b.Name] = b
	}
	type part struct {
		*shelf.Box
		about fmt.Stringer
		shut  bool
	}
	var parts []part
	for i := range v.Cfg.Toolboxes {
		cfg := &v.Cfg.Toolboxes[i]
		if only != "" && cfg.Name != only {
			continue
		}
		b := opened[cfg.Name]
		shut := b == nil
		if shut {
			b = shelf.NewBox(v, cfg, k.seen)
		}
		parts = append(parts, part{b, cfg.Description, shut})
		servers = append(servers, b.Servers()...)
	}
	places := k.shelf.Routes().Places
	return servers, func(yield func(find.Server) bool) {
		recall := toolbox.Recalling()
		for _, p := range parts {
			if p.shut {
				recall(p.Toolbox)
			}
			of := p.Servers()
			for i, known := range toolbox.Search(of, p.about) {
				for j := range known.Entries {
					if e := &known.Entries[j]; e.URI != "" {
						e.URI = places.Shown(of[i], e.URI)
					}
				}
				if !yield(known) {
					return
				}
			}
			if p.shut { // what was seen of it is in the index now
				p.Forget()
			}
		}
	}
}

// forget drops the index.
func (k *finder) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.routes, k.index, k.servers = nil, nil, nil
}
