package shelf

import (
	"slices"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// kept are the uris of a server's skills when they were last listed, a slice for each.
type kept struct {
	uris    [][]string
	size    int
	account *account.Account // that is charged for them: the server may be replaced
}

func (k *kept) close() { k.account.Credit(k.size) }

// groups are the uris as places know them, a slice for each skill.
func (k *kept) groups(srv *toolbox.Server) (groups [][]naming.Identity) {
	for _, uris := range k.uris {
		group := make([]naming.Identity, len(uris))
		for i, uri := range uris {
			group[i] = naming.Identity{Server: srv, Key: uri}
		}
		groups = append(groups, group)
	}
	return groups
}

// NoteSkills remembers whose the uris of skills are, a slice for each skill of each server that has any, and nil for a
// server that could not be asked. It gives the places that the client knows the skills by.
func (sh *Shelf) NoteSkills(servers []*toolbox.Server, lists [][][]string) *naming.Places {
	sh.update(func() bool {
		sh.skills.keep(servers, lists, !sh.closed)
		return false
	})
	sh.mu.Lock()
	defer sh.mu.Unlock()
	places := sh.Routes().Places
	for _, srv := range servers {
		if k := sh.skills[srv]; k != nil {
			for _, group := range k.groups(srv) {
				places.HoldAll(group)
			}
		}
	}
	return places
}

// skills are what is kept of servers.
type skills map[*toolbox.Server]*kept

// groups are the uris of all, a slice for each skill.
func (ss skills) groups() (all [][]naming.Identity) {
	for srv, k := range ss {
		all = append(all, k.groups(srv)...)
	}
	return all
}

// close credits all.
func (ss skills) close() {
	for _, k := range ss {
		k.close()
	}
	clear(ss)
}

// keep replaces what is kept of servers, and forgets those that are not among them; more says whether anything may be
// added.
func (ss skills) keep(servers []*toolbox.Server, lists [][][]string, more bool) {
	for srv, old := range ss {
		if i := slices.Index(servers, srv); i < 0 || lists[i] != nil {
			old.close()
			delete(ss, srv)
		}
	}
	for i, srv := range servers {
		k := &kept{uris: lists[i], account: srv.Account()}
		for _, uris := range lists[i] {
			for _, uri := range uris {
				k.size += len(uri) + account.Each
			}
		}
		if lists[i] != nil && more && k.account.Charge(k.size) {
			ss[srv] = k
		}
	}
}

// KnowsSkills reports whether skills were listed.
func (sh *Shelf) KnowsSkills() bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return len(sh.skills) > 0
}
