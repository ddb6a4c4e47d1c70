package httpfront

import (
	"errors"
	"strconv"
	"strings"
	"sync"
)

// maxFinished is how many streams that have ended are kept for clients that come back for what they missed.
const maxFinished = 16

// streams are those of one legacy client.
type streams struct {
	standing *stream // what belongs to no request

	mu       sync.Mutex
	over     bool // the session has ended
	last     uint64
	all      map[uint64]*stream // of requests
	finished []*stream          // of these, the ended ones, oldest first
}

func newStreams(debt *debt) *streams {
	return &streams{standing: &stream{ids: true, standing: true, debt: debt}, all: make(map[uint64]*stream)}
}

// open makes the stream of one request.
func (ss *streams) open(prime bool) *stream {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.last++
	st := &stream{number: ss.last, ids: true, prime: prime, debt: ss.standing.debt}
	ss.all[st.number] = st
	return st
}

// finish notes that a stream has ended, and forgets the oldest ones that have.
func (ss *streams) finish(st *stream) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.over {
		st.leave()
		return
	}
	ss.finished = append(ss.finished, st)
	size := 0
	for _, st := range ss.finished {
		st.mu.Lock()
		size += st.size
		st.mu.Unlock()
	}
	for len(ss.finished) > 1 && (size > maxKept || len(ss.finished) > maxFinished) {
		old := ss.finished[0]
		ss.finished = ss.finished[1:]
		delete(ss.all, old.number)
		old.mu.Lock()
		size -= old.size
		old.mu.Unlock()
		old.leave()
	}
}

// resume finds the stream and the place in it that an event id names.
func (ss *streams) resume(id string) (st *stream, after uint64, err error) {
	number, seq, _ := strings.Cut(id, "-")
	n, err := strconv.ParseUint(number, 10, 64)
	after, err2 := strconv.ParseUint(seq, 10, 64)
	if err := errors.Join(err, err2); err != nil {
		return nil, 0, errors.New("not an event id of ours")
	}
	if n == 0 {
		return ss.standing, after, nil
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if st = ss.all[n]; st == nil {
		return nil, 0, errors.New("what came after it is no longer kept")
	}
	return st, after, nil
}

// end ends the standing stream, and with it all that is read; it returns how many messages nobody read.
func (ss *streams) end() (missed int) {
	ss.mu.Lock()
	ss.over = true
	for _, st := range ss.finished {
		st.leave()
	}
	ss.mu.Unlock()
	ss.standing.end(nil)
	return ss.standing.leave()
}
