package toolbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/wire"
)

const (
	// optionalList is how long a list that a server need not have may take.
	optionalList = 5 * time.Second
	// relistPause keeps a storm of list_changed to one list a second.
	relistPause = time.Second
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

	// legacy says that the server ended on server/discover once. It belongs
	// to the owner goroutine.
	legacy bool

	mu      sync.Mutex
	status  Status
	changed chan struct{} // closed and replaced at each change of status
	conn    *conn         // not nil while ready
	lists   map[Kind][]Item
	notes   []string        // what is odd about its lists, for the status
	lister  *conn           // the connection that lists are read from
	listing map[Kind]bool   // a goroutine reads that list
	again   map[Kind]bool   // and is to read it once more
	watched map[string]bool // uris of resources whose changes are wanted
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
		listing: make(map[Kind]bool),
		again:   make(map[Kind]bool),
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
// Instructions what it says of its use; both are empty before it was ready.
func (s *Server) Capabilities() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return nil
	}
	return s.conn.hello.RawCapabilities
}

// Instructions returns the server's own instructions, if it gave any.
func (s *Server) Instructions() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return ""
	}
	return s.conn.hello.Instructions
}

// Notes returns what is odd about the server: lists that could not be read,
// lines on stdout that are not messages.
func (s *Server) Notes() []string {
	s.mu.Lock()
	notes := append([]string(nil), s.notes...)
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
// rests after a failure is tried now if its rest is nearly over, else the call
// fails and says when it will be tried.
func (s *Server) Send(call *Call) {
	if c := s.live(); c != nil {
		c.send(call)
		return
	}
	call.own()
	go func() {
		c, err := s.await(context.Background())
		if err != nil {
			if call.finish() {
				call.Handler.Done(nil, err)
			}
			return
		}
		if !call.ended.Load() {
			c.send(call)
		}
	}()
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
	c, err := s.await(ctx)
	if err != nil {
		return nil, err
	}
	return c.call(ctx, method, params)
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
	if s.status.State != Backoff && s.status.State != Open {
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
		s.status.Starts++
	}
	s.conn = c
	st := s.status
	st.Tools = len(s.lists[Tools])
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	if event := s.box.opts.Event; event != nil {
		event(Event{Toolbox: s.Toolbox, Server: s.Name, Status: st, Took: took})
	}
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
			up := time.Now()
			s.set(Ready, nil, time.Time{}, c)
			s.watchAgain(c)
			s.peer.Changed(s, Tools)
			select {
			case <-c.link.Done():
				err = c.link.Cause()
			case <-ctx.Done():
			}
			rest.healthy(time.Since(up))
			s.ending(c, err)
			if cerr := s.end(c); ctx.Err() != nil {
				s.set(Stopped, nil, time.Time{}, nil)
				return cerr
			}
		}
		if ctx.Err() != nil {
			s.set(Stopped, nil, time.Time{}, nil)
			return nil
		}
		last = err
		if !s.rest(ctx, &rest, err, served) {
			s.set(Stopped, nil, time.Time{}, nil)
			return nil
		}
	}
}

// ending withdraws the connection before its calls are failed, so that whoever
// hears of a failure and tries again does not meet the dead connection.
func (s *Server) ending(c *conn, cause error) {
	s.mu.Lock()
	s.conn = nil
	s.status.State = Starting // until run has decided; nobody is told
	s.mu.Unlock()
	if cause == nil {
		cause = ErrClosed
	}
	c.close(c.lost(cause))
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
	s.set(state, cause, time.Now().Add(wait), nil)
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

// first reads the lists at a start: the tools, which the server is not ready
// without, and in the background what else it offers.
func (s *Server) first(ctx context.Context, c *conn) error {
	s.mu.Lock()
	s.notes = nil
	s.mu.Unlock()
	if c.hello.offers(Tools) {
		items, bad, err := c.list(ctx, Tools)
		if err != nil && len(items) == 0 {
			var rpc *RPCError
			if !errors.As(err, &rpc) {
				return err
			}
		}
		s.store(Tools, items, bad, err)
	}
	for _, k := range []Kind{Resources, Prompts} {
		if c.hello.offers(k) {
			s.relist(c, k)
		}
	}
	return nil
}

// store keeps a list and reports whether it differs from the one before.
func (s *Server) store(k Kind, items []Item, bad int, err error) bool {
	if k == Tools {
		kept := make([]Item, 0, len(items))
		for _, it := range items {
			if allowed(s.cfg.ToolFilters, it.Key) {
				kept = append(kept, it)
			}
		}
		items = kept
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.notes = append(s.notes, err.Error())
	}
	if bad > 0 {
		s.notes = append(s.notes, fmt.Sprintf("%d entries of %s have no name and were left out", bad, k))
	}
	old := s.lists[k]
	if err != nil && len(items) == 0 && len(old) > 0 {
		return false // keep what was known
	}
	s.lists[k] = items
	if len(old) != len(items) {
		return true
	}
	for i := range items {
		if !bytes.Equal(old[i].Raw, items[i].Raw) {
			return true
		}
	}
	return false
}

// relist reads a list anew in the background, one reading at a time, and tells
// the peer if it changed. Resources bring their templates with them.
func (s *Server) relist(c *conn, k Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lister = c
	if s.listing[k] {
		s.again[k] = true
		return
	}
	s.listing[k] = s.box.tasks.begin(func() { s.relisting(k) })
}

func (s *Server) relisting(k Kind) {
	for {
		s.mu.Lock()
		c := s.lister
		s.mu.Unlock()
		ctx, cancel := context.WithTimeoutCause(s.box.ctx, optionalList, &TimeoutError{What: "total", After: optionalList})
		items, bad, err := c.list(ctx, k)
		differs := s.store(k, items, bad, err)
		if k == Resources && c.hello.offers(Resources) {
			items, bad, err = c.list(ctx, Templates)
			differs = s.store(Templates, items, bad, err) || differs
		}
		cancel()
		if differs {
			s.peer.Changed(s, k)
		}
		pause := time.NewTimer(relistPause)
		select {
		case <-pause.C:
		case <-s.box.ctx.Done():
			pause.Stop()
		}
		s.mu.Lock()
		again := s.again[k] && s.box.ctx.Err() == nil
		s.again[k] = false
		s.listing[k] = again
		s.mu.Unlock()
		if !again {
			return
		}
	}
}

// Offers reports whether the server, if it is ready, says that it has such a list.
func (s *Server) Offers(k Kind) bool {
	c := s.live()
	return c != nil && c.hello.offers(k)
}
