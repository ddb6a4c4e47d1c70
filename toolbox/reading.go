package toolbox

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/pause"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/offered"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// relistPause keeps a storm of list_changed to one list a second.
const relistPause = time.Second

// reading reads the lists of a server, most of them in the background, each by one goroutine at a time. A list that
// could not be read is read again later.
type reading struct {
	lists  *offered.Lists
	at     *standing
	life   context.Context      // of the server: after it nothing is read
	begin  func(func()) bool    // starts a goroutine, unless the toolbox has ended
	differ func(Kind)           // is told of a list that is other than before
	keep   func()               // is told of each list that was read while the server lived
	within func() time.Duration // how long a list may take: as long as at a start

	mu      sync.Mutex
	from    *rpc.Conn // the connection whose lists are read: the newest that was begun with
	readers map[Kind]*reader
	changed chan struct{} // closed and replaced when a list has been read
}

// reader is the state of reading one list. The lock of the readings guards it.
type reader struct {
	// turn has a value while the list is asked for and stored, by whomever, so that no answer replaces one that was asked
	// for later. No lock is held while it is waited for.
	turn    chan struct{}
	owned   bool          // a goroutine reads the list, or rests before it may do so again
	again   bool          // it is to be read once more
	reading bool          // it is being read; one that failed before and is tried again is waited for by nobody
	woken   chan struct{} // holds a value when it is to be read once more
	stale   time.Time     // from when on it is not to be relied on, as its server says; zero for never
}

// first reads the lists at a start: the tools, which the server is not ready without, the prompts if any may be held
// back, since the calls that wait for the start are to ask for none of those, and in the background what else it offers.
func (r *reading) first(ctx context.Context, c *rpc.Conn) error {
	has := func(k Kind) bool { return offers(c.Hello(), k) }
	r.lists.Drop(has)
	if err := r.firstTools(ctx, c, has(Tools)); err != nil {
		return err
	}
	for _, k := range []Kind{Resources, Prompts, Skills} {
		switch {
		case !has(k):
		case k == Prompts && r.lists.Holds():
			if failure := r.read(c, k); failure != nil {
				r.hand(c, k, failure)
			}
		default:
			r.ask(c, k)
		}
	}
	return nil
}

// firstTools begins with the lists of a connection, and reads the tools if there are any, without which a start fails
// unless the server answered that it has none to tell.
func (r *reading) firstTools(ctx context.Context, c *rpc.Conn, any bool) error {
	done, err := r.take(ctx, Tools)
	if err != nil {
		return err
	}
	defer done()
	r.mu.Lock()
	r.from = c
	r.mu.Unlock()
	if !any {
		r.at.noteSeen(time.Time{})
		return nil
	}
	tools := readList(ctx, c, Tools, r.lists.Room(Tools))
	if tools.Failed() && (!errors.As(tools.Err, new(*link.RPCError)) || rpc.Wanted(tools.Err) != "") {
		return tools.Err
	}
	r.lists.Store(Tools, tools)
	r.date(Tools, &tools)
	if !tools.Failed() {
		r.at.noteSeen(time.Time{})
	}
	if failure := missing(tools); failure != nil {
		r.hand(c, Tools, failure)
	}
	return nil
}

// read reads a list, and tells the peer if it changed. The error says why the list is to be read again.
func (r *reading) read(c *rpc.Conn, k Kind) (failure error) {
	differs, failure := r.renew(c, k)
	if differs {
		r.differ(k)
	}
	return failure
}

// renew asks for a list and stores it. Resources bring their templates with them, within the same time.
func (r *reading) renew(c *rpc.Conn, k Kind) (differs bool, failure error) {
	done, err := r.take(r.life, k)
	if err != nil {
		return false, nil
	}
	defer done()
	if r.newest() != c {
		return false, nil // the end of a connection says nothing of the list of the next
	}
	limit := r.within()
	ctx, cancel := context.WithTimeoutCause(r.life, limit, &rpc.TimeoutError{What: "list", After: limit})
	defer cancel()
	store := func(k Kind) (differs bool) {
		list := readList(ctx, c, k, r.lists.Room(k))
		if list.Err != nil && r.life.Err() != nil {
			return false // the end of the server says nothing of its list
		}
		failure = cmp.Or(failure, missing(list))
		r.date(k, &list)
		return r.lists.Store(k, list)
	}
	differs = store(k)
	if k == Resources {
		differs = store(Templates) || differs
	}
	return differs, failure
}

// now reads a list for who waits for it, and reports whether it could be read, and whether it is other than before.
func (r *reading) now(ctx context.Context, c *rpc.Conn, k Kind) (read, differs bool) {
	done, err := r.take(ctx, k)
	if err != nil {
		return false, false
	}
	defer done()
	list := readList(ctx, c, k, r.lists.Room(k))
	if list.Failed() || r.newest() != c {
		return false, false
	}
	return true, r.lists.Store(k, list)
}

// readList reads a list, as far as there is room.
func readList(ctx context.Context, c *rpc.Conn, k Kind, room int) offered.Reading {
	usable := func(it offered.Item) bool { return k != Tools || c.Link().Usable(it.Key.Verbatim(), it.Raw) }
	r := offered.Read(k, room, usable, func(method string, params []byte, take func([]byte) (offered.Page, error)) (offered.Page, error) {
		return page(ctx, c, method, params, take)
	})
	none := k != Tools && link.CodeOf(r.Err) == wire.CodeMethodNotFound
	r.Unread = r.Err != nil && !none
	return r
}

// freshLeast is how long a list is taken to be fresh at least: a client that is told of a change asks for the list at
// once, which is not to have it read again for ever.
const freshLeast = 10 * time.Second

// date notes from when on a list is stale that was just read.
func (r *reading) date(k Kind, list *offered.Reading) {
	if list.Err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.readerLocked(k)
	if of.stale = (time.Time{}); list.Dated {
		of.stale = time.Now().Add(max(list.Fresh, freshLeast))
	}
}

// isStale reports whether a list is not to be relied on any more. Templates are read with resources.
func (r *reading) isStale(k Kind) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	is := func(k Kind) bool {
		of := r.readers[k]
		return of != nil && !of.stale.IsZero() && !time.Now().Before(of.stale)
	}
	return is(k) || k == Resources && is(Templates)
}

// missing says why a list was not read to its end that may be the next time, nil for any other.
func missing(list offered.Reading) error {
	if !list.Unread || !list.Cut || isFinal(list.Err) {
		return nil
	}
	return list.Err
}

// anew has all lists read anew of whose changes a server tells.
func (r *reading) anew(c *rpc.Conn) {
	for _, k := range []Kind{Tools, Prompts, Resources} {
		if offers(c.Hello(), k) {
			r.ask(c, k)
		}
	}
}

// ask has a list read anew, in the background.
func (r *reading) ask(c *rpc.Conn, k Kind) { r.hand(c, k, nil) }

func (r *reading) readerLocked(k Kind) *reader {
	list := r.readers[k]
	if list == nil {
		list = &reader{turn: make(chan struct{}, 1), woken: make(chan struct{}, 1)}
		r.readers[k] = list
	}
	return list
}

// newest returns the connection whose lists are read.
func (r *reading) newest() *rpc.Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.from
}

// take waits for the turn to ask for a list and to store it, which done ends, or until ctx ends.
func (r *reading) take(ctx context.Context, k Kind) (done func(), err error) {
	r.mu.Lock()
	turn := r.readerLocked(k).turn
	r.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// hand gives a list to the goroutine that reads it: to be read at once, or after a rest if a reading has just failed.
// What a connection says of its lists before they are begun with is no reason to read them twice.
func (r *reading) hand(c *rpc.Conn, k Kind, failure error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from != c {
		return
	}
	list := r.readerLocked(k)
	if list.owned {
		list.again = true
		select {
		case list.woken <- struct{}{}:
		default:
		}
		return
	}
	list.owned = r.begin(func() { r.run(c, k, list, failure) })
	list.reading = list.owned && failure == nil
}

// run reads a list for as long as that is asked or the list could not be read, with rests between.
func (r *reading) run(c *rpc.Conn, k Kind, list *reader, failure error) {
	tries := upkeep{conn: c}
	if failure == nil {
		failure = r.turn(c, k, list)
	}
	for r.rest(&tries, list, failure) {
		c = r.newest()
		if failure = r.turn(c, k, list); failure == nil || tries.conn != c {
			tries = upkeep{conn: c}
		}
	}
}

// turn reads a list, and wakes who waits for it.
func (r *reading) turn(c *rpc.Conn, k Kind, list *reader) (failure error) {
	failure = r.read(c, k)
	// Asked before whoever waits for the list is woken: they may close the toolbox at once, and what they waited for is
	// to be kept.
	whole := r.life.Err() == nil
	r.mu.Lock()
	list.reading = false
	close(r.changed)
	r.changed = make(chan struct{})
	r.mu.Unlock()
	if whole {
		r.keep()
	}
	return failure
}

// rest waits until a list may be read again, and reports whether it is to be. If not, nobody reads it any more.
func (r *reading) rest(tries *upkeep, list *reader, failure error) bool {
	_ = pause.For(r.life, relistPause)
	retry := failure != nil && tries.rest(r.life, tries.next(failure), list.woken)
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-list.woken:
	default:
	}
	again := list.again && r.life.Err() == nil
	list.again, list.reading, list.owned = false, again, again || retry && r.from == tries.conn
	return list.owned
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
