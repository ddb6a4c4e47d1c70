package toolbox

import (
	"context"
	"sync"
	"time"
)

// relistPause keeps a storm of list_changed to one list a second.
const relistPause = time.Second

// reading is what is known of the lists that are read in the background, each by one goroutine at a time.
type reading struct {
	life  context.Context   // of the server: after it nothing is read
	begin func(func()) bool // starts a goroutine, unless the toolbox has ended
	read  func(*conn, Kind) // reads a list once
	keep  func()            // is told of each list that was read while the server lived

	mu      sync.Mutex
	from    *conn // the newest connection
	readers map[Kind]*reader
	changed chan struct{} // closed and replaced when a list has been read
}

// reader is the state of reading one list. The lock of its owner guards it.
type reader struct {
	owned   bool // a goroutine reads the list, or rests before it may do so again
	again   bool // it is to be read once more
	reading bool // it is being read
}

// ask has a list read anew, in the background.
func (r *reading) ask(c *conn, k Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from = c
	list := r.readers[k]
	if list == nil {
		list = new(reader)
		r.readers[k] = list
	}
	if list.owned {
		list.again = true
		return
	}
	list.owned = r.begin(func() { r.run(k, list) })
	list.reading = list.owned
}

// run reads a list for as long as that is asked, with rests between.
func (r *reading) run(k Kind, list *reader) {
	for {
		r.mu.Lock()
		c := r.from
		r.mu.Unlock()
		r.read(c, k)
		// Asked before whoever waits for the list is woken: they may close
		// the toolbox at once, and what they waited for is to be kept.
		whole := r.life.Err() == nil
		r.mu.Lock()
		list.reading = false
		close(r.changed)
		r.changed = make(chan struct{})
		r.mu.Unlock()
		if whole {
			r.keep()
		}

		pause := time.NewTimer(relistPause)
		select {
		case <-pause.C:
		case <-r.life.Done():
			pause.Stop()
		}
		r.mu.Lock()
		again := list.again && r.life.Err() == nil
		list.again, list.owned, list.reading = false, again, again
		r.mu.Unlock()
		if !again {
			return
		}
	}
}

// busy reports whether a list is being read; changed is closed when that may be otherwise.
func (r *reading) busy() (busy bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, list := range r.readers {
		busy = busy || list.reading
	}
	return busy, r.changed
}

// await waits until no list is being read, or until ctx ends.
func (r *reading) await(ctx context.Context) {
	for {
		busy, changed := r.busy()
		if !busy {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
