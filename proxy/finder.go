package proxy

import (
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/find"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// finder searches what the toolboxes of a session offer: those that are open as they are, the others as they were last seen. Its
// index is made at the first search and again when something of it has changed.
type finder struct {
	mu      sync.Mutex
	routes  *shelf.Routes // at the time when the index was made: they are made anew with each change; nil if there is none
	index   *find.Index
	servers []*toolbox.Server // by their numbers in the index
	expiry  *time.Timer
}

// forget drops the index.
func (k *finder) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.routes, k.index, k.servers = nil, nil, nil
}
