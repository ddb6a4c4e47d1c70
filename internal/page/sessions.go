package page

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/principal"
)

// Viewer is who looks at the page.
type Viewer struct {
	principal.Principal
	// Token is what the viewer came in with, where that can be withdrawn; "" where it cannot.
	Token string
}

// mostSessions is how many sessions a user has at a time; the one of theirs that was used longest ago makes place for a
// new one.
const mostSessions = 256

// idleTime is how long a session lasts that nobody uses.
const idleTime = 24 * time.Hour

// session is a browser that was let in.
type session struct {
	viewer Viewer
	secret string
	used   time.Time // guarded by sessions.mu
	ctx    context.Context
	end    context.CancelFunc
}

// sessions are all there are, by the value of their cookie.
type sessions struct {
	mu     sync.Mutex
	all    map[string]*session
	closed bool
}

// begin makes a session, whose requests end with it.
func (s *sessions) begin(v Viewer, now time.Time) (cookie string, made *session) {
	made = &session{viewer: v, secret: rand.Text(), used: now}
	made.ctx, made.end = context.WithCancel(context.Background())
	cookie = rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest, theirs := "", 0
	for id, one := range s.all {
		if now.Sub(one.used) > idleTime {
			s.dropLocked(id)
			continue
		}
		if one.viewer.Name != v.Name {
			continue
		}
		if theirs++; oldest == "" || one.used.Before(s.all[oldest].used) {
			oldest = id
		}
	}
	if theirs >= mostSessions {
		s.dropLocked(oldest)
	}
	if s.closed {
		made.end()
	} else {
		s.all[cookie] = made
	}
	return cookie, made
}

// find gives the session of a cookie, if the secret is that of the same session.
func (s *sessions) find(cookie, secret string, now time.Time) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[cookie]
	if one == nil || subtle.ConstantTimeCompare([]byte(one.secret), []byte(secret)) != 1 || now.Sub(one.used) > idleTime {
		return nil
	}
	one.used = now
	return one
}

// drop ends a session.
func (s *sessions) drop(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked(cookie)
}

func (s *sessions) dropLocked(cookie string) {
	if one := s.all[cookie]; one != nil {
		one.end()
		delete(s.all, cookie)
	}
}

// shut has no session begin any more.
func (s *sessions) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// Key is a credential that lets in once. The zero Key lets nobody in. It is safe for use by several goroutines.
type Key struct {
	mu    sync.Mutex
	value string
}

// NewKey makes a key.
func NewKey() *Key { return &Key{value: rand.Text() + rand.Text()} }

// String gives the key, "" once it was used.
func (k *Key) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.value
}

// Use reports whether a credential is the key, which is dead from then on.
func (k *Key) Use(credential string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.value == "" || subtle.ConstantTimeCompare([]byte(k.value), []byte(credential)) != 1 {
		return false
	}
	k.value = ""
	return true
}

// mostAtOnce is how many requests of a user are carried out at a time. A window of the page has two that last, and one
// or two besides.
const mostAtOnce = 64

// busy are the requests that are being carried out, by their users.
type busy struct {
	mu sync.Mutex
	of map[string]int
}

// begin notes a request; it reports false if there are too many.
func (b *busy) begin(user string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[user] >= mostAtOnce {
		return false
	}
	b.of[user]++
	return true
}

func (b *busy) end(user string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[user]--; b.of[user] == 0 {
		delete(b.of, user)
	}
}
