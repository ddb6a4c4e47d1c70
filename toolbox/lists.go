package toolbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

const (
	// optionalList is how long a list that a server need not have may take.
	optionalList = 5 * time.Second
	// relistPause keeps a storm of list_changed to one list a second.
	relistPause = time.Second
	// othersWait is how long an open waits for the lists besides the tools
	// of a server that is ready. Most have them at once; some never answer.
	othersWait = 2 * time.Second
)

// listReader is the state of reading one list in the background. It is guarded
// by Server.mu.
type listReader struct {
	owned   bool // a goroutine reads the list, or rests before it may do so again
	again   bool // it is to be read once more
	reading bool // it is being read
}

// first reads the lists at a start: the tools, which the server is not ready
// without, and in the background what else it offers.
func (s *Server) first(ctx context.Context, c *conn) error {
	s.mu.Lock()
	clear(s.notes)
	for _, k := range kinds() {
		if !c.hello.offers(k) {
			defer s.noteDriftLocked(k, s.offeredLocked(k), nil)()
			delete(s.whole, k)
			delete(s.lists, k)
			delete(s.held, k)
			delete(s.pinned, k)
			delete(s.unread, k)
			s.chargeLocked(k, nil)
		}
	}
	s.mu.Unlock()
	var refusal error
	if c.hello.offers(Tools) {
		items, bad, err := c.list(ctx, Tools)
		if err != nil && len(items) == 0 {
			if !errors.As(err, new(*RPCError)) || speaksModern(err) {
				return err
			}
			refusal = err
		}
		s.store(Tools, items, bad, err)
	}
	if refusal == nil {
		s.mu.Lock()
		s.status.Seen = time.Time{}
		s.mu.Unlock()
	}
	for _, k := range []Kind{Resources, Prompts, Skills} {
		if c.hello.offers(k) {
			s.relist(c, k)
		}
	}
	return nil
}

// store keeps a list and reports whether it differs from the one before.
func (s *Server) store(k Kind, items []Item, bad int, err error) bool {
	s.mu.Lock()
	log, logPins := func() {}, func() {}
	defer func() { s.mu.Unlock(); log(); logPins() }()
	var notes []string
	if err != nil && !isNone(k, err) {
		notes = append(notes, foreign.NewError(err).Error())
	}
	if bad > 0 {
		notes = append(notes, fmt.Sprintf("entries of %s without a name, or with that of another, which were left out: %d", k, bad))
	}
	mended := 0
	for i := range items {
		if items[i].mended {
			mended++
		}
	}
	if mended > 0 {
		notes = append(notes, fmt.Sprintf("definitions of %s that are not as the protocol has them, and that clients get mended: %d", k, mended))
	}
	s.notes[k] = notes
	s.unread[k] = err != nil && !isNone(k, err)
	known, had := s.whole[k]
	if err != nil && len(items) == 0 && len(known) > 0 {
		return false // keep what was known
	}
	before := s.offeredLocked(k)
	s.whole[k] = items
	if old, other := s.before[k]; had {
		log = s.noteDriftLocked(k, before, s.offeredLocked(k))
	} else if other {
		log = s.noteDriftLocked(k, old, s.offeredLocked(k))
	}
	delete(s.before, k)
	s.chargeLocked(k, items)
	listed, held, said := s.lists[k], s.held[k], s.pinned[k]
	s.sieveLocked(k)
	logPins = s.notePinsLocked(k, said)
	return !slices.EqualFunc(listed, s.lists[k], sameItem) ||
		!slices.EqualFunc(held, s.held[k], func(a, b Held) bool { return sameItem(a.Item, b.Item) })
}

// isNone reports whether a server said that it has no such list.
func isNone(k Kind, err error) bool {
	var refusal *RPCError
	return k != Tools && errors.As(err, &refusal) && refusal.Code == wire.CodeMethodNotFound
}

func sameItem(a, b Item) bool { return bytes.Equal(a.Raw, b.Raw) }

// offeredLocked gives a list without what the filters leave out.
func (s *Server) offeredLocked(k Kind) []Item {
	if k == Tools {
		return filtered(s.whole[k], s.filters, s.readOnly)
	}
	return s.whole[k]
}

// itemSize is what is charged for an entry of a list besides its bytes, which is less than for other things: there are
// many, and each is bounded by its place in a list.
const itemSize = 128

func (it *Item) size() int { return len(it.Raw) + len(it.Key.Verbatim()) + itemSize }

// chargeLocked charges the server's account for a list in place of the one before it.
func (s *Server) chargeLocked(k Kind, items []Item) {
	size := 0
	for i := range items {
		size += items[i].size()
	}
	s.account.Keep(size - s.sizes[k])
	s.sizes[k] = size
}

// room is how many bytes a list may have beside the others.
func (s *Server) room(k Kind) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	room := account.Lists
	for other, size := range s.sizes {
		if other != k {
			room -= size
		}
	}
	return room
}

// relist reads a list anew in the background, one reading at a time, and tells
// the peer if it changed. Resources bring their templates with them.
func (s *Server) relist(c *conn, k Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lister = c
	r := s.readers[k]
	if r.owned {
		r.again = true
		return
	}
	r.owned = s.box.tasks.Begin(func() { s.keepListing(k, r) })
	r.reading = r.owned
}

// keepListing reads a list for as long as it is asked to, with rests between.
func (s *Server) keepListing(k Kind, r *listReader) {
	for {
		s.read(k)
		// Asked before whoever waits for the list is woken: they may close
		// the toolbox at once, and what they waited for is to be kept.
		whole := s.life.Err() == nil
		s.mu.Lock()
		r.reading = false
		s.wakeLocked()
		s.mu.Unlock()
		if whole {
			s.remember()
		}

		pause := time.NewTimer(relistPause)
		select {
		case <-pause.C:
		case <-s.life.Done():
			pause.Stop()
		}
		s.mu.Lock()
		again := r.again && s.life.Err() == nil
		r.again, r.owned, r.reading = false, again, again
		s.mu.Unlock()
		if !again {
			return
		}
	}
}

// read reads a list once, from the newest connection.
func (s *Server) read(k Kind) {
	s.mu.Lock()
	c := s.lister
	s.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(s.life, optionalList, &TimeoutError{What: "list", After: optionalList})
	defer cancel()
	items, bad, err := c.list(ctx, k)
	differs := s.store(k, items, bad, err)
	if k == Resources {
		items, bad, err = c.list(ctx, Templates)
		differs = s.store(Templates, items, bad, err) || differs
	}
	if differs {
		s.peer.Changed(s, k)
	}
}

// ReadSkills reads the skills of the server, which says nothing when they change, and gives those that are offered; nil if
// they cannot be read.
func (s *Server) ReadSkills(ctx context.Context) []Item {
	ctx, cancel := context.WithTimeoutCause(ctx, optionalList, &TimeoutError{What: "list", After: optionalList})
	defer cancel()
	c, err := s.await(ctx)
	if err != nil {
		return nil
	}
	s = c.server
	items, bad, err := c.list(ctx, Skills)
	if err != nil && len(items) == 0 {
		return nil
	}
	if s.store(Skills, items, bad, err) {
		s.remember()
		s.peer.Changed(s, Skills)
	}
	return append([]Item{}, s.Items(Skills)...)
}

// settleLists waits until the lists are there that a start has read in the
// background, or for as long as an open may.
func (s *Server) settleLists(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, othersWait)
	defer cancel()
	s.awaitLists(ctx)
}

// awaitLists waits until no list is being read, or until ctx ends.
func (s *Server) awaitLists(ctx context.Context) {
	for {
		s.mu.Lock()
		reading, changed := false, s.changed
		for _, r := range s.readers {
			reading = reading || r.reading
		}
		s.mu.Unlock()
		if !reading {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
