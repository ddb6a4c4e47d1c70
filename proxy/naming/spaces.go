package naming

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Spaces are the names that workbench derives for what the servers of a configuration have: exposed names,
// toolbox/server/tool, server/tool and server__tool. The owner of such a name follows from the configuration alone,
// whatever the servers list. Names of toolboxes and servers differ in more than case, and are told apart without it.
type Spaces struct {
	direct  bool                // exposed names begin with the server
	servers map[Address]Address // by their names in lower case
	exposed []space
}

// space is what names of a server's begin with, in lower case: exposed ones, and the other full forms.
type space struct {
	Address
	prefix string
	full   [3]string
}

// NewSpaces gives the names of a configuration; direct says that one toolbox is served, whose name stands in none.
func NewSpaces(direct bool, toolboxes []config.Toolbox) *Spaces {
	n := &Spaces{direct: direct, servers: make(map[Address]Address)}
	for _, t := range toolboxes {
		for _, s := range t.Servers {
			of := Address{t.Name, s.Name}
			n.servers[Address{strings.ToLower(t.Name), strings.ToLower(s.Name)}] = of
			box, server := strings.ToLower(t.Name), strings.ToLower(s.Name)
			n.exposed = append(n.exposed, space{of, strings.ToLower(toolbox.ExposedPrefix(n.first(t.Name), s.Name)),
				[3]string{box + "/" + server + "/", server + "/", server + "__"}})
		}
	}
	return n
}

// With adds the names of servers that there were before: what was called by them is not to be another's now.
func (n *Spaces) With(before *Spaces) *Spaces {
	all := &Spaces{direct: n.direct, servers: maps.Clone(before.servers), exposed: slices.Clone(n.exposed)}
	maps.Copy(all.servers, n.servers)
	for _, s := range before.exposed {
		if !slices.Contains(all.exposed, s) {
			all.exposed = append(all.exposed, s)
		}
	}
	return all
}

// first is what stands first in exposed names of a toolbox.
func (n *Spaces) first(toolbox string) string {
	if n.direct {
		return ""
	}
	return toolbox
}

// find finds a server by its name and that of its toolbox.
func (n *Spaces) find(toolbox, server string) (Address, bool) {
	of, ok := n.servers[Address{strings.ToLower(toolbox), strings.ToLower(server)}]
	return of, ok
}

// maxServerName is how long a server's name can be in lower case: at most 64 bytes, of which letters have at most
// three.
const maxServerName = 64 * 3

// form is what a name looks like.
type form int

const (
	bare    form = iota // a server's own name for something
	parts               // the server and its name for it
	exposed             // an exposed name, which need not be a tool's and cannot be taken apart
)

// read takes a full name apart: it returns the server of a toolbox that the name is about, and what that server calls
// the tool. Of an exposed name it returns the server whose prefix the name has.
func (n *Spaces) read(box, name string) (of Address, key string, f form) {
	if head, rest, ok := strings.Cut(name, "/"); ok {
		if server, key, ok := strings.Cut(rest, "/"); ok && strings.EqualFold(head, box) {
			if of, ok := n.find(box, server); ok {
				return of, key, parts
			}
		}
		if of, ok := n.find(box, head); ok {
			return of, rest, parts
		}
	}
	if of, ok := n.Exposes(name); ok {
		return of, "", exposed
	}
	for i := min(len(name)-len("__"), maxServerName); i > 0; i-- {
		if strings.HasPrefix(name[i:], "__") {
			if of, ok := n.find(box, name[:i]); ok {
				return of, name[i+len("__"):], parts
			}
		}
	}
	return Address{}, "", bare
}

// Exposes returns the server whose exposed names begin as a name does, the one with most in common with it.
func (n *Spaces) Exposes(name string) (of Address, ok bool) {
	longest := 0
	name = strings.ToLower(name[:min(len(name), 3*toolbox.MaxName)])
	for _, s := range n.exposed {
		if len(s.prefix) > longest && strings.HasPrefix(name, s.prefix) {
			of, longest = s.Address, len(s.prefix)
		}
	}
	return of, longest > 0
}

// Whose returns the server that a full name is about which a client uses without saying a toolbox: an exposed name, or a
// uri that says whose it is.
func (n *Spaces) Whose(name string) (of Address, ok bool) {
	if !IsAlias(name) {
		return n.Exposes(name)
	}
	for _, of := range n.servers {
		if _, ok := OwnURI(of, name); ok {
			return of, true
		}
	}
	return Address{}, false
}

// claimable reports whether an exposed name may be one that the server has chosen, and is not workbench's to give, nor
// the full form of what another server has.
func (n *Spaces) claimable(of Address, name string) bool {
	if meta.Reserved(name) && !n.direct {
		return false
	}
	if _, derived := n.Exposes(name); derived {
		return false
	}
	longest, mine := 0, true
	name = strings.ToLower(name)
	for _, s := range n.exposed {
		for _, form := range s.full {
			if len(form) >= longest && strings.HasPrefix(name, form) {
				longest, mine = len(form), s.Address == of || mine && len(form) == longest
			}
		}
	}
	return mine
}

// Whole says whose a tool is, if its name does. What stands in an exposed name behind the prefix is not always the
// server's own name, so that the tool keeps it; and where the prefixes of several servers fit, it may be any one's.
func (n *Spaces) Whole(w Want) Want {
	switch of, key, form := n.read(w.Toolbox, w.Tool); {
	case w.Server != "":
	case form == parts:
		w.Server, w.Tool = of.Server, key
	case form == exposed && of.Toolbox == w.Toolbox && n.exposers(w.Tool) == 1:
		w.Server = of.Server
	}
	return w
}

// exposers counts the servers whose exposed names begin as a name does.
func (n *Spaces) exposers(name string) (count int) {
	name = strings.ToLower(name[:min(len(name), 3*toolbox.MaxName)])
	for _, s := range n.exposed {
		if strings.HasPrefix(name, s.prefix) {
			count++
		}
	}
	return count
}
