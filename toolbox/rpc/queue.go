package rpc

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of what waits for one server. As many calls as a thousand clients of a shared server make at one moment find
// room.
const (
	maxQueued      = 1024
	maxQueuedBytes = 8 << 20
)

// Queue holds the calls of clients that a server cannot be given at this moment, in the order they came: it is
// starting, or has as many as it may. The number in it is also that of Counters.Queued, which tells without the lock
// that there is none.
type Queue struct {
	limit   func() time.Duration       // how long a call may wait
	late    func(*Call, time.Duration) // is given those that waited longer
	waiting *atomic.Int64

	mu    sync.Mutex
	calls []*Call
	bytes int
	timer *time.Timer // fires when the first call has waited too long
}

// NewQueue makes a queue whose number of calls is kept in waiting.
func NewQueue(limit func() time.Duration, late func(*Call, time.Duration), waiting *atomic.Int64) *Queue {
	return &Queue{limit: limit, late: late, waiting: waiting}
}

// Add appends a call, of which it keeps nothing that is the caller's, and reports whether there was room.
func (q *Queue) Add(call *Call) bool {
	call.own()
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.calls) >= maxQueued || q.bytes >= maxQueuedBytes {
		return false
	}
	call.queued = time.Now()
	q.insertLocked(len(q.calls), call)
	return true
}

// PutBack makes a call that was taken the first again.
func (q *Queue) PutBack(call *Call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.insertLocked(0, call)
}

func (q *Queue) insertLocked(i int, call *Call) {
	q.calls = slices.Insert(q.calls, i, call)
	q.bytes += len(call.Raw)
	q.waiting.Add(1)
	call.waits.Store(q)
	if call.ended.Load() { // it was cancelled before it could be found here
		q.deleteLocked(slices.Index(q.calls, call))
	}
	q.armLocked()
}

func (q *Queue) deleteLocked(i int) *Call {
	call := q.calls[i]
	q.calls = slices.Delete(q.calls, i, i+1)
	q.bytes -= len(call.Raw)
	q.waiting.Add(-1)
	call.waits.Store(nil)
	if len(q.calls) == 0 && q.timer != nil && q.timer.Stop() {
		q.timer = nil
	}
	return call
}

// remove takes a call out, if it is there.
func (q *Queue) remove(call *Call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.calls, call); i >= 0 {
		q.deleteLocked(i)
	}
}

// Take takes the first call out; nil if there is none.
func (q *Queue) Take() *Call {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.calls) == 0 {
		return nil
	}
	return q.deleteLocked(0)
}

// TakeOlder takes the calls out that came at a time or before it.
func (q *Queue) TakeOlder(than time.Time) (old []*Call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.calls) > 0 && !q.calls[0].queued.After(than) {
		old = append(old, q.deleteLocked(0))
	}
	return old
}

// armLocked sets the timer for the first call, unless it runs: then it may fire early, which is harmless.
func (q *Queue) armLocked() {
	if len(q.calls) > 0 && q.timer == nil {
		q.timer = time.AfterFunc(time.Until(q.calls[0].queued.Add(q.limit())), q.expire)
	}
}

// expire fails the calls that waited too long. It runs on the timer's goroutine.
func (q *Queue) expire() {
	limit := q.limit()
	for _, call := range q.TakeOlder(time.Now().Add(-limit)) {
		q.late(call, limit)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.timer = nil
	q.armLocked()
}
