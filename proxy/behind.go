package proxy

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/toolbox"
)

// A client that does not keep up is sent no more of what it can do without: log
// lines, and progress, of which the next says more. News of resources are sent
// once when it has caught up. Replies, questions and what else there is are
// bounded by what the client asked for.

// maxArrears bounds the news that a client gets when it has caught up.
const maxArrears = 1000

// catchUp is how often is looked whether it has.
const catchUp = 100 * time.Millisecond

// arrear is a message that a client gets later: with a request, or on its own.
type arrear struct {
	to  *flight // nil for none
	msg string
}

// isBehind reports whether the client is far behind with what belongs to a
// request, or, with nil, to none.
func (s *session) isBehind(f *flight) bool {
	if f != nil {
		return f.out.behind()
	}
	return s.behind != nil && s.behind()
}

// spare sends what a server said of its own accord, unless the client is behind.
func (s *session) spare(srv *toolbox.Server, carrier *flight, msg []byte) {
	if s.isBehind(carrier) {
		srv.Dropped()
		return
	}
	s.emit(carrier, msg)
}

// news sends a message that means the same however often it comes; if the
// client is behind, once when it has caught up.
func (s *session) news(srv *toolbox.Server, to *flight, msg []byte) {
	behind := s.isBehind(to)
	s.mu.Lock()
	first := len(s.arrears) == 0
	if first && !behind {
		s.mu.Unlock()
		s.emit(to, msg)
		return
	}
	n := arrear{to, string(msg)}
	if _, again := s.arrears[n]; again || len(s.arrears) >= maxArrears {
		srv.Dropped()
	} else {
		s.arrears[n] = struct{}{}
	}
	s.mu.Unlock()
	if first {
		s.begin(s.payArrears)
	}
}

// payArrears sends the news that wait as soon as the client has caught up.
func (s *session) payArrears(ctx context.Context) {
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
			delete(s.arrears, n)
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
			return
		}
	}
}
