package proxy

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/toolbox"
)

// A client that does not keep up is sent no more of what it can do without, which
// is what has no reply. News of resources are sent once when it has caught up.
// Replies and questions wait where servers are read, for a client on standard
// input and output (toolbox.Options.Unread); one over HTTP is cut off.

// maxArrears bounds the news that a client gets when it has caught up.
const maxArrears = 1000

// catchUp is how often is looked whether it has.
const catchUp = 100 * time.Millisecond

// arrear is a message that a client gets later: with a request, or on its own.
type arrear struct {
	to   *flight // nil for none
	from *toolbox.Server
	msg  string
}

// size is what the server's account is charged for it.
func (n *arrear) size() int { return len(n.msg) + account.Each }

// isBehind reports whether the client is far behind with what belongs to a
// request, or, with nil, to none.
func (s *Session) isBehind(f *flight) bool {
	if f != nil {
		return f.out.Behind()
	}
	return s.behind != nil && s.behind()
}

// spare sends what a server said of its own accord, unless the client is behind.
func (s *Session) spare(srv *toolbox.Server, carrier *flight, msg []byte) {
	if s.isBehind(carrier) {
		srv.Dropped()
		return
	}
	s.emit(carrier, msg)
}

// news sends a message that means the same however often it comes; if the
// client is behind, once when it has caught up.
func (s *Session) news(srv *toolbox.Server, to *flight, msg []byte) {
	behind := s.isBehind(to)
	s.mu.Lock()
	first := len(s.arrears) == 0
	if first && !behind {
		s.mu.Unlock()
		s.emit(to, msg)
		return
	}
	n := arrear{to, srv, string(msg)}
	_, again := s.arrears[n]
	keep := !again && len(s.arrears) < maxArrears && srv.Account().Charge(n.size())
	if keep {
		s.arrears[n] = struct{}{}
	} else {
		srv.Dropped()
	}
	s.mu.Unlock()
	if first && keep {
		s.begin(s.payArrears)
	}
}

// payArrears sends the news that wait as soon as the client has caught up.
func (s *Session) payArrears(ctx context.Context) {
	look := time.NewTicker(catchUp)
	defer look.Stop()
	for {
		s.mu.Lock()
		all := slices.Collect(maps.Keys(s.arrears))
		s.mu.Unlock()
		for _, n := range all {
			if s.isBehind(n.to) {
				continue
			}
			s.mu.Lock()
			_, due := s.arrears[n]
			s.forgetLocked(n)
			s.mu.Unlock()
			if due && (n.to == nil || !n.to.over.Load()) {
				s.emit(n.to, []byte(n.msg))
			}
		}
		s.mu.Lock()
		left := len(s.arrears)
		s.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			s.mu.Lock()
			for n := range s.arrears {
				s.forgetLocked(n)
			}
			s.mu.Unlock()
			return
		}
	}
}

func (s *Session) forgetLocked(n arrear) {
	if _, due := s.arrears[n]; due {
		delete(s.arrears, n)
		n.from.Account().Credit(n.size())
	}
}
