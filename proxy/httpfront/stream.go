package httpfront

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Bounds of a stream.
const (
	// maxKept is how many bytes of events are kept for a client of the legacy era that is not there, or may come back.
	maxKept = 128 << 10
	// maxUnread is how far behind a client may be before it is cut off.
	maxUnread = 8 << 20
	// writeTime is how long a client may take nothing of what is written.
	writeTime = 30 * time.Second
)

// stream is a sequence of messages on their way to a client, as server-sent events: those that belong to one request,
// or, in the legacy era, those that belong to none. One goroutine at a time reads it. A client of the legacy era may
// come back for what it missed; its events have ids.
type stream struct {
	number   uint64 // part of the ids of events, unique in the session
	ids      bool   // events have ids and are kept for a while
	prime    bool   // begin with an event that has an id and nothing else
	standing bool   // belongs to no request, and never ends before the session
	debt     *debt  // is charged for events

	mu      sync.Mutex
	events  []event
	size    int // bytes in events, for which debt is charged
	owed    int // of these, what the reader is still to be written
	last    uint64
	given   uint64 // the last event that was written to some reader
	over    bool
	left    bool // nobody comes back for it
	dropped int
	reader  *reader
}

type event struct {
	seq uint64
	msg []byte
}

// reader is one connection of the client to a stream.
type reader struct {
	wake chan struct{} // has room for one
	at   uint64        // the last event that it was given
	done uint64        // the last one that was written: those between are being written
}

func newReader() *reader { return &reader{wake: make(chan struct{}, 1)} }

func (r *reader) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// add appends a message, which is copied.
func (st *stream) add(msg []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.over {
		return
	}
	if st.standing && isListChanged(msg) && st.awaitsLocked(msg) {
		return // the client has not heard of the last change
	}
	msg = oneLine(msg)
	if !st.appendLocked(msg) {
		st.dropped++
		st.cutLocked()
	}
}

// behind reports whether so much is unread that the reader may be cut off for what is still to come. For one that is
// not there little is kept anyway.
func (st *stream) behind() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.reader != nil && (st.size > maxUnread/2 || st.debt.isMuch())
}

// end appends the last message, if there is one, and ends the stream.
func (st *stream) end(msg []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.over {
		return
	}
	st.over = true
	if msg != nil {
		if msg = oneLine(msg); !st.appendLocked(msg) {
			st.appendLocked(st.debt.leftOut(msg))
		}
	} else if st.reader != nil {
		st.reader.signal()
	}
}

// oneLine copies a message without the line breaks that it may have between its tokens, which would end the event.
func oneLine(msg []byte) []byte {
	if bytes.ContainsAny(msg, "\r\n") {
		return wire.Compact(nil, msg)
	}
	return bytes.Clone(msg)
}

// appendLocked appends a message; it reports false if that is not to be kept.
func (st *stream) appendLocked(msg []byte) bool {
	if st.left && st.reader == nil {
		return true
	}
	if !st.debt.keep(len(msg)) {
		return false
	}
	st.last++
	st.events = append(st.events, event{st.last, msg})
	st.size += len(msg)
	if st.reader != nil {
		st.oweLocked(len(msg))
		if st.size-len(msg) > maxUnread && st.events[0].seq > st.reader.done {
			st.cutLocked()
		} else {
			st.reader.signal()
		}
	}
	st.trimLocked()
	return true
}

// cutLocked lets go of a reader that is too slow.
func (st *stream) cutLocked() {
	if old := st.reader; old != nil {
		st.loseLocked()
		old.signal()
	}
}

// oweLocked notes that the reader is to be written so much more. Its servers wait for that, unless it is the standing
// stream, on which nobody waits for a reply.
func (st *stream) oweLocked(n int) {
	if !st.standing {
		st.owed += n
		st.debt.answer(n)
	}
}

// loseLocked lets go of the reader.
func (st *stream) loseLocked() {
	st.reader = nil
	st.oweLocked(-st.owed)
	st.trimLocked()
	if st.left {
		st.emptyLocked()
	}
}

// leave drops what is kept as soon as nobody reads it: nobody comes back for it. It returns how many messages were
// dropped because nobody read them.
func (st *stream) leave() (missed int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.left = true
	if st.reader == nil {
		st.emptyLocked()
	}
	return st.dropped
}

func (st *stream) emptyLocked() {
	st.debt.drop(st.size)
	st.events, st.size = nil, 0
}

// trimLocked drops the oldest events beyond what is kept, but none that its reader is still to be written, and never the
// newest. News of changed lists that nobody has heard are moved to the end instead.
func (st *stream) trimLocked() {
	for len(st.events) > 1 && st.size > maxKept {
		first := st.events[0]
		unread := st.isUnreadLocked(first)
		if st.reader != nil && first.seq > st.reader.done {
			return
		}
		st.dropFirstLocked()
		switch {
		case st.standing && unread && isListChanged(first.msg):
			st.last++
			st.events = append(st.events, event{st.last, first.msg})
			st.size += len(first.msg)
			st.debt.keep(len(first.msg)) // which is brief
		case unread:
			st.dropped++
		}
	}
}

func (st *stream) awaitsLocked(msg []byte) bool {
	return slices.ContainsFunc(st.events, func(e event) bool { return st.isUnreadLocked(e) && bytes.Equal(e.msg, msg) })
}

// isUnreadLocked reports whether an event is still to be given to the reader, or to the first that comes.
func (st *stream) isUnreadLocked(e event) bool {
	if st.reader == nil {
		return e.seq > st.given
	}
	return e.seq > st.reader.at
}

func isListChanged(msg []byte) bool {
	return len(msg) < 100 && bytes.Contains(msg, []byte(`/list_changed"`))
}

// unread is the event behind which a client begins to read that does not say where it was: what was written to it before
// comes again only to those that say so (specification 2025-11-25, transports, "Multiple Connections").
func (st *stream) unread() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.given
}

// wrote takes note that rd was written the events up to one.
func (st *stream) wrote(rd *reader, last uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.given = max(st.given, last)
	if st.reader == rd {
		for i := len(st.events) - 1; i >= 0 && st.events[i].seq > rd.done; i-- {
			if st.events[i].seq <= last {
				st.oweLocked(-len(st.events[i].msg))
			}
		}
	}
	rd.done = last
	if st.ids {
		st.trimLocked()
		return
	}
	for len(st.events) > 0 && st.events[0].seq <= last {
		st.dropFirstLocked()
	}
}

func (st *stream) dropFirstLocked() {
	n := len(st.events[0].msg)
	st.events[0] = event{} // or the message stays in memory
	st.events = st.events[1:]
	st.size -= n
	st.debt.drop(n)
}

// attach makes rd the one reader of the stream, from the event after the given one on. A connection that read it before
// is let go: it is most likely dead.
func (st *stream) attach(rd *reader, after uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	rd.at, rd.done = after, after
	if st.reader != nil {
		st.reader.signal()
	}
	st.reader = rd
	st.oweLocked(-st.owed)
	for _, e := range st.events {
		if e.seq > after {
			st.oweLocked(len(e.msg))
		}
	}
	rd.signal()
}

// detach lets go of rd, if it is still the reader.
func (st *stream) detach(rd *reader) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.reader == rd {
		st.loseLocked()
	}
}

// take gives rd what it was not given yet; over says that this is all there will be, and mine that rd is still the
// reader.
func (st *stream) take(rd *reader) (events []event, over, mine bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.reader != rd {
		return nil, false, false
	}
	i := len(st.events)
	for i > 0 && st.events[i-1].seq > rd.at {
		i--
	}
	events = slices.Clone(st.events[i:])
	rd.at = st.last
	return events, st.over, true
}

// serve writes what comes to rd until the stream is over, and reports whether it was written to its end; it was not if
// the client left, another connection took its place, or stays, which is asked at each sign of life, said no.
func (st *stream) serve(ctx context.Context, w http.ResponseWriter, rd *reader, keepAlive time.Duration, stays func() bool) bool {
	out := &sse{control: http.NewResponseController(w), w: w}
	defer st.detach(rd)
	head := w.Header()
	head.Set("Content-Type", "text/event-stream")
	head.Set("Cache-Control", "no-cache, no-transform")
	head.Set("X-Accel-Buffering", "no") // specification 2026-07-28, receiving messages
	w.WriteHeader(http.StatusOK)
	quiet := time.NewTicker(keepAlive)
	defer quiet.Stop()
	if st.prime && rd.at == 0 {
		out.event(st.number, 0, nil)
	}
	for {
		events, over, mine := st.take(rd)
		if !mine {
			return false
		}
		for _, e := range events {
			if st.ids {
				out.event(st.number, e.seq, e.msg)
			} else {
				out.plain(e.msg)
			}
		}
		if out.send() != nil {
			return false
		}
		if n := len(events); n > 0 {
			st.wrote(rd, events[n-1].seq)
		}
		if over {
			return true
		}
		select {
		case <-rd.wake:
		case <-quiet.C:
			if !stays() {
				return false
			}
			out.text = append(out.text, ": \n\n"...)
		case <-ctx.Done():
			return false
		}
	}
}

// sse writes server-sent events to one client.
type sse struct {
	control *http.ResponseController
	w       http.ResponseWriter
	text    []byte // not written yet
	err     error
}

// event adds an event with an id, by which the client may come back.
func (s *sse) event(stream, seq uint64, msg []byte) {
	s.text = strconv.AppendUint(append(s.text, "id: "...), stream, 10)
	s.text = strconv.AppendUint(append(s.text, '-'), seq, 10)
	s.text = append(s.text, '\n')
	s.plain(msg)
}

func (s *sse) plain(msg []byte) {
	s.text = append(s.text, "event: message\ndata: "...)
	if len(msg) > maxWrite { // it is not copied
		s.write(s.text)
		s.write(msg)
		s.text, msg = s.text[:0], nil
	}
	s.text = append(append(s.text, msg...), "\n\n"...)
}

func (s *sse) write(text []byte) {
	if s.err == nil {
		s.err = write(s.w, s.control, text)
	}
}

// maxWrite is how many bytes are written before the client is given new time.
const maxWrite = 256 << 10

// write writes text, as long as it is, with new time for each part.
func write(w io.Writer, control *http.ResponseController, text []byte) error {
	for len(text) > 0 {
		part := text[:min(len(text), maxWrite)]
		text = text[len(part):]
		_ = control.SetWriteDeadline(time.Now().Add(writeTime)) // a connection of a test has none
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// send writes and flushes what was added. The first call flushes the header.
func (s *sse) send() error {
	s.write(s.text)
	s.text = s.text[:0]
	if cap(s.text) > maxWrite {
		s.text = nil
	}
	if s.err == nil {
		s.err = s.control.Flush()
		_ = s.control.SetWriteDeadline(time.Time{})
	}
	return s.err
}
