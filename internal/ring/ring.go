// Package ring keeps the last of things that happen one after the other: so many of them, and so many bytes, whichever
// is reached first. Those who follow what happens hold up nobody: a [Ring] keeps nothing for them, and who comes too
// late for a thing learns how many are missed.
//
//	r := ring.New[Line](1000, 256<<10, nil)
//	r.Add(line, len(line.Text))
//	for line := range r.All() { … }
package ring

import (
	"iter"
	"sync"

	"github.com/mcp-workbench/workbench/internal/account"
)

// Ring keeps things of one type. Its methods may be called by several goroutines.
type Ring[T any] struct {
	most, limit int
	account     *account.Account

	mu      sync.Mutex
	slots   []slot[T]
	oldest  int    // the slot of the oldest thing
	held    int    // how many slots hold a thing
	bytes   int    // of them
	added   uint64 // all that were ever added; the number of the last thing
	changed chan struct{}
}

type slot[T any] struct {
	thing T
	size  int
}

// New makes a ring of at most so many things, and so many bytes. What it holds is charged to the account, if that is
// not nil: a thing that finds no room there even when the ring is empty is not kept.
func New[T any](most, bytes int, charged *account.Account) *Ring[T] {
	return &Ring[T]{most: most, limit: bytes, account: charged}
}

// Add adds a thing of that many bytes, in the place of the oldest where there is no other. The number of a thing is one
// more than that of the thing before it; the first has the number 1.
func (r *Ring[T]) Add(thing T, size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.added++
	for r.held > 0 && (r.held == r.most || r.bytes+size > r.limit) {
		r.dropLocked()
	}
	for !r.chargeLocked(size) {
		if r.held == 0 {
			r.tellLocked() // that there is one which cannot be had
			return
		}
		r.dropLocked()
	}
	if r.held == len(r.slots) {
		r.growLocked()
	}
	r.slots[(r.oldest+r.held)%len(r.slots)] = slot[T]{thing, size}
	r.held++
	r.bytes += size
	r.tellLocked()
}

func (r *Ring[T]) chargeLocked(size int) bool { return size <= r.limit && r.account.Charge(size) }

func (r *Ring[T]) dropLocked() {
	gone := &r.slots[r.oldest]
	r.account.Credit(gone.size)
	r.bytes -= gone.size
	*gone = slot[T]{}
	r.oldest = (r.oldest + 1) % len(r.slots)
	r.held--
}

func (r *Ring[T]) growLocked() {
	more := make([]slot[T], min(max(16, 2*len(r.slots)), r.most))
	for i := range r.held {
		more[i] = r.slots[(r.oldest+i)%len(r.slots)]
	}
	r.slots, r.oldest = more, 0
}

func (r *Ring[T]) tellLocked() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// All yields what the ring holds at this moment, the oldest first.
func (r *Ring[T]) All() iter.Seq[T] {
	things, _, _ := r.After(0)
	return func(yield func(T) bool) {
		for _, thing := range things {
			if !yield(thing) {
				return
			}
		}
	}
}

// After gives what was added after the thing of that number and is still there, the oldest first; the number of the
// last thing that was added; and how many things in between are there no more.
func (r *Ring[T]) After(number uint64) (things []T, last, missed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if number > r.added {
		number = r.added
	}
	n := min(uint64(r.held), r.added-number)
	for i := r.held - int(n); i < r.held; i++ {
		things = append(things, r.slots[(r.oldest+i)%len(r.slots)].thing)
	}
	return things, r.added, r.added - number - n
}

// Changed returns a channel that is closed when a thing after that number has been added.
func (r *Ring[T]) Changed(number uint64) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	changed := r.changed
	if number < r.added {
		r.tellLocked()
	}
	return changed
}

// Bytes is what the ring holds.
func (r *Ring[T]) Bytes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes
}

// Close gives back what was charged; the ring is empty after it.
func (r *Ring[T]) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.held > 0 {
		r.dropLocked()
	}
}
