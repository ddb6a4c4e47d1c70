// Package rate bounds how often each of many may do a thing.
package rate

import (
	"sync"
	"time"
)

// Limit lets everybody do a thing so many times a minute: all of them at once after a minute of rest, and then one
// whenever the share of a minute that it has is over. The zero value has no limit. It may be used from any goroutine.
type Limit struct {
	mu      sync.Mutex
	every   time.Duration        // the share of a minute; 0 if there is no limit
	rested  map[string]time.Time // when somebody will be who is not; nobody else is kept
	cleared int                  // how many were kept when those were last left out who had rested since
}

// Set changes how often a minute; 0 is without a limit. By another limit than before, everybody has rested.
func (l *Limit) Set(perMinute int) {
	var every time.Duration
	if perMinute > 0 {
		every = time.Minute / time.Duration(perMinute)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if every != l.every {
		l.every, l.rested, l.cleared = every, nil, 0
	}
}

// Take counts that somebody does it, and gives 0; or how long they have to wait until they may, and counts nothing.
func (l *Limit) Take(name string) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.every == 0 {
		return 0
	}
	now := time.Now()
	left := max(0, l.rested[name].Sub(now))
	if wait = left + l.every - time.Minute; wait > 0 {
		return wait
	}
	if l.rested == nil {
		l.rested = make(map[string]time.Time)
	}
	l.rested[name] = now.Add(left + l.every)
	if len(l.rested) > 2*l.cleared+64 {
		for other, at := range l.rested {
			if !at.After(now) {
				delete(l.rested, other)
			}
		}
		l.cleared = len(l.rested)
	}
	return 0
}
