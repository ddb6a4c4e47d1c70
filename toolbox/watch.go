package toolbox

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/internal/backoff"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// watches are what is wanted of a server besides replies: word of what changes, and that it is not stopped meanwhile.
type watches struct {
	at    *standing
	life  context.Context   // of the server
	begin func(func()) bool // starts a goroutine, unless the toolbox has ended
	// updated tells the client that a resource may have changed.
	updated func(uri string)

	mu        sync.Mutex
	uris      map[string]bool // of resources; whether each was wanted of a server that ran
	tasks     map[string]int  // how often each is wanted to be heard of
	kept      time.Time       // until when the server is not idle, whatever is asked of it
	heir      *watches        // of the server in the place of this one
	from      *rpc.Conn       // the newest connection that was asked, over which alone others are
	listening *listener       // the newest subscription to a modern server
	heard     *listener       // the last one that the server acknowledged, until it ends

	missed  atomic.Bool // it ended: lists may have changed until it is made again
	unheard atomic.Bool // so may have resources, also while the server did not run
}

// Keep has the server not stopped for idleness for a while: it holds something for its client that no request shows,
// such as a task.
func (w *watches) Keep(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if until := time.Now().Add(d); until.After(w.kept) {
		w.kept = until
	}
}

// keptFor returns for how long the server is not to be stopped at least, whether it is used or not.
func (w *watches) keptFor(idle time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.uris)+len(w.tasks) > 0 {
		return idle
	}
	return time.Until(w.kept)
}

// wantedLocked returns the uris and tasks that are watched.
func (w *watches) wantedLocked() (uris, tasks []string) {
	return slices.Sorted(maps.Keys(w.uris)), slices.Sorted(maps.Keys(w.tasks))
}

// wants reports whether a resource is watched.
func (w *watches) wants(uri string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, wanted := w.uris[uri]
	return wanted
}

// inherit takes over the resources that are watched at the server before this one, which from now on hands on what it
// is told of them.
func (w *watches) inherit(old *watches) {
	old.mu.Lock()
	defer old.mu.Unlock()
	old.heir = w
	maps.Copy(w.uris, old.uris) // which nobody else has so far
}

// Watch notes that the client wants to hear of changes of a resource, or no longer does, so that a server that restarts
// is asked again. A modern server is asked here; a legacy one was asked by the request that the caller forwarded.
func (w *watches) Watch(uri string, on bool) { w.watch(uri, on, false) }

// watch is Watch; inherited says that the request went to the server before this one.
func (w *watches) watch(uri string, on, inherited bool) {
	runs := w.at.live() != nil
	w.mu.Lock()
	if heir := w.heir; heir != nil {
		w.mu.Unlock()
		heir.watch(uri, on, true)
		return
	}
	ran, wanted := w.uris[uri]
	if on {
		w.uris[uri] = ran || runs
	} else {
		delete(w.uris, uri)
	}
	c := w.from
	w.mu.Unlock()
	switch at := w.at.now(); {
	case on && at.asleep():
		w.at.retry()
	case wanted == on || c == nil:
	case listens(c):
		w.listen(upkeep{conn: c}, nil)
	case inherited:
		w.tell(c, []string{uri}, map[string]bool{uri: !on}, nil)
	}
}

// WatchTask notes that a client wants to hear of a task, or that one does no longer; it is called with false as often
// as with true. A server of the legacy era tells of all tasks by itself.
func (w *watches) WatchTask(id string, on bool) {
	w.mu.Lock()
	before := w.tasks[id]
	switch {
	case on:
		w.tasks[id]++
	case before > 1:
		w.tasks[id]--
	default:
		delete(w.tasks, id)
	}
	changed, c := (before > 0) != (w.tasks[id] > 0), w.from
	w.mu.Unlock()
	if changed && c != nil && listens(c) {
		w.listen(upkeep{conn: c}, nil)
	}
}

// listens reports whether the server of a connection tells of what is watched on a subscription.
func listens(c *rpc.Conn) bool { return c.Hello().Era.Has("subscriptions/listen") }

// again asks a server over a new connection for what was wanted of the one before it, and from now on. Of what changed in
// between nobody has told.
func (w *watches) again(c *rpc.Conn) {
	w.missed.Store(false)
	w.mu.Lock()
	w.from = c
	uris, _ := w.wantedLocked()
	var before []string // were wanted of one that ran
	for _, uri := range uris {
		if w.uris[uri] {
			before = append(before, uri)
		}
		w.uris[uri] = true
	}
	w.mu.Unlock()
	if listens(c) {
		w.unheard.Store(len(before) > 0)
		w.listen(upkeep{conn: c}, nil)
	} else if len(uris) > 0 {
		w.tell(c, uris, make(map[string]bool), before)
	}
}

// tell has a legacy server know which of some resources are wanted; told says which it was told are. Those in unheard may
// have changed before.
func (w *watches) tell(c *rpc.Conn, uris []string, told map[string]bool, unheard []string) {
	w.begin(func() {
		for tries := (upkeep{conn: c}); ; {
			var failure error
			for _, uri := range uris {
				failure = cmp.Or(failure, w.renew(c, uri, told))
				if i := slices.Index(unheard, uri); i >= 0 && told[uri] {
					unheard = slices.Delete(unheard, i, i+1)
					w.updated(uri)
				}
			}
			if failure == nil || !tries.rest(w.life, tries.next(failure), nil) {
				return
			}
		}
	})
}

// watchTime is how long a server may take to answer that it will tell of a resource.
const watchTime = 5 * time.Second

// renew tells a legacy server whether a resource is wanted, if it was told otherwise. The words of clients go another
// way: what is wanted is looked at before each word of ours and after the last, so that the server hears in the end what
// clients have said last. A server that refuses goes on unwatched, as it would have.
func (w *watches) renew(c *rpc.Conn, uri string, told map[string]bool) error {
	for w.wants(uri) != told[uri] {
		method := "resources/subscribe"
		if told[uri] {
			method = "resources/unsubscribe"
		}
		ctx, cancel := context.WithTimeout(w.life, watchTime)
		_, err := c.Request(ctx, method, wire.NewObject(nil).Text("uri", uri).End())
		cancel()
		if errors.As(err, new(*link.RPCError)) {
			return nil
		} else if err != nil {
			return err
		}
		told[uri] = !told[uri]
	}
	return nil
}

// listen opens the stream on which a modern server tells of changes, in place of the one before it, or, unless that is
// nil, of this one alone. What is wanted is read in the step in which it takes that one's place, so that the last to do
// so knows of all. One that the server has acknowledged is ended when it has acknowledged this one: between the two
// nothing is missed. Over a connection that is not the newest none is opened: it would end that of the newest.
func (w *watches) listen(u upkeep, before *listener) {
	l := &listener{watches: w, upkeep: u, began: time.Now()}
	w.mu.Lock()
	old := w.listening
	if w.from != u.conn || before != nil && before != old {
		w.mu.Unlock()
		return
	}
	uris, tasks := w.wantedLocked()
	params := wire.NewObject(nil).Raw("notifications", wire.MustEncode(struct {
		Tools     bool     `json:"toolsListChanged"`
		Prompts   bool     `json:"promptsListChanged"`
		Resources bool     `json:"resourcesListChanged"`
		URIs      []string `json:"resourceSubscriptions,omitempty"`
		Tasks     []string `json:"taskIds,omitempty"`
	}{true, true, true, uris, tasks})).End()
	l.call = ownCall("subscriptions/listen", params, l)
	l.call.Open, l.call.Tasks = true, len(tasks) > 0
	w.listening = l
	needed := old != nil && old == w.heard
	w.mu.Unlock()
	if old != nil && !needed {
		old.call.Cancel(nil, wire.Span{})
	}
	if err := u.conn.Send(l.call); errors.Is(err, link.ErrBusy) {
		l.call.Fail(err)
	} // else the connection is ending; the next one is asked anew
}

// acknowledged takes the server's word that it tells of what a subscription asks for, and tells the client of what may
// have changed while nobody did. A server that does not say which one it means, means the newest. It reports whether
// lists may have changed, too.
func (w *watches) acknowledged(by rpc.Handler) (missed bool) {
	w.mu.Lock()
	old := w.heard
	if l, ok := by.(*listener); !ok || l == w.listening {
		w.heard = w.listening
	}
	replaced := old != nil && w.heard != old
	uris, _ := w.wantedLocked()
	w.mu.Unlock()
	if replaced { // elsewhere: a server in this process may be told nothing while it says something
		w.begin(func() { old.call.Cancel(nil, wire.Span{}) })
	}
	if w.unheard.Swap(false) {
		for _, uri := range uris {
			w.updated(uri)
		}
	}
	return w.missed.Swap(false)
}

// hears reports whether a modern server has acknowledged a subscription, which lasts.
func (w *watches) hears() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heard != nil
}

// ended notes the end of a subscription; it reports whether nothing else tells of changes. One that the server refused
// leaves the place to the one before it.
func (w *watches) ended(l *listener, refused bool) (deaf bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.heard == l {
		w.heard = nil
	}
	if refused && w.heard != nil && w.listening == l {
		w.listening = w.heard
	}
	return w.heard == nil
}

// listener makes a subscription again that has ended: the server ended it, or what is between cut its stream.
type listener struct {
	deaf
	watches *watches
	upkeep
	began time.Time
	call  *Call
}

func (l *listener) Done(m *wire.Message, err error) {
	if err == nil && m.Kind == wire.Failure {
		err = link.ReplyError("subscriptions/listen", m)
	}
	refused := isFinal(err)
	if deaf := l.watches.ended(l, refused); deaf {
		l.watches.missed.Store(true)
		l.watches.unheard.Store(true)
	}
	if refused {
		return // the server has no subscriptions
	}
	if time.Since(l.began) > backoff.Max {
		l.last = 0 // it was no failure in a row
	}
	l.watches.begin(func() {
		if l.rest(l.watches.life, l.next(err), nil) {
			l.watches.listen(l.upkeep, l)
		}
	})
}
