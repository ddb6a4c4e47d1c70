package pageview

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/status"
)

// Front is what the page asks the front of its process for.
type Front interface {
	Admit(ctx context.Context, credential string) (principal.Principal, error)
	Ask(ctx context.Context, who principal.Principal, request []byte, message func([]byte)) ([]byte, error)
	Restart(who principal.Principal, toolbox, server string) (found bool, err error)
	Calls() *calls.Log
}

// served is the process that the page is of. It is known after the page was made, and before it is served.
type served struct {
	Front
	own func() status.Workbench

	mu   sync.Mutex // held while it is looked, which viewers at the same time do once
	last status.Workbench
	at   time.Time
}

// now says where the process stands, or stood a moment ago.
func (s *served) now() status.Workbench {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.at) > watchPeriod/2 {
		s.last, s.at = s.own(), now
	}
	return s.last
}

// peers are the workbenches of this user on this machine.
type peers struct {
	dirs  []string
	local bool // the page is for that user; a gateway shows itself alone
}

// others are the sockets of the other workbenches that the page shows.
func (p peers) others() []status.Peer {
	if !p.local {
		return nil
	}
	var all []status.Peer
	for _, one := range status.Find(p.dirs) {
		if !one.Own() {
			all = append(all, one)
		}
	}
	return all
}
