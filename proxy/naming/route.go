package naming

import (
	"github.com/mcp-workbench/workbench/internal/reshape"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Address is a server by its place in the configuration, which stays when the server is replaced.
type Address struct{ Toolbox, Server string }

// AddressOf is where a server stands.
func AddressOf(srv *toolbox.Server) Address { return Address{srv.Toolbox, srv.Name} }

// Identity names an item of a server for good: names that clients see are derived from it, never the other way round.
type Identity struct {
	Server *toolbox.Server
	Key    string
}

// Route is where a name leads.
type Route struct {
	Server *toolbox.Server
	Key    string // the server's own name, or the one that the configuration gives it
	Name   []byte // what its server calls it, as a JSON string token
	// Arguments says what becomes of those of a tool; nil if they go to the server as they are.
	Arguments *reshape.Arguments
	Added     bool // a legacy client has it because a toolbox was opened
	// Tasks says that its server is of the legacy era and may make a task of a call, MustTask that it makes one of
	// each.
	Tasks, MustTask bool
	Held            string // why it is not offered: then it leads nowhere
	// Dormant says that its toolbox is to be opened first.
	Dormant bool
}

// Identity is that of the item.
func (r Route) Identity() Identity { return Identity{r.Server, r.Key} }

// Want is a tool, or a prompt, as somebody names it.
type Want struct {
	Toolbox, Server string // whose it is, as far as that is said
	Tool            string
}
