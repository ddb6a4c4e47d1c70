package toolbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/wire"
)

const (
	// linkClose bounds the end of a link: EOF, SIGTERM and SIGKILL have
	// their own times within it.
	linkClose = 6 * time.Second
)

// Server is one server of a toolbox, whether it runs or not. Routes hold on to
// it; it finds the live connection.
type Server struct {
	Toolbox string
	Name    string

	box  *Toolbox
	cfg  config.Server
	peer Peer
	log  zerolog.Logger
	poke chan struct{} // an open found the server resting: try now

	counts counters

	// legacy says that the server once ended on server/discover or left it
	// unanswered. It belongs to the owner goroutine.
	legacy bool

	mu      sync.Mutex
	status  Status
	changed chan struct{} // closed and replaced at each change of status
	conn    *conn         // not nil while ready
	hello   *hello        // what it last said of itself; nil if that is not known
	lists   map[Kind][]Item
	// unfiltered are its tools with those that the filters leave out.
	unfiltered []Item
	notes      []string // what is odd about its lists, for the status
	drift      string   // how its tools differ from those that were known before a start
	lister     *conn    // the connection that lists are read from
	readers    map[Kind]*listReader
	watched    map[string]bool // uris of resources whose changes are wanted
}

func newServer(box *Toolbox, cfg config.Server) *Server {
	s := &Server{
		Toolbox: box.Name,
		Name:    cfg.Name,
		box:     box,
		cfg:     cfg,
		peer:    box.opts.Peer,
		log:     box.opts.Logger.With().Str("toolbox", box.Name).Str("server", cfg.Name).Logger(),
		poke:    make(chan struct{}, 1),
		changed: make(chan struct{}),
		lists:   make(map[Kind][]Item),
		readers: map[Kind]*listReader{Tools: {}, Resources: {}, Prompts: {}},
		watched: make(map[string]bool),
	}
	s.status = Status{State: Stopped, Since: time.Now()}
	switch {
	case cfg.Disabled:
		s.status.State, s.status.Cause = Disabled, errors.New(`it has "disabled": true in the configuration`)
	case cfg.Problem != nil:
		s.status.State, s.status.Cause = Failed, cfg.Problem
	}
	return s
}

// Status returns where the server stands.
func (s *Server) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.status
	st.Tools = len(s.lists[Tools])
	return st
}

// Items returns a list of the server as last read. It stays as it is while the
// server restarts. The slice must not be changed.
func (s *Server) Items(k Kind) []Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists[k]
}

// Capabilities returns the capabilities object that the server declared, and
// Instructions what it says of its use, both when it was last ready; they are
// empty if that is not known.
func (s *Server) Capabilities() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hello == nil {
		return nil
	}
	return s.hello.RawCapabilities
}

// Instructions returns the server's own instructions, if it gave any.
func (s *Server) Instructions() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hello == nil {
		return ""
	}
	return s.hello.Instructions
}

// Notes returns what is odd about the server: tools that are not as they were
// last seen, lists that could not be read, lines on stdout that are not
// messages.
func (s *Server) Notes() []string {
	s.mu.Lock()
	var notes []string
	if s.drift != "" {
		notes = append(notes, s.drift)
	}
	notes = append(notes, s.notes...)
	c := s.conn
	s.mu.Unlock()
	if c != nil {
		c.mu.Lock()
		if c.noise > 0 {
			notes = append(notes, fmt.Sprintf("%d lines on stdout were not messages, the first: %q", c.noise, c.noisy[0]))
		}
		c.mu.Unlock()
	}
	return notes
}

// Send forwards a request. It returns at once; the call's handler hears the
// rest. A server that is starting gets the request when it is ready; one that
// rests after a failure is waited for if its rest is short, else the call
// fails and says when it will be tried.
func (s *Server) Send(call *Call) {
	call.client = true
	if c := s.live(); c != nil && s.handOver(c, call) {
		return
	}
	call.own()
	go s.sendLater(call)
}

// handOver gives a call to a connection. It reports false if that turned out
// to be dead before it took the call, which is then still to be made.
func (s *Server) handOver(c *conn, call *Call) bool {
	err := c.send(call)
	switch {
	case err == nil:
	case errors.Is(err, ErrBusy):
		if call.finish() {
			call.Handler.Done(nil, fmt.Errorf("server %q of toolbox %q %w", s.Name, s.Toolbox, err))
		}
	default:
		s.drop(c)
		return false
	}
	return true
}

// sendLater makes a call as soon as there is a connection to take it.
func (s *Server) sendLater(call *Call) {
	for !call.ended.Load() {
		c, err := s.await(context.Background())
		if err != nil {
			if call.finish() {
				call.Handler.Done(nil, err)
			}
			return
		}
		if s.handOver(c, call) {
			return
		}
	}
}

// drop withdraws a connection that takes no more messages; its owner ends it.
func (s *Server) drop(c *conn) {
	s.mu.Lock()
	if s.conn == c {
		s.conn = nil
		s.status.State = Starting
	}
	s.mu.Unlock()
	c.breaking.Do(func() { close(c.broken) })
}

// Notify sends a notification to the server, if it is ready. raw is a whole
// message; edits are applied to it.
func (s *Server) Notify(raw []byte, edits ...wire.Edit) {
	c := s.live()
	if c == nil {
		return
	}
	b := c.buffer()
	defer c.release(b)
	*b = wire.Splice(*b, raw, edits...)
	_ = c.link.Send(*b, 0)
}

// Request makes a request of workbench's own and waits for the result, which
// the caller may keep. An error reply is an [*RPCError].
func (s *Server) Request(ctx context.Context, method string, params []byte) ([]byte, error) {
	for {
		c, err := s.await(ctx)
		if err != nil {
			return nil, err
		}
		result, err := c.call(ctx, method, params)
		if !errors.As(err, new(unsentError)) || errors.Is(err, ErrBusy) {
			return result, err
		}
		s.drop(c) // it was dead already: the next one is to have the request
	}
}

func (s *Server) live() *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// shortRest is a rest that a call waits for instead of failing.
const shortRest = 2 * time.Second

// await returns the live connection, waiting while the server starts.
func (s *Server) await(ctx context.Context) (*conn, error) {
	for {
		s.mu.Lock()
		c, st, changed := s.conn, s.status, s.changed
		s.mu.Unlock()
		if c != nil {
			return c, nil
		}
		switch {
		case st.State == Starting:
		case st.State == Backoff && time.Until(st.Next) <= shortRest:
		default:
			return nil, &UnavailableError{Toolbox: s.Toolbox, Server: s.Name, Status: st}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for server %q of toolbox %q, which is %s: %w", s.Name, s.Toolbox, st.State, context.Cause(ctx))
		}
	}
}

// retry has a server that rests after a failure tried at once.
func (s *Server) retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.State != Backoff && s.status.State != Open && s.status.State != NeedsLogin {
		return
	}
	s.status.State = Starting // so that the caller waits for the outcome
	select {
	case s.poke <- struct{}{}:
	default:
	}
}

// settle waits until the server has started or failed to.
func (s *Server) settle(ctx context.Context) {
	for {
		s.mu.Lock()
		st, changed := s.status.State, s.changed
		s.mu.Unlock()
		if st.settled() {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// set changes the state, wakes who waits for it and tells the event listener.
func (s *Server) set(state State, cause error, next time.Time, c *conn) {
	now := time.Now()
	s.mu.Lock()
	took := now.Sub(s.status.Since)
	s.status.State, s.status.Cause, s.status.Since, s.status.Next = state, cause, now, next
	s.status.PID = 0
	if c != nil {
		s.status.PID = c.link.PID()
	}
	if state == Starting {
		if s.status.Starts++; s.status.Starts > 1 {
			s.counts.restarts.Add(1)
		}
	}
	s.conn = c
	if c != nil {
		s.hello = &c.hello
	}
	st := s.status
	st.Tools = len(s.lists[Tools])
	s.wakeLocked()
	s.mu.Unlock()
	if event := s.box.opts.Event; event != nil {
		event(Event{Toolbox: s.Toolbox, Server: s.Name, Status: st, Took: took})
	}
}

// wakeLocked wakes who waits for a change.
func (s *Server) wakeLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// run owns the server until ctx ends: start, wait for the end, decide, rest.
func (s *Server) run(ctx context.Context) error {
	if st := s.Status().State; st == Disabled || st == Failed {
		return nil
	}
	var rest backoff
	var last error // why it is started again
	for {
		s.set(Starting, last, time.Time{}, nil)
		c, err := s.start(ctx)
		served := err == nil
		if served {
			began := time.Now()
			var unstopped error
			err, unstopped = s.serve(ctx, c)
			rest.healthy(time.Since(began))
			if ctx.Err() != nil {
				s.set(Stopped, nil, time.Time{}, nil)
				return unstopped
			}
		}
		last = err
		if ctx.Err() != nil || !s.rest(ctx, &rest, err, served) {
			s.set(Stopped, nil, time.Time{}, nil)
			return nil
		}
	}
}

// serve lets a connection take requests until it ends. It returns why it
// ended, and what would not stop.
func (s *Server) serve(ctx context.Context, c *conn) (cause, unstopped error) {
	s.set(Ready, nil, time.Time{}, c)
	s.watchAgain(c)
	s.peer.Changed(s, Tools)
	var kept sync.WaitGroup // not one of the tasks: a close may have ended those already
	kept.Go(s.remember)
	defer kept.Wait()
	select {
	case <-c.link.Done():
	case <-c.broken:
		// A process that dies breaks its pipe before its death is seen.
		wait := time.NewTimer(exitAfterEOF)
		defer wait.Stop()
		select {
		case <-c.link.Done():
		case <-wait.C:
		}
	case <-ctx.Done():
	}
	// Withdrawn before its calls are failed, so that whoever hears of a
	// failure and tries again does not meet the dead connection.
	s.drop(c)
	select {
	case <-c.link.Done():
		cause = c.link.Cause()
	default:
		cause = ErrClosed
		if ctx.Err() == nil {
			cause = errors.New("takes no more messages")
		}
	}
	c.close(c.lost(cause))
	return cause, s.end(c)
}

// end closes the connection within its bound.
func (s *Server) end(c *conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), linkClose)
	defer cancel()
	if err := c.link.Close(ctx); err != nil {
		return fmt.Errorf("server %q: %w", s.Name, err)
	}
	return nil
}

// rest waits out the back-off and reports whether to go on. A server that
// served before it ended is started again at once the first time, as its next
// caller is waiting for it; one that never did would only fail again.
func (s *Server) rest(ctx context.Context, b *backoff, cause error, served bool) bool {
	wait, open := b.failed(time.Now())
	if wait == 0 {
		if served {
			return true
		}
		wait = backoffFirst
	}
	state := Backoff
	if open {
		state = Open
	}
	next := time.Now().Add(wait)
	if refused := (*StatusError)(nil); errors.As(cause, &refused) && refused.Status == http.StatusUnauthorized {
		// Asking again with the same credentials would only be refused
		// again: it is left until somebody opens the toolbox anew.
		state, next, wait = NeedsLogin, time.Time{}, math.MaxInt64
	}
	s.set(state, cause, next, nil)
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.poke:
		return true
	case <-ctx.Done():
		return false
	}
}

// start makes a connection, shakes hands and reads the tools. A server that
// ended on the question which era it is of is made anew and not asked again.
func (s *Server) start(ctx context.Context) (*conn, error) {
	limit := s.cfg.Timeouts.Start
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &TimeoutError{What: "start", After: limit})
	defer cancel()
	c, err := s.attempt(ctx)
	if errors.Is(err, errProbeEnded) {
		s.legacy = true
		c, err = s.attempt(ctx)
	}
	if errors.As(err, new(*RPCError)) {
		s.legacy = false // it refuses initialize now: it is to be asked anew
	}
	return c, err
}

func (s *Server) attempt(sctx context.Context) (_ *conn, err error) {
	c := newConn(s)
	c.link, err = s.dial(sctx)
	if err != nil {
		return nil, err
	}
	c.link.Begin(c)
	// A link that dies ends what start waits for, with the reason.
	started := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-c.link.Done():
			c.close(c.link.Cause())
		case <-started:
		}
	}()
	if err = c.handshake(sctx, s.box.opts.Client, s.legacy); err == nil {
		err = s.first(sctx, c)
	}
	close(started)
	<-watched
	if err == nil {
		return c, nil
	}
	// A write can fail before the death of the process is seen; how it died
	// is the better reason. Ends that we asked for have none.
	c.close(c.lost(err))
	cerr := s.end(c)
	var exit *ExitError
	if errors.As(c.link.Cause(), &exit) && !errors.Is(err, errProbeEnded) {
		err = exit
	}
	return nil, errors.Join(err, cerr)
}

// Offers reports whether the server said, when it was last ready, that it has
// such a list.
func (s *Server) Offers(k Kind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hello != nil && s.hello.offers(k)
}

// expect has calls wait for the server from now on; run follows.
func (s *Server) expect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.State == Stopped {
		s.status.State = Starting
	}
}
