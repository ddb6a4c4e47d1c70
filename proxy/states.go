package proxy

import (
	"maps"
	"sync"
)

// states are what the states stand for that modern clients were given and bring along with a request made again.
type states struct {
	*sealer

	mu     sync.Mutex
	last   uint64
	of     map[uint64]any
	grants map[uint64]int // by the digests of requests, how often they go on without being asked about anew
}

func newStates(seal *sealer) *states {
	return &states{sealer: seal, of: make(map[uint64]any), grants: make(map[uint64]int)}
}

// add gives a number to what a state is to stand for.
func (st *states) add(what any) uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.last++
	st.of[st.last] = what
	return st.last
}

// find gives what a number stands for; nil for nothing.
func (st *states) find(number uint64) any {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.of[number]
}

// drop forgets a number, and gives what it stood for; nil for nothing.
func (st *states) drop(number uint64) any {
	st.mu.Lock()
	defer st.mu.Unlock()
	defer delete(st.of, number)
	return st.of[number]
}

// all gives what the states stand for, by their numbers.
func (st *states) all() map[uint64]any {
	st.mu.Lock()
	defer st.mu.Unlock()
	return maps.Clone(st.of)
}

// grant has the next request of a digest that comes with a server's state go on without being asked about.
func (st *states) grant(digest uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.grants) < maxHeld {
		st.grants[digest]++
	}
}

// granted reports whether that is so, and takes it.
func (st *states) granted(digest uint64) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.grants[digest] == 0 {
		return false
	}
	if st.grants[digest]--; st.grants[digest] == 0 {
		delete(st.grants, digest)
	}
	return true
}
