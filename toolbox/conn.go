package toolbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// conn speaks JSON-RPC over a link: it numbers requests, finds the call that a
// reply or a progress notification belongs to, ends calls that take too long,
// and hands on what the server sends of its own accord.
type conn struct {
	server *Server
	link   link
	bufs   *sync.Pool // of *[]byte, shared by the servers of a toolbox

	mu      sync.Mutex
	last    uint64
	pending map[uint64]*Call
	asks    map[string]*Ask // requests of the server that the client has not answered, by their id token
	closed  error
	over    chan struct{}                   // closed with the connection
	unread  atomic.Pointer[account.Account] // where what the server says waits for the client; nil for none
	held    atomic.Int32                    // how many messages do
	retired error                           // why it takes no more calls, idle or draining; nil while it does
	drained chan struct{}                   // closed when a connection that is draining has no call left; nil if it is not
	timer   *time.Timer
	armed   bool      // the timer runs; no pending call is late before it fires
	due     time.Time // when the timer is to fire

	strayed   *StrayError // the last reply that was to no request
	noise     int
	noisy     []foreign.Text // the first noise lines
	listening *Call          // the subscription to a modern server
	silent    int            // calls in a row that got no reply in time
	rested    time.Time      // since when there is nothing to do
	broken    chan struct{}  // closed when it takes no more messages
	breaking  sync.Once
	brokenBy  error // why, if that is known; set before broken is closed
	hello     hello
	mute      bool // hello.Mute, before there is a hello
}

const noisyKept = 5

// maxPooled is the largest buffer kept for reuse.
const maxPooled = 1 << 20

func newConn(s *Server) *conn {
	return &conn{
		server:  s,
		bufs:    &s.box.bufs,
		pending: make(map[uint64]*Call),
		asks:    make(map[string]*Ask),
		rested:  time.Now(),
		over:    make(chan struct{}),
		broken:  make(chan struct{}),
	}
}

func (c *conn) buffer() *[]byte { return c.bufs.Get().(*[]byte) }

func (c *conn) release(b *[]byte) {
	if cap(*b) <= maxPooled {
		*b = (*b)[:0]
		c.bufs.Put(b)
	}
}

// errNoRoom says that the server has as many calls as it may have.
var errNoRoom = errors.New("no room")

// hasRoom reports whether the server may have one more call.
func (c *conn) hasRoom() bool {
	return c.server.counts.inFlight.Load() < c.server.bounds.Load().maxInFlight
}

// breakOff has the owner end the connection, for a reason or because it turned
// out to take no more messages.
func (c *conn) breakOff(cause error) {
	c.breaking.Do(func() {
		c.brokenBy = cause
		close(c.broken)
	})
}

// send gives a call its number and writes it. If it fails the server has not
// seen the call, since a message without its newline is none, and the call has
// not ended.
func (c *conn) send(call *Call) error {
	now := time.Now()
	c.mu.Lock()
	if c.closed != nil || c.retired != nil {
		err := cmp.Or(c.closed, c.retired)
		c.mu.Unlock()
		return err
	}
	if call.client && !c.hasRoom() {
		c.mu.Unlock()
		return errNoRoom
	}
	c.last++
	call.number = c.last
	call.started, call.active = now, now
	c.pending[call.number] = call
	if call.client {
		c.server.counts.inFlight.Add(1)
	}
	if !c.armed {
		c.armLocked(now)
	}
	c.mu.Unlock()
	call.conn.Store(c)

	b := c.buffer()
	*b = call.message(*b, c.translated(call))
	err := c.link.Send(*b, call.number)
	c.release(b)
	if err == nil {
		c.server.counts.calls.Add(1)
	}
	switch {
	case err == nil && call.ended.Load():
		c.cancel(call, nil, wire.Span{}) // it was cancelled before it had a number
	case err != nil && c.take(call.number) == nil:
		return nil // the connection's end was told to the call already
	}
	return err
}

// take removes the pending call with that number.
func (c *conn) take(number uint64) *Call {
	c.mu.Lock()
	call := c.pending[number]
	if call != nil {
		c.removeLocked(call)
	}
	c.mu.Unlock()
	return call
}

func (c *conn) removeLocked(call *Call) {
	delete(c.pending, call.number)
	if c.drained != nil {
		c.drainedLocked()
	}
	if call.client {
		c.server.counts.inFlight.Add(-1)
	}
	if c.server.bounds.Load().idle > 0 && !c.busyLocked() {
		c.rested = time.Now()
	}
}

// end delivers a reply or a loss to the call with that number.
func (c *conn) end(number uint64, m *wire.Message, err error) {
	counts := &c.server.counts
	c.mu.Lock()
	call, made := c.pending[number], number <= c.last
	if call != nil {
		c.removeLocked(call)
	}
	if m != nil {
		c.silent = 0
	}
	c.mu.Unlock()
	switch {
	case !made:
		counts.unknown.Add(1)
		return
	case call == nil || !call.finish():
		counts.late.Add(1)
		return
	case err != nil:
		counts.lost.Add(1)
	case m.Kind == wire.Failure:
		counts.failures.Add(1)
	}
	call.Handler.Done(m, err)
	c.server.pump()
}

// cancel forgets a call and tells the server.
func (c *conn) cancel(call *Call, raw []byte, id wire.Span) {
	if c.take(call.number) == nil {
		return
	}
	c.server.strayed.Store(time.Now().UnixNano())
	defer c.link.Abandon(call.number)
	if _, remote := c.link.(*httpLink); remote && c.hello.Modern {
		return // the end of the request's stream says it (specification 2026-07-28, cancellation)
	}
	b := c.buffer()
	defer c.release(b)
	if raw != nil {
		*b = wire.Splice(*b, raw, c.ofEra(raw, wire.Edit{Span: id, New: strconv.AppendUint(nil, call.number, 10)})...)
	} else {
		*b = append(*b, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`...)
		*b = strconv.AppendUint(*b, call.number, 10)
		*b = append(*b, `}}`...)
	}
	// The link may be gone already: then there is nobody to tell.
	_ = c.link.Send(*b, 0)
}

// close fails all that is pending; later calls fail at once.
func (c *conn) close(err error) {
	c.mu.Lock()
	if c.closed != nil {
		c.mu.Unlock()
		return
	}
	c.closed = err
	close(c.over)
	lost := make([]*Call, 0, len(c.pending))
	for _, call := range c.pending {
		lost = append(lost, call)
		c.removeLocked(call)
	}
	asks := make([]*Ask, 0, len(c.asks))
	for _, a := range c.asks {
		asks = append(asks, a)
		c.removeAskLocked(a)
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	for _, call := range lost {
		if call.finish() {
			c.server.counts.lost.Add(1)
			call.Handler.Done(nil, err)
		}
	}
	for _, a := range asks {
		c.server.peer.Withdraw(a, nil)
	}
}

// armLocked sets the timer to the earliest moment at which a pending call can
// be too late. It is left to run when calls end: later calls are late later.
func (c *conn) armLocked(now time.Time) {
	var next time.Time
	limits := &c.server.bounds.Load().Timeouts
	for _, call := range c.pending {
		if t := call.deadline(limits, c.held.Load() > 0); !call.open && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	c.armed = !next.IsZero()
	if !c.armed {
		return
	}
	if next.Before(now) {
		next = now // a time-out was made shorter; nobody overslept
	}
	c.due = next
	if c.timer == nil {
		c.timer = time.AfterFunc(next.Sub(now), c.expire)
	} else {
		c.timer.Reset(next.Sub(now))
	}
}

// deadline is when a call is late. While its connection is held up, that it hears
// nothing is not the server's doing: it is looked at again by and by.
func (c *Call) deadline(l *config.Timeouts, held bool) time.Time {
	idle, total := c.active.Add(l.CallIdle), c.started.Add(l.CallTotal)
	if held {
		idle = time.Now().Add(l.CallIdle)
	}
	if total.Before(idle) {
		idle = total
	}
	if c.stray != nil && c.due.Before(idle) {
		return c.due
	}
	return idle
}

// overslept is how late a timer rings in a program that was stopped meanwhile,
// and how long the replies that came while it was are then waited for.
const overslept = 500 * time.Millisecond

// expire ends the calls whose time is over. It runs on the timer's goroutine.
func (c *conn) expire() {
	now := time.Now()
	limits := &c.server.bounds.Load().Timeouts
	c.mu.Lock()
	if now.Sub(c.due) > overslept {
		c.due = now.Add(overslept)
		c.timer.Reset(overslept)
		c.mu.Unlock()
		return
	}
	var late []*Call
	for _, call := range c.pending {
		if !call.open && !now.Before(call.deadline(limits, c.held.Load() > 0)) {
			late = append(late, call)
		}
	}
	// Counted before anybody is told: whoever is told may make the next call, whose reply says that the server lives.
	c.silent += len(late)
	silent := c.silent
	c.mu.Unlock()
	for _, call := range late {
		if !call.finish() {
			continue
		}
		c.server.counts.lost.Add(1)
		c.cancel(call, nil, wire.Span{})
		call.Handler.Done(nil, c.lost(c.lateness(call, now, limits)))
	}
	c.mu.Lock()
	if c.closed == nil {
		c.armLocked(time.Now())
	}
	c.mu.Unlock()
	c.server.pump()
	if len(late) > 0 && silent >= silentCalls {
		c.server.box.tasks.begin(func() { c.probe(silent) })
	}
}

// lateness says why a call is ended that has no reply.
func (c *conn) lateness(call *Call, now time.Time, limits *config.Timeouts) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call.stray != nil && !now.Before(call.due) {
		return call.stray
	}
	t := &TimeoutError{What: "idle", After: limits.CallIdle}
	if c.strayed != nil && !c.strayed.at.Before(call.started) {
		t.Stray = c.strayed
	}
	if now.Sub(call.started) >= limits.CallTotal {
		t.What, t.After = "total", limits.CallTotal
	}
	return t
}

// After so many calls in a row without a reply a server is asked whether it
// lives; any answer will do, an error too.
const (
	silentCalls = 3
	pingWait    = 10 * time.Second
)

// probe finds out whether a server that leaves calls unanswered is there at
// all, and has it started anew if not.
func (c *conn) probe(silent int) {
	ctx, cancel := context.WithTimeout(c.server.life, pingWait)
	defer cancel()
	// Whatever it says, it spoke.
	if c.hello.Modern {
		_, _ = c.call(ctx, "server/discover", nil)
	} else {
		_, _ = c.call(ctx, "ping", nil)
	}
	c.mu.Lock()
	dead := c.silent >= silentCalls && ctx.Err() != context.Canceled
	c.mu.Unlock()
	if dead {
		c.breakOff(&SilenceError{Calls: silent, Wait: pingWait})
	}
}

// busyLocked reports whether the server or the client waits for the other.
func (c *conn) busyLocked() bool {
	waiting := len(c.pending) + len(c.asks)
	if l := c.listening; l != nil && c.pending[l.number] == l {
		waiting--
	}
	return waiting > 0
}

// retire closes the connection to new calls if nothing went on for a time; else
// it returns when that may be so.
func (c *conn) retire(idle time.Duration) (retired bool, again time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busyLocked() {
		return false, idle / 8
	}
	if quiet := time.Since(c.rested); quiet < idle {
		return false, idle - quiet
	}
	c.retired = ErrClosed
	return true, 0
}

func (c *conn) lost(cause error) error {
	return &LostError{Toolbox: c.server.Toolbox, Server: c.server.Name, Cause: foreign.NewError(cause)}
}

// Receive is the link's way in. What is to go on to a client that has much to read
// waits there, and with it what comes after it: nothing more is read from the
// server. What comes after the end of the connection is for nobody.
func (c *conn) Receive(m *wire.Message, id uint64) {
	unread, size := c.unread.Load(), len(m.Raw)
	if unread.TryAwait(size) || c.hold(unread, size) {
		c.hand(m, id)
		unread.Credit(size)
	}
}

// opened has what the server says from now on wait for the client. What servers of
// this process say does not: it is said to the client's own goroutine.
func (c *conn) opened() {
	if _, inside := c.link.(*builtinLink); !inside {
		c.unread.Store(c.server.box.opts.Unread)
	}
}

// hold waits for a client that reads slowly; it reports false at the end of the
// connection. Meanwhile replies may have come that nobody could see: their calls
// are not late for it.
func (c *conn) hold(unread *account.Account, size int) bool {
	c.held.Add(1)
	ok := unread.Await(size, c.over)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held.Add(-1)
	now := time.Now()
	for _, call := range c.pending {
		call.active = now
	}
	c.silent = 0
	return ok
}

// hand does with a message what is to be done.
func (c *conn) hand(m *wire.Message, id uint64) {
	switch m.Kind {
	case wire.Result, wire.Failure:
		c.reply(m)
	case wire.Request:
		c.request(m, id)
	case wire.Notification:
		c.notification(m)
	}
}

func (c *conn) reply(m *wire.Message) {
	token := m.Bytes(m.ID)
	if number, ok := numberOf(token); ok && c.made(number) {
		c.end(number, m, nil)
		return
	}
	// Some servers echo the number as a string. It is not the id they were
	// given, so it answers nothing; but the caller is told, not left waiting.
	if s, ok := wire.Unquote(token); ok {
		if number, err := strconv.ParseUint(s, 10, 64); err == nil && c.made(number) {
			c.end(number, nil, c.lost(fmt.Errorf("answered request %d with the id %s, which is another", number, foreign.NewName(string(token)))))
			return
		}
	}
	c.server.counts.unknown.Add(1)
	c.stray(m.Raw)
}

// made reports whether there was a request of that number.
func (c *conn) made(number uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return 0 < number && number <= c.last
}

// maxID is the longest id of a request of a server that is answered, in bytes.
const maxID = 1 << 10

// request takes a request of the server: a ping is answered here, all else is
// the client's to answer. It came on the stream of request during, if that is not 0.
func (c *conn) request(m *wire.Message, during uint64) {
	if m.IsMethod("ping") && len(m.Bytes(m.ID)) <= maxID {
		b := c.buffer()
		*b = wire.AppendResult(*b, m.Bytes(m.ID), []byte("{}"))
		_ = c.link.Send(*b, 0)
		c.release(b)
		return
	}
	id := m.Bytes(m.ID)
	switch {
	case len(id) > maxID:
		c.Noise(m.Raw, fmt.Errorf("request with an id of %d bytes; at most %d are repeated in a reply", len(id), maxID))
		return
	case c.hello.Modern:
		c.noRequests(m)
		return
	}
	size := len(id) + 2*account.Each // the session holds on to it too
	if !c.server.account.Charge(size) {
		c.refuse(id, wire.CodeInternal, "too much that this server asked for is unanswered")
		return
	}
	a := &Ask{Server: c.server, conn: c, id: string(id), size: size}
	c.mu.Lock()
	if call := c.pending[during]; call != nil {
		a.For = call.Handler
	}
	_, twice := c.asks[a.id]
	over := c.closed != nil
	if !twice && !over {
		c.asks[a.id] = a
	}
	c.mu.Unlock()
	switch {
	case twice:
		c.server.account.Credit(size)
		c.refuse(id, wire.CodeInvalidRequest, "a request with this id is being answered")
	case over:
		c.server.account.Credit(size)
	default:
		c.server.peer.Request(a, m)
	}
}

// removeAskLocked forgets a request of the server, if it is still there.
func (c *conn) removeAskLocked(a *Ask) bool {
	if a == nil || c.asks[a.id] != a {
		return false
	}
	delete(c.asks, a.id)
	c.server.account.Credit(a.size)
	return true
}

// noRequests refuses a request of a server whose revision has none. Over HTTP it
// is not answered, since clients of that revision have no responses either.
func (c *conn) noRequests(m *wire.Message) {
	c.server.counts.unknown.Add(1)
	if _, remote := c.link.(*httpLink); !remote {
		c.refuse(m.Bytes(m.ID), wire.CodeMethodNotFound, "revision 2026-07-28 has no requests of servers: ask in a result")
	}
}

func (c *conn) refuse(id []byte, code int, text string) {
	b := c.buffer()
	*b = wire.AppendError(*b, id, code, text, nil)
	_ = c.link.Send(*b, 0)
	c.release(b)
}

func (c *conn) notification(m *wire.Message) {
	method := string(m.Bytes(m.Method))
	switch method {
	case "notifications/progress":
		c.progress(m)
	case "notifications/cancelled":
		var out [1]wire.Span
		if m.Params.Present() && wire.Find(m.Raw, m.Params, []string{"requestId"}, out[:]) == nil && out[0].Present() {
			c.mu.Lock()
			a := c.asks[string(m.Bytes(out[0]))]
			c.removeAskLocked(a)
			c.mu.Unlock()
			if a != nil {
				c.server.peer.Withdraw(a, m)
			}
		}
	case "notifications/tools/list_changed":
		c.server.relist(c, Tools)
	case "notifications/prompts/list_changed":
		c.server.relist(c, Prompts)
	case "notifications/resources/list_changed":
		c.server.relist(c, Resources)
	default:
		c.server.peer.Notification(c.server, m)
	}
}

// progress finds the call by its token, which is the call's number.
func (c *conn) progress(m *wire.Message) {
	var out [1]wire.Span
	if !m.Params.Present() || wire.Find(m.Raw, m.Params, []string{"progressToken"}, out[:]) != nil || !out[0].Present() {
		return
	}
	number, ok := numberOf(m.Bytes(out[0]))
	if !ok {
		return
	}
	c.mu.Lock()
	call := c.pending[number]
	if call != nil {
		call.active, call.stray = time.Now(), nil
		c.silent = 0
	}
	c.mu.Unlock()
	if call != nil && call.Token.Present() && !call.ended.Load() {
		call.Handler.Progress(m, out[0])
	}
}

// Noise counts what is not a message; the first lines are kept for the status.
// A reply that breaks the rules but has an id ends its call.
func (c *conn) Noise(line []byte, err error) {
	if id, is := looksLikeReply(line, err); is {
		if number, ok := numberOf(id); ok && c.made(number) {
			c.end(number, nil, c.lost(fmt.Errorf("its reply is not a valid message: %s", foreign.NewText(err.Error()))))
		} else {
			c.stray(line)
		}
	}
	c.server.counts.noise.Add(1)
	c.mu.Lock()
	c.noise++
	if len(c.noisy) < noisyKept {
		c.noisy = append(c.noisy, foreign.NewText(string(line[:min(len(line), 200)])))
	}
	c.mu.Unlock()
	c.server.log.Debug().Int(logkey.Bytes, len(line)).AnErr(logkey.Err, foreign.NewError(err)).Msg("the server wrote something that is not a message")
}

// TooLong fails the request whose reply was too long; the link lives on.
func (c *conn) TooLong(e *wire.TooLongError) {
	number, ok := numberOf(e.ID())
	switch {
	case e.Method() != "":
	case ok && c.made(number):
		c.end(number, nil, c.lost(fmt.Errorf("its reply of %d bytes is over the limit of %d", e.Size, e.Max)))
		return
	case e.Kind() == wire.Result || e.Kind() == wire.Failure:
		c.stray(e.Head)
	}
	c.Noise(nil, e)
}

// Broken is the link's word that it serves nobody any more.
func (c *conn) Broken(err error) { c.breakOff(err) }

// Lost is the link's word that a request will get no reply.
func (c *conn) Lost(id uint64, err error) {
	if isUndone(err) {
		c.end(id, nil, &UndoneError{Toolbox: c.server.Toolbox, Server: c.server.Name, Cause: foreign.NewError(err)})
		return
	}
	c.end(id, nil, c.lost(err))
}

// Retired has the requests that come from now on wait for another connection.
func (c *conn) Retired() {
	c.mu.Lock()
	if c.retired == nil {
		c.retired = errRetired
	}
	c.mu.Unlock()
	c.server.withdraw(c)
}

// notify writes a notification of our own.
func (c *conn) notify(method string, params []byte) error {
	b := c.buffer()
	defer c.release(b)
	*b = append(*b, `{"jsonrpc":"2.0","method":`...)
	*b = wire.AppendQuote(*b, method)
	if params != nil {
		*b = append(append(*b, `,"params":`...), params...)
	}
	*b = append(*b, '}')
	return c.link.Send(*b, 0)
}

// call makes a request of our own and waits for its result, which it copies.
func (c *conn) call(ctx context.Context, method string, params []byte) (result []byte, err error) {
	return consult(ctx, c, method, params, func(result []byte) ([]byte, error) { return bytes.Clone(result), nil })
}

// consult makes a request of our own and waits for what take makes of its result. The result is valid only while take
// is called, so that no more of it is kept than is wanted; take may still be at it when ctx has ended.
func consult[T any](ctx context.Context, c *conn, method string, params []byte, take func(result []byte) (T, error)) (taken T, err error) {
	raw := append([]byte(`{"jsonrpc":"2.0","id":0,"method":`), wire.AppendQuote(nil, method)...)
	if params != nil {
		raw = append(append(raw, `,"params":`...), params...)
	}
	raw = append(raw, '}')
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		return taken, fmt.Errorf("%s: %w", method, err)
	}
	w := &waiter[T]{method: method, take: take, done: make(chan struct{})}
	call := &Call{Raw: raw, ID: m.ID, Params: m.Params, Tasks: eras.IsOfTasks(method), Handler: w}
	if call.Meta, err = wire.FindPath(raw, m.Params, "_meta"); err != nil {
		return taken, fmt.Errorf("%s: %w", method, err)
	}
	if err := c.send(call); err != nil {
		return taken, fmt.Errorf("%s: %w", method, unsentError{err})
	}
	select {
	case <-w.done:
		return w.taken, w.err
	case <-ctx.Done():
		call.Cancel(nil, wire.Span{})
		return taken, context.Cause(ctx)
	}
}

// unsentError says that the server has not seen the request.
type unsentError struct{ error }

func (e unsentError) Unwrap() error { return e.error }

// waiter turns a call's end into a channel.
type waiter[T any] struct {
	method string
	take   func(result []byte) (T, error)
	done   chan struct{}
	taken  T
	err    error
}

func (w *waiter[T]) Progress(*wire.Message, wire.Span) {}

func (w *waiter[T]) Done(m *wire.Message, err error) {
	switch {
	case err != nil:
		w.err = err
	case m.Kind == wire.Result:
		if w.taken, w.err = w.take(m.Bytes(m.Result)); w.err != nil {
			w.err = fmt.Errorf("%s: %w", w.method, w.err)
		}
	default:
		w.err = ReplyError(w.method, m)
	}
	close(w.done)
}

// ReplyError reads the reply m, a Failure, to a request of a method. It is an *[RPCError].
func ReplyError(method string, m *wire.Message) error {
	e := &RPCError{Method: method}
	var out [3]wire.Span
	if wire.Find(m.Raw, m.Error, []string{"code", "message", "data"}, out[:]) == nil {
		e.Code, _ = strconv.Atoi(string(m.Bytes(out[0])))
		message, _ := wire.Unquote(m.Bytes(out[1]))
		e.Text = foreign.NewText(message)
		if data := m.Bytes(out[2]); len(data) <= maxHello {
			e.Data = bytes.Clone(data)
		}
	}
	return e
}

// Ask is a request that a server makes of the client: sampling, elicitation,
// roots, or one this program does not know.
type Ask struct {
	Server *Server
	// For is the handler of the call that the request belongs to, nil where
	// the server cannot say that.
	For CallHandler

	conn *conn
	id   string
	size int // what the server's account is charged for it; guarded by conn.mu
}

// Hold charges the server's account for n more bytes that are kept until the request is answered or withdrawn. It
// reports false if they are not to be kept: there is no room, or the request is over.
func (a *Ask) Hold(n int) bool {
	a.conn.mu.Lock()
	defer a.conn.mu.Unlock()
	if a.conn.asks[a.id] != a || !a.Server.account.Charge(n) {
		return false
	}
	a.size += n
	return true
}

// Reply hands on the client's answer: raw is the response and id the span of
// its id, which becomes the server's again. Answers after the first, or after
// the server withdrew the request, are dropped.
func (a *Ask) Reply(raw []byte, id wire.Span) {
	if !a.take() {
		return
	}
	b := a.conn.buffer()
	defer a.conn.release(b)
	*b = wire.Splice(*b, raw, wire.Edit{Span: id, New: []byte(a.id)})
	_ = a.conn.link.Send(*b, 0)
}

// Refuse answers the request with an error of ours.
func (a *Ask) Refuse(code int, text string) {
	if a.take() {
		a.conn.refuse([]byte(a.id), code, text)
	}
}

// Forward sends the server a notification that belongs to this request, such
// as the client's progress on it, with edits applied.
func (a *Ask) Forward(raw []byte, edits ...wire.Edit) {
	b := a.conn.buffer()
	defer a.conn.release(b)
	*b = wire.Splice(*b, raw, edits...)
	_ = a.conn.link.Send(*b, 0)
}

func (a *Ask) take() bool {
	a.conn.mu.Lock()
	defer a.conn.mu.Unlock()
	return a.conn.removeAskLocked(a)
}
