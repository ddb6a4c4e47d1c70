package naming

import (
	"hash/maphash"
	"sync"

	"github.com/mcp-workbench/workbench/toolbox"
)

// maxClaims is how many names of each scope a session holds for a server: as many as a list has entries. The names of a
// server that has had more are not given to anybody; its tools and resources are reached by their full names.
const maxClaims = 10000

// A scope is where names that servers choose stand beside each other: a list of the client, or the tools of one
// toolbox.
type scope struct{ list, toolbox string }

func exposedNames(k toolbox.Kind) scope { return scope{list: string(k)} }
func uris() scope                       { return scope{list: "uris"} }
func origins() scope                    { return scope{list: "origins"} }

// appNames is the scope of what pages of servers call the tools of these.
func appNames() scope { return scope{list: "apps"} }

// bareNames is the scope of what servers call their tools in a toolbox.
func bareNames(toolbox string) scope { return scope{"bare", toolbox} }

// Claims are the names that a session has given to tools, prompts and resources and that do not follow from whose they
// are. Such a name is held for its server until the session ends: it means that server's or nothing.
//
// Of a name only a digest is kept, so that its length costs nothing.
type Claims struct {
	seed maphash.Seed

	mu      sync.Mutex
	holders map[uint64]*holding
	of      map[scopedAddress]*holding
	shown   map[Address]bool // the servers of which the client has read a page of an app
}

// holding is what is held for one server in one scope.
type holding struct {
	Address
	names int
}

type scopedAddress struct {
	scope
	Address
}

type scopedName struct {
	scope
	name string
}

// NewClaims makes those of a session that has given nothing yet.
func NewClaims() *Claims {
	return &Claims{seed: maphash.MakeSeed(), holders: make(map[uint64]*holding), of: make(map[scopedAddress]*holding), shown: make(map[Address]bool)}
}

// hold holds a name for a server, unless it is held already. It reports whether it is that server's now.
func (c *Claims) hold(in scope, name string, of Address) bool {
	holder, ok := c.take(in, name, of)
	return ok && holder == of
}

// take holds a name for a server, unless it is held already or the server has too many. It returns the server that the
// name is held for then.
func (c *Claims) take(in scope, name string, of Address) (holder Address, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.digest(in, name)
	if found := c.holders[k]; found != nil {
		return found.Address, true
	}
	mine := c.of[scopedAddress{in, of}]
	if mine == nil {
		mine = &holding{Address: of}
		c.of[scopedAddress{in, of}] = mine
	}
	if mine.names == maxClaims {
		return Address{}, false
	}
	mine.names++
	c.holders[k] = mine
	return of, true
}

// free reports whether a name is held for a server, or can be.
func (c *Claims) free(in scope, name string, of Address) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.holders[c.digest(in, name)]; found != nil {
		return found.Address == of
	}
	mine := c.of[scopedAddress{in, of}]
	return mine == nil || mine.names < maxClaims
}

// another reports whether a name is held for another server.
func (c *Claims) another(in scope, name string, of Address) bool {
	holder, ok := c.holder(in, name)
	return ok && holder != of
}

// holder returns the server that a name is held for.
func (c *Claims) holder(in scope, name string) (of Address, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.holders[c.digest(in, name)]
	if found == nil {
		return Address{}, false
	}
	return found.Address, true
}

func (c *Claims) digest(in scope, name string) uint64 {
	return maphash.Comparable(c.seed, scopedName{in, name})
}

// showPage notes that the client has read a page of a server's app.
func (c *Claims) showPage(of Address) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown[of] = true
}

// hasShown reports whether the client has read a page of a server's app.
func (c *Claims) hasShown(of Address) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown[of]
}
