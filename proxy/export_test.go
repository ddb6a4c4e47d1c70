package proxy

import (
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Naming is what a session has to tell names by, without the session.
type Naming struct {
	spaces    *naming.Spaces
	claims    *naming.Claims
	directory *naming.Directory
}

// Named is whose a tool is, and what its server calls it.
type Named struct{ Toolbox, Server, Key string }

// NewNaming makes the naming of a session.
func NewNaming() *Naming { return &Naming{claims: naming.NewClaims()} }

// Become gives the session a configuration, and tools of servers that were all started again. It returns under which
// name clients see each.
func (n *Naming) Become(direct bool, boxes []config.Toolbox, tools []Named) []string {
	spaces := naming.NewSpaces(direct, boxes)
	if n.spaces != nil {
		spaces = spaces.With(n.spaces)
	}
	n.spaces = spaces
	plain := make(map[string]bool)
	for _, b := range boxes {
		plain[b.Name] = direct || b.Prefix == config.PrefixNone
	}
	items, servers := make([]naming.Route, len(tools)), make(map[naming.Address]*toolbox.Server)
	for i, t := range tools {
		of := naming.Address{Toolbox: t.Toolbox, Server: t.Server}
		if servers[of] == nil {
			servers[of] = &toolbox.Server{Toolbox: t.Toolbox, Name: t.Server}
		}
		items[i] = naming.Route{Server: servers[of], Key: t.Key}
	}
	isPlain := func(s *toolbox.Server) bool { return plain[s.Toolbox] }
	n.directory = naming.NewDirectory(toolbox.Tools, spaces, n.claims, items, isPlain)
	names := []string{}
	for _, to := range items {
		names = append(names, n.directory.Shown[to.Identity()])
	}
	return names
}

// Give has the client be given the names of the tools, as in a list or in what an open of a toolbox says.
func (n *Naming) Give(box string) { n.directory.Give(box) }

// Meant says who is meant. Without a toolbox the name is one that clients see.
func (n *Naming) Meant(box, server, name string) (Named, error) {
	to, err := n.directory.Meant(naming.Want{Toolbox: box, Server: server, Tool: name})
	if err != nil {
		return Named{}, err
	}
	return Named{to.Server.Toolbox, to.Server.Name, to.Key}, nil
}
