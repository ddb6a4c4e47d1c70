package store

import (
	"sync"
	"time"
)

// silence is for how long the leases of others were not renewed, by a clock of this process that nobody can set.
type silence struct {
	mu   sync.Mutex
	seen map[string]heard // by holder, guarded by mu
}

// heard is what was seen of a lease last, and since when it has not changed.
type heard struct {
	expires int64
	since   time.Time
}

// maxSeen is how many leases are watched; with more of them the watch begins anew.
const maxSeen = 10000

// lasts returns for how long the lease is known not to have been renewed.
func (s *silence) lasts(l lease) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil || len(s.seen) > maxSeen {
		s.seen = make(map[string]heard)
	}
	last, ok := s.seen[l.holder]
	if !ok || last.expires != l.expires {
		s.seen[l.holder] = heard{l.expires, time.Now()}
		return 0
	}
	return time.Since(last.since)
}
