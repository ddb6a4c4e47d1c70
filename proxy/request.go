package proxy

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// requests are the requests of one client that are not answered yet.
type requests struct {
	account *account.Account // is charged for them
	buffers *wire.Buffers

	mu      sync.Mutex
	closed  bool
	last    uint64
	open    map[requestKey]*request
	owed    int           // answers that are not sent yet
	settled chan struct{} // closed when none is owed; nil while nobody waits for that
}

func newRequests(account *account.Account, buffers *wire.Buffers) *requests {
	return &requests{account: account, buffers: buffers, open: make(map[requestKey]*request)}
}

// requestKey tells requests apart. scope is 0 where the client keeps its ids unique, else the number of the one
// exchange that the id belongs to.
type requestKey struct {
	scope uint64
	short [16]byte // the token of the id, if it fits, so that nothing is allocated for it
	long  string   // otherwise
}

func keyOf[token string | []byte](scope uint64, id token) requestKey {
	key := requestKey{scope: scope}
	if len(id) > len(key.short) {
		key.long = string(id)
	} else {
		copy(key.short[:], id)
	}
	return key
}

// request is one request of the client that is not answered yet.
type request struct {
	requests *requests
	work     work
	out      Outlet
	key      requestKey
	number   uint64 // later ones have higher numbers
	id       []byte // the token of the client's id
	token    []byte // of its progress token, if any
	terms    terms
	tool     bool          // a tools/call: what goes wrong is told to the model
	size     int           // what the account is charged for it; guarded by requests.mu
	after    func(outcome) // what else is done at its end; guarded by requests.mu
	room     [192]byte     // for copies of what is short of the request, so that nothing is allocated for them
	kept     int           // how much of room is taken
	over     atomic.Bool

	ctx    context.Context
	cancel context.CancelFunc // where it is worked on here
}

// work is what is done for a request.
type work interface {
	// ended takes note of the end of the request, once, before the client has its reply; nil is none.
	ended(o outcome, reply []byte)
	// giveUp ends the work for a client that wants no reply any more. raw is the client's notification, if it sent one,
	// and id the span of the id in it.
	giveUp(raw []byte, id wire.Span)
}

// take registers a request, whose work and requests are set. The error says why it is refused.
func (rs *requests) take(r *request, c *call) error {
	r.requests, r.out, r.terms = rs, c.out, c.terms
	r.id = r.keep(c.Bytes(c.ID))
	r.tool = c.MethodName == "tools/call"
	r.key = keyOf(c.scope, r.id)
	r.size = 2*len(r.id) + account.Each
	rs.mu.Lock()
	defer rs.mu.Unlock()
	switch {
	case rs.open[r.key] != nil:
		return &wire.Error{Code: wire.CodeInvalidRequest, Message: "a request with this id is in progress"}
	case rs.closed:
		return ErrClosed
	case !rs.account.Charge(r.size):
		return errMuch
	}
	rs.last++
	r.number = rs.last
	rs.open[r.key] = r
	rs.owed++
	return nil
}

// paid notes that an answer was sent, or is owed to nobody any more.
func (rs *requests) paid() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.owed--
	rs.tellLocked()
}

// answered is closed when no answer is owed. No [sync.WaitGroup] does that: others come while somebody waits for it.
func (rs *requests) answered() <-chan struct{} {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.settled == nil {
		rs.settled = make(chan struct{})
	}
	settled := rs.settled
	rs.tellLocked()
	return settled
}

func (rs *requests) tellLocked() {
	if rs.owed == 0 && rs.settled != nil {
		close(rs.settled)
		rs.settled = nil
	}
}

// find gives the request of a key, nil if it is not under way.
func (rs *requests) find(key requestKey) *request {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.open[key]
}

// abandon gives up a request whose client is gone, if it is under way.
func (rs *requests) abandon(key requestKey) {
	if r := rs.find(key); r != nil {
		r.abandon(nil, wire.Span{})
	}
}

// cancel takes the client's notifications/cancelled.
func (rs *requests) cancel(m *wire.Message, scope uint64) {
	id, err := wire.FindPath(m.Raw, m.Params, "requestId")
	if err != nil || !id.Present() {
		return
	}
	if r := rs.find(keyOf(scope, m.Bytes(id))); r != nil {
		r.abandon(m.Raw, id)
	}
}

// each calls f with each request that is under way. It holds the lock meanwhile.
func (rs *requests) each(f func(*request)) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.open {
		f(r)
	}
}

// count gives how many are under way.
func (rs *requests) count() int {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return len(rs.open)
}

// errUnanswered answers what is under way at the end of a client on standard input and output, which may still read.
var errUnanswered = &wire.Error{Code: wire.CodeInternal, Message: "the request was not answered before workbench ended, " +
	"because its standard input was closed or it was told to end; whether a server carried the request out is unknown: " +
	"keep standard input open until the answer is there"}

// close refuses all that come from now on, and gives up those that are under way. The replies of all were sent when
// answered is closed.
func (rs *requests) close() {
	rs.mu.Lock()
	rs.closed = true
	open := slices.Collect(maps.Values(rs.open))
	rs.mu.Unlock()
	for _, r := range open {
		var reply []byte
		if r.out.From().Pipe {
			reply = errorReply(r.id, errUnanswered)
		}
		r.leave(nil, wire.Span{}, reply)
	}
}

// keep copies a part of the request, which is valid only until it is forwarded. Only the goroutine that forwards the
// request calls keep.
func (r *request) keep(part []byte) []byte {
	end := r.kept + len(part)
	if end > len(r.room) {
		return bytes.Clone(part)
	}
	copied := r.room[r.kept:end:end]
	copy(copied, part)
	r.kept = end
	return copied
}

// hold charges n more bytes for the request until it ends; it reports false if they are not to be kept.
func (r *request) hold(n int) bool {
	r.requests.mu.Lock()
	defer r.requests.mu.Unlock()
	if r.over.Load() || !r.requests.account.Charge(n) {
		return false
	}
	r.size += n
	return true
}

// serve does something for the request on a goroutine of its own. The end of the session waits for the reply.
func (r *request) serve(f func()) { go f() }

// atEnd has f called when the request has ended; it reports false if it has.
func (r *request) atEnd(f func(outcome)) bool {
	r.requests.mu.Lock()
	defer r.requests.mu.Unlock()
	if r.over.Load() {
		return false
	}
	r.after = f
	return true
}

// end takes the request out of the table; it reports whether this call did.
func (r *request) end(o outcome, reply []byte) bool {
	if !r.over.CompareAndSwap(false, true) {
		return false
	}
	r.work.ended(o, reply)
	r.requests.mu.Lock()
	delete(r.requests.open, r.key)
	r.requests.account.Credit(r.size)
	after := r.after
	r.requests.mu.Unlock()
	if r.cancel != nil {
		r.cancel()
	}
	if after != nil {
		after(o)
	}
	return true
}

// finish ends the request with a reply.
func (r *request) finish(reply []byte, o outcome) {
	if r.end(o, reply) {
		r.out.Finish(reply)
		r.requests.paid()
	}
}

// reply answers with a result.
func (r *request) reply(result []byte) { r.replyAs(result, answered) }

func (r *request) replyAs(result []byte, o outcome) {
	b := r.requests.buffers.Get()
	defer r.requests.buffers.Put(b)
	*b = wire.AppendResult(*b, r.id, result)
	r.finish(*b, o)
}

// give answers with a result or, where there is none, with what went wrong.
func (r *request) give(result []byte, err error) {
	if err != nil {
		r.fail(err)
		return
	}
	r.reply(result)
}

// fail answers with what went wrong: to a tool call as a result that the model reads, to other requests as an error.
func (r *request) fail(err error) {
	if r.tool && !errors.As(err, new(*wire.Error)) {
		r.replyAs(toolError(err.Error(), r.terms.Era), outcomeOf(err))
		return
	}
	r.finish(errorReply(r.id, err), outcomeOf(err))
}

// abandon gives the request up without an answer: the client cancelled it (raw is its notification, if it sent one, and
// id the span of the id in it) or is gone.
func (r *request) abandon(raw []byte, id wire.Span) { r.leave(raw, id, nil) }

// leave gives the request up, and has the client told so, unless reply is nil.
func (r *request) leave(raw []byte, id wire.Span, reply []byte) {
	if r.end(cancelled, reply) {
		r.work.giveUp(raw, id)
		r.out.Finish(reply)
		r.requests.paid()
	}
}
