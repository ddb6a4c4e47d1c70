package toolbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/workbench/toolbox/link"
)

// shortRest is a rest that a call waits for instead of failing.
const shortRest = 2 * time.Second

// Send forwards a request. It returns at once; the call's handler hears the
// rest. A call waits its turn if the server has as many as it may have, or is
// starting; it fails if too many wait, or if the server rests after a failure
// and not just for a moment: then it says when the server will be tried.
func (s *Server) Send(call *Call) {
	call.client = true
	c := s.live()
	if c != nil && s.counts.queued.Load() == 0 && s.holds.Load() == nil && s.handOver(c, call) {
		return
	}
	call.own()
	if !s.queue.add(call) {
		s.counts.refused.Add(1)
		s.fail(call, s.refusal(&OverloadError{InFlight: int(s.counts.inFlight.Load()), Queued: int(s.counts.queued.Load())}))
		return
	}
	s.pump()
}

// handOver gives a call to a connection. It reports false if the connection has
// no room, or turned out to be dead before it took the call, which is then
// still to be made.
func (s *Server) handOver(c *conn, call *Call) bool {
	var err error
	switch {
	case call.notice:
		err = c.notice(call.Raw)
	case call.levels && !c.hasLevels():
		s.fail(call, nil)
	case call.levels:
		s.hold(call)
		if err = c.send(call); err != nil {
			s.holds.CompareAndSwap(call, nil)
		}
	default:
		err = c.send(call)
	}
	switch {
	case err == nil:
	case errors.Is(err, errNoRoom), errors.Is(err, errRetired):
		return false
	case errors.Is(err, link.ErrBusy):
		s.counts.refused.Add(1)
		s.fail(call, s.refusal(err))
	default:
		c.server.drop(c)
		return false
	}
	return true
}

// hasRoom reports whether the server may have one more call.
func (s *Server) hasRoom() bool { return s.counts.inFlight.Load() < s.bounds.Load().maxInFlight }

// fail ends a call that was not sent.
func (s *Server) fail(call *Call, err error) {
	if call.finish() {
		call.Handler.Done(nil, err)
	}
}

func (s *Server) refusal(cause error) error {
	return &RefusedError{Toolbox: s.Toolbox, Server: s.Name, Cause: cause}
}

// pump does with the queue what the state of the server allows. It is called
// after everything that may change that: a call was queued, a call ended, the
// state is another. One goroutine at a time does it, so that the calls go in
// their order; who comes meanwhile has it look again.
func (s *Server) pump() {
	if s.counts.queued.Load() == 0 || s.pumps.Add(1) > 1 {
		return
	}
	for seen := int32(1); ; seen = s.pumps.Load() {
		s.pumpOnce()
		if s.pumps.CompareAndSwap(seen, 0) {
			return
		}
	}
}

// pumpOnce sends the calls of the queue, leaves them, or fails them.
func (s *Server) pumpOnce() {
	for s.counts.queued.Load() > 0 {
		s.mu.Lock()
		c, st, tried := s.conn, s.status, s.tried
		retired, heir := s.retired, s.heir
		s.mu.Unlock()
		switch {
		case retired:
			for _, call := range s.queue.takeOlder(time.Now()) {
				if heir != nil && !call.levels { // it has the level already
					heir.Send(call)
				} else {
					s.fail(call, s.gone())
				}
			}
		case c == nil && s.wakes(st):
			s.retry()
			return
		case c == nil && !st.passing():
			tried = time.Now() // nothing is waited for
			fallthrough
		case c == nil:
			for _, call := range s.queue.takeOlder(tried) {
				s.fail(call, &UnavailableError{Toolbox: s.Toolbox, Server: s.Name, Status: st})
			}
			if st.passing() {
				return
			}
		case s.holds.Load() != nil || !s.hasRoom():
			return
		default:
			if call := s.queue.take(); call != nil && !call.ended.Load() && !s.handOver(c, call) {
				s.queue.putBack(call)
			}
		}
	}
}

// drop withdraws a connection that takes no more messages; its owner ends it.
func (s *Server) drop(c *conn) {
	s.withdraw(c)
	c.breakOff(nil)
}

// gone says that the server is not in the configuration any more.
func (s *Server) gone() error {
	return &UnavailableError{Toolbox: s.Toolbox, Server: s.Name, Status: Status{State: Stopped, Cause: ErrRetired}}
}

// Request makes a request of workbench's own and waits for the result, which
// the caller may keep. It waits for no turn. An error reply is an [*link.RPCError].
func (s *Server) Request(ctx context.Context, method string, params []byte) ([]byte, error) {
	for {
		c, err := s.await(ctx)
		if err != nil {
			return nil, err
		}
		result, err := c.call(ctx, method, params)
		if !errors.As(err, new(unsentError)) || errors.Is(err, link.ErrBusy) {
			return result, err
		}
		if !errors.Is(err, errRetired) {
			c.server.drop(c) // it was dead already: the next one is to have the request
		}
	}
}

func (s *Server) live() *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// await returns the live connection, waiting while the server starts.
func (s *Server) await(ctx context.Context) (*conn, error) {
	for {
		s.mu.Lock()
		c, st, changed := s.conn, s.status, s.changed
		retired, heir := s.retired, s.heir
		s.mu.Unlock()
		switch {
		case c != nil:
			return c, nil
		case retired && heir != nil:
			s = heir
			continue
		case retired:
			return nil, s.gone()
		case s.wakes(st):
			s.retry()
			continue
		case !st.passing():
			return nil, &UnavailableError{Toolbox: s.Toolbox, Server: s.Name, Status: st}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for server %q of toolbox %q, which is %s: %w", s.Name, s.Toolbox, st.State, context.Cause(ctx))
		}
	}
}

// wakes reports whether a server is to be started because it is wanted: it was
// idle, or it waited for a login and has got one.
func (s *Server) wakes(st Status) bool { return st.asleep() || s.admits(st) }

// admits reports whether somebody has logged in to a server that waited for it.
func (s *Server) admits(st Status) bool { return st.State == NeedsLogin && s.remote.LoggedIn() }

// Settle waits until the server has started or failed to, and its lists are read, or until ctx ends.
func (s *Server) Settle(ctx context.Context) {
	s.settle(ctx)
	s.settleLists(ctx)
}

// settleLists waits until the lists are there that a start has read in the
// background, or for as long as an open may.
func (s *Server) settleLists(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, othersWait)
	defer cancel()
	s.reading.await(ctx)
}

// settle waits until the server has started or failed to, or is retired, after
// which it does neither.
func (s *Server) settle(ctx context.Context) {
	for {
		s.mu.Lock()
		settled, changed := s.status.settled() || s.retired, s.changed
		s.mu.Unlock()
		if settled {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
